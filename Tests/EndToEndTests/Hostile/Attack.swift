// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkFields
import TidemarkKit
import TidemarkWire

/// Who attacks.
enum Attackers: String, CaseIterable, Sendable {
    case nobody = "nobody"
    case one = "one account"
    case ten = "ten accounts"

    /// A credential for each; an empty one for nobody.
    func credentials(_ place: OperatorPlace) async throws -> [String] {
        switch self {
        case .nobody: return [""]
        case .one: return [try await place.makeAccount("attacker")]
        case .ten:
            var credentials: [String] = []
            for number in 0..<10 { credentials.append(try await place.makeAccount("attacker-\(number)")) }
            return credentials
        }
    }
}

/// Requests that take far more of a server than they cost whoever sends them.
struct Attack: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Of each attacker.
    var connections = 8
    /// On each connection.
    var underWay = 8
    /// Whether messages have numbers of their own: what has none is no request.
    var isNumbered = true
    /// Whether the attackers read answers.
    var reads = true
    /// For whoever has a credential.
    var prepare: @Sendable (CKDatabase, _ isLong: Bool) async throws -> Void = { _, _ in }
    /// Changes what a connection says first.
    var enter: @Sendable (inout WireHello, _ connection: Int) -> Void = { _, _ in }
    /// - Parameter scope: the attackers' own database, or the public one for nobody.
    let fill: @Sendable (inout WireClientEnvelope, _ scope: WireDatabaseScope) -> Void

    static let all = [
        bigPredicates, longLists, scans, zones, changes, unread, saves, lessons, nothing, uploads, crowd, containers,
        schema,
    ]

    /// Two bytes each on the wire, a hundred in memory.
    static let bigPredicates = Attack(testDescription: "predicates with 400,000 parts", underWay: 1) {
        var predicate = WirePredicate()
        predicate.and.parts = Array(repeating: WirePredicate(), count: 400_000)
        $0.queryRecords = query("Letter", predicate, $1)
    }

    static let longLists = Attack(testDescription: "lists with 400,000 values", underWay: 1) {
        var predicate = WirePredicate()
        predicate.isIn.key = "number"
        predicate.isIn.values = Array(repeating: WireQueryValue(), count: 400_000)
        $0.queryRecords = query("Letter", predicate, $1)
    }

    /// Each record is compared hundreds of times, and none fits.
    static let scans = Attack(
        testDescription: "queries that go through everything", connections: 4, underWay: 6,
        prepare: { database, isLong in
            try await fill(database, type: "Heavy", count: isLong ? 20_000 : 2_000)
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

    /// Ten bytes that ask for a megabyte.
    static let zones = Attack(
        testDescription: "lists of thousands of zones", connections: 4, underWay: 250,
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

    static let changes = Attack(
        testDescription: "changes of thousands of zones", connections: 4, underWay: 250, prepare: zones.prepare
    ) {
        $0.fetchDatabaseChanges = WireFetchDatabaseChanges()
        $0.fetchDatabaseChanges.database = $1
    }

    /// Answers of four megabytes that nobody reads.
    static let unread = Attack(
        testDescription: "answers that nobody reads", connections: 40, reads: false,
        prepare: { database, _ in
            for number in 0..<5 {
                let record = CKRecord(recordType: "Heavy", recordID: CKRecord.ID(recordName: "heavy \(number)"))
                record["text"] = String(repeating: "x", count: 800_000)
                try await database.save(record)
            }
        },
        fill: {
            $0.fetchRecords = WireFetchRecords()
            $0.fetchRecords.database = $1
            $0.fetchRecords.zones = [WireZoneRecordNames()]
            $0.fetchRecords.zones[0].zone.name = CKRecordZone.ID.default.zoneName
            $0.fetchRecords.zones[0].names = (0..<5).map { "heavy \($0)" }
        })

    static let saves = Attack(
        testDescription: "saves in many zones", underWay: 200,
        prepare: { database, _ in
            let zones = (0..<400).map { CKRecordZone(zoneName: "busy \($0)") }
            _ = try await database.modifyRecordZones(saving: zones, deleting: [])
        },
        fill: { $0.modifyRecords = save("Small", ["text": "x"], in: "busy \($0.id % 400)", $0.id, $1) })

    /// Each has types and fields that the schema does not know.
    static let lessons = Attack(
        testDescription: "saves that teach a schema", underWay: 2,
        fill: { envelope, scope in
            let keys = (0..<300).map { "k\(envelope.id)x\($0)" }
            envelope.modifyRecords = save(
                "Taught\(envelope.id)", Dictionary(uniqueKeysWithValues: keys.map { ($0, "x") }),
                in: CKRecordZone.ID.default.zoneName, envelope.id, scope)
        })

    /// No requests: the server answers nothing.
    static let nothing = Attack(
        testDescription: "messages that begin nothing", underWay: 5_000, isNumbered: false,
        fill: { envelope, _ in envelope.pushesHeard = 1 })

    /// Uploads that begin and never end.
    static let uploads = Attack(
        testDescription: "uploads that never end", connections: 4, underWay: 32,
        fill: {
            $0.uploadAssetChunk = WireUploadAssetChunk()
            $0.uploadAssetChunk.database = $1
            $0.uploadAssetChunk.zone.name = CKRecordZone.ID.default.zoneName
            $0.uploadAssetChunk.sha256 = (0..<32).map { _ in UInt8.random(in: 0...255) }
            $0.uploadAssetChunk.byteCount = 1 << 28
            $0.uploadAssetChunk.content = Array(repeating: 7, count: 65_536)[...]
        })

    /// Connections that only stay.
    static let crowd = Attack(testDescription: "sessions that only stay", connections: 600, underWay: 0) { _, _ in }

    static let containers = Attack(
        testDescription: "containers that nobody needs", connections: 40, underWay: 1,
        enter: { hello, connection in
            hello.container = "iCloud.test.made.\(connection).\(UInt32.random(in: 0...9_999))"
        },
        fill: {
            $0.fetchZones = WireFetchZones()
            $0.fetchZones.database = $1
        })

    /// Asks for the indexes of fields that nobody has.
    static let schema = Attack(
        testDescription: "queries for hundreds of fields",
        prepare: { database, _ in
            let record = CKRecord(recordType: "Wide")
            for number in 0..<320 { record["field\(number)"] = number }
            try await database.save(record)
        },
        fill: {
            $0.queryRecords = query("Wide", comparison("field\($0.id % 320)", .equal, "x"), $1)
        })

    private static func query(
        _ type: String, _ predicate: WirePredicate, _ scope: WireDatabaseScope
    ) -> WireQueryRecords {
        var request = WireQueryRecords()
        request.database = scope
        request.query.recordType = type
        request.query.predicate = predicate
        return request
    }

    private static func save(
        _ type: String, _ fields: [String: String], in zone: String, _ id: UInt64, _ scope: WireDatabaseScope
    ) -> WireModifyRecords {
        var save = WireRecordSave()
        save.name = "\(type) \(id % 1_000)"
        save.type = type
        let map = try? FieldMap(fields.sorted { $0.key < $1.key }.map { Field($0.key, .string($0.value)) })
        save.fields = map.map { [UInt8]($0.bytes) } ?? []
        var request = WireModifyRecords()
        request.database = scope
        request.stamp.counter = id
        request.stamp.nonce = id
        request.stamp.lowestUnanswered = id
        request.policy = .allKeys
        request.zones = [WireZoneModifications()]
        request.zones[0].zone.name = zone
        request.zones[0].saves = [save]
        return request
    }

    private static func comparison(
        _ key: String, _ relation: WireComparisonOperator, _ value: String
    ) -> WirePredicate {
        var predicate = WirePredicate()
        predicate.compare.key = key
        predicate.compare.operator = relation
        predicate.compare.value.string = value
        return predicate
    }

    private static func fill(_ database: CKDatabase, type: String, count: Int) async throws {
        for batch in 0..<(count / 400) {
            let records = (0..<400).map { number in
                let record = CKRecord(
                    recordType: type, recordID: CKRecord.ID(recordName: "\(type) \(batch) \(number)"))
                record["text"] = "\(batch * 400 + number)" + String(repeating: "y", count: 100)
                return record
            }
            _ = try await database.modifyRecords(saving: records, deleting: [])
        }
    }
}

extension Attack {
    /// The clients of one attacker, at work.
    func begin(_ place: OperatorPlace, credential: String, number: UInt8) throws -> [HostileClient] {
        let scope: WireDatabaseScope = credential.isEmpty ? .public : .private
        let template = message(0, scope)
        // The same bytes each time, but for the id: the attack costs the server, not this process.
        let isSame = template == message(1, scope)
        return try (0..<connections).map { connection in
            var hello = WireClientEnvelope.hello(place.site, token: credential, device: number)
            hello.hello.device[0] = UInt8(truncatingIfNeeded: connection)
            hello.hello.device[1] = UInt8(truncatingIfNeeded: connection >> 8)
            enter(&hello.hello, connection)
            return try HostileClient(place.site, hello: hello, underWay: underWay, reads: reads) { [self] id in
                if !isNumbered { return template }
                if isSame {
                    var id = WireClientEnvelope.idBytes(id)
                    id += template
                    return id
                }
                return WireClientEnvelope.idBytes(id) + message(id, scope)
            }
        }
    }

    /// Without its id.
    private func message(_ id: UInt64, _ scope: WireDatabaseScope) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        fill(&envelope, scope)
        envelope.id = 0
        return envelope.encoded
    }
}

extension WireClientEnvelope {
    /// The field of its id alone. Fields of a message may come in any order, and in parts.
    fileprivate static func idBytes(_ id: UInt64) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        return envelope.encoded
    }
}
