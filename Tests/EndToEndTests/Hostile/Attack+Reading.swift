// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkCrypto
import TidemarkKit
import TidemarkWire

/// Attacks that only read.
extension Attack {
    static let reading = [
        scans, schema, zones, changes, endedZones, unread, largeFetches, wantedFields, downloads, subscriptions, names,
        keys,
    ]

    /// Each record is compared hundreds of times, and none fits.
    private static let scans = Attack(
        testDescription: "queries that go through everything", connections: 4, underWay: 6, byNobody: .onPublicRecords,
        prepare: { database, isLong in
            try await fill(database, type: "Heavy", count: isLong ? 20_000 : 2_000)
            // nobody's query works once an account's has marked the field.
            let query = CKQuery(recordType: "Heavy", predicate: NSPredicate(format: "text != 'none'"))
            _ = try await database.records(matching: query, resultsLimit: 1)
        },
        fill: {
            var all = WirePredicate()
            all.and.parts = (0..<480).map { comparison("text", .notEqual, "no\($0)") }
            for prefix in ["0", "1"] {
                var begins = WirePredicate()
                begins.beginsWith.key = "text"
                begins.beginsWith.prefix = prefix
                var none = WirePredicate()
                none.not = begins
                all.and.parts.append(none)
            }
            $0.queryRecords = query("Heavy", all, $1)
        })

    /// Asks for the indexes of fields that nobody has.
    private static let schema = Attack(
        testDescription: "queries for hundreds of fields", period: 320, byNobody: .onPublicRecords,
        prepare: { database, _ in
            let record = CKRecord(recordType: "Wide")
            for number in 0..<320 { record["field\(number)"] = number }
            try await database.save(record)
        },
        fill: { $0.queryRecords = query("Wide", comparison("field\($0.id % 320)", .equal, "x"), $1) })

    /// Ten bytes that ask for a page of many zones.
    private static let zones = Attack(
        testDescription: "lists of thousands of zones", connections: 4, underWay: 250,
        byNobody: .none("the public database has one zone"),
        prepare: { database, isLong in
            for batch in 0..<(isLong ? 25 : 5) {
                let zones = (0..<400).map { CKRecordZone(zoneName: "zone \(batch) \($0)") }
                _ = try await database.modifyRecordZones(saving: zones, deleting: [])
            }
        },
        fill: {
            $0.fetchZones = WireFetchZones()
            $0.fetchZones.database = $1
        })

    private static let changes = Attack(
        testDescription: "changes of thousands of zones", connections: 4, underWay: 250,
        byNobody: .none("the public database has no feed"), prepare: zones.prepare
    ) {
        $0.fetchDatabaseChanges = WireFetchDatabaseChanges()
        $0.fetchDatabaseChanges.database = $1
    }

    /// Each reads the rows of all zones that have ended. If accounts did not take turns, the neighbour would wait for two
    /// hundred of them, and longer than a campaign allows.
    private static let endedZones = Attack(
        testDescription: "changes of a database in which very many zones have ended", company: .stored, connections: 4,
        underWay: 50, byNobody: .none("the public database has no feed"),
        prepare: { database, _ in _ = try await database.allRecordZones() }, arrange: { try $0.endZones() }
    ) {
        $0.fetchDatabaseChanges = WireFetchDatabaseChanges()
        $0.fetchDatabaseChanges.database = $1
    }

    /// Answers of four megabytes that nobody reads.
    static let unread = Attack(
        testDescription: "answers that nobody reads", connections: 40, reads: false, byNobody: .onPublicRecords,
        prepare: { database, _ in try await fill(database, "heavy", count: 5, textBytes: 800_000) },
        fill: { $0.fetchRecords = fetch((0..<5).map { "heavy \($0)" }, $1) })

    private static let largeFetches = Attack(
        testDescription: "fetches of 200 large records", connections: 4, byNobody: .onPublicRecords,
        prepare: prepareLargeRecords, fill: { $0.fetchRecords = fetch(largeNames, $1) })

    /// None of the keys is a field. If a field were compared with each key, a page would hold an event loop for a
    /// second, and longer than a campaign allows.
    private static let wantedFields = Attack(
        testDescription: "fetches of 4,096 fields of large records", company: .stored, connections: 4,
        byNobody: .onPublicRecords,
        prepare: { database, _ in
            let record = CKRecord(recordType: "Keyed", recordID: CKRecord.ID(recordName: "keyed"))
            for number in 0..<300 { record["key\(number)"] = String(repeating: "x", count: 100) }
            try await database.save(record)
        },
        arrange: { try $0.multiply("keyed", count: 400, name: "'keyed ' || n") },
        fill: {
            $0.fetchRecords = fetch((1...400).map { "keyed \($0)" }, $1)
            $0.fetchRecords.desiredKeys.keys = (0..<4_096).map { "other\($0)" }
        })

    static let largeNames = (0..<200).map { "large \($0)" }

    static let prepareLargeRecords: @Sendable (CKDatabase, Bool) async throws -> Void = { database, isLong in
        try await fill(database, "large", count: isLong ? largeNames.count : 20, textBytes: 1_000_000)
    }

    private static let downloads = Attack(
        testDescription: "downloads of an asset", period: 8, byNobody: .onPublicRecords,
        prepare: { database, _ in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(picture).write(to: file)
            let record = CKRecord(recordType: "Picture", recordID: CKRecord.ID(recordName: "picture"))
            record["file"] = CKAsset(fileURL: file)
            try await database.save(record)
        },
        fill: {
            $0.fetchAssetChunk = WireFetchAssetChunk()
            $0.fetchAssetChunk.database = $1
            $0.fetchAssetChunk.zone = defaultZone
            $0.fetchAssetChunk.record = "picture"
            $0.fetchAssetChunk.sha256 = pictureHash
            $0.fetchAssetChunk.byteCount = UInt64(picture.count)
            $0.fetchAssetChunk.offset = $0.id % 8 * 524_288
            $0.fetchAssetChunk.length = 524_288
        })

    /// Eight of the largest chunks.
    private static let picture = [UInt8](repeating: 7, count: 8 * 524_288)
    private static let pictureHash = ContentHash.of(picture)

    /// Ten bytes that ask for a page.
    private static let subscriptions = Attack(
        testDescription: "lists of 250 long subscriptions", connections: 4, underWay: 250,
        byNobody: .none("nobody has subscriptions"),
        prepare: { database, _ in
            try await subscribe(database, count: 250, text: String(repeating: "x", count: 4_000))
        },
        fill: {
            $0.fetchSubscriptions = WireFetchSubscriptions()
            $0.fetchSubscriptions.database = $1
            $0.fetchSubscriptions.inPages = true
        })

    private static let names = Attack(
        testDescription: "names of a zone", connections: 4, underWay: 250, byNobody: .none("nobody has zones"),
        prepare: { database, isLong in
            let zone = CKRecordZone(zoneName: "named")
            _ = try await database.modifyRecordZones(saving: [zone], deleting: [])
            for start in 0..<(isLong ? 5 : 1) {
                let records = (0..<200).map {
                    CKRecord(
                        recordType: "Named",
                        recordID: CKRecord.ID(recordName: "named \(start) \($0)", zoneID: zone.zoneID))
                }
                _ = try await database.modifyRecords(saving: records, deleting: [])
            }
        },
        fill: {
            $0.verifyZone.database = $1
            $0.verifyZone.zone = zone("named")
            $0.verifyZone.lists = true
        })

    private static let keys = Attack(
        testDescription: "keys of a hundred zones", connections: 4, underWay: 250, byNobody: .none("nobody has keys"),
        prepare: { database, isLong in
            let zones = (0..<(isLong ? 100 : 10)).map { CKRecordZone(zoneName: "secret \($0)") }
            _ = try await database.modifyRecordZones(saving: zones, deleting: [])
            for zone in zones {
                let record = CKRecord(
                    recordType: "Secret", recordID: CKRecord.ID(recordName: "secret", zoneID: zone.zoneID))
                record.encryptedValues["text"] = "x"
                try await database.save(record)
            }
        },
        fill: {
            $0.fetchKeys = WireFetchKeys()
            $0.fetchKeys.database = $1
            $0.fetchKeys.zones = (0..<100).map { zone("secret \($0)") }
            $0.fetchKeys.inPages = true
        })
}
