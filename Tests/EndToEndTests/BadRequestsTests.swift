// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// I-6: what apps do wrong, from names to cursors. Each has its `CKError` and a text that says what to do, and the
/// connection that it came over and everybody else go on.
///
/// Files that shrink while they are uploaded are in `AssetTests`, full disks in `AssetDirectoryTests` and
/// `FileAssetStoreTests`, every cut and every wrong bit of tokens and cursors in `ForeignTokenTests` and
/// `QueryCursorTests`.
@Suite struct BadRequestsTests {
    /// What is wrong, and the answer that it must get.
    private struct Mistake {
        let name: String
        let code: CKError.Code
        /// Part of the text.
        let advice: String
        let work: () async throws -> Any

        init(_ name: String, _ code: CKError.Code, _ advice: String, _ work: @escaping () async throws -> Any) {
            self.name = name
            self.code = code
            self.advice = advice
            self.work = work
        }
    }

    private static let zoneID = CKRecordZone.ID(zoneName: "Z")
    private static let long = String(repeating: "x", count: 256)

    private static func id(_ name: String, in zoneID: CKRecordZone.ID = zoneID) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    private static func note(
        _ name: String, type: String = "Note", _ fields: [String: any CKRecordValueProtocol] = [:]
    ) -> CKRecord {
        let record = CKRecord(recordType: type, recordID: id(name))
        for (key, value) in fields { record[key] = value }
        return record
    }

    /// Commits each of the mistakes; after each, the same connection and somebody else's work as before.
    private func expect(_ mistakes: [Mistake], on database: CKDatabase, beside bystander: CKDatabase) async throws {
        for (index, mistake) in mistakes.enumerated() {
            do {
                let value = try await mistake.work()
                Issue.record("\(mistake.name): \(value)")
            } catch let error as CKError {
                #expect(error.code == mistake.code, "\(mistake.name): \(error)")
                let text = error.localizedDescription
                #expect(text.contains(mistake.advice), "\(mistake.name): \(text)")
            }
            for (place, database) in [database, bystander].enumerated() {
                let saved = try await database.save(Self.note("ok-\(place)-\(index)", ["text": "fine"]))
                #expect(try await database.record(for: saved.recordID)["text"] as? String == "fine", "\(mistake.name)")
            }
        }
    }

    private func withDatabases(_ body: (CKDatabase, CKDatabase) async throws -> Void) async throws {
        let site = try await DevServer.shared()
        let databases = [site.makeContainer("alice"), site.makeContainer("bob")].map(\.privateCloudDatabase)
        for database in databases { try await database.save(CKRecordZone(zoneID: Self.zoneID)) }
        try await body(databases[0], databases[1])
    }

    @Test func `R-020, R-040, R-041, R-042: names, types and keys that cannot be`() async throws {
        try await withDatabases { database, bystander in
            var mistakes: [Mistake] = []
            for name in ["", "_z", "Zoë", Self.long] {
                let zoneID = CKRecordZone.ID(unchecked: name, ownerName: CKCurrentUserDefaultName)
                mistakes.append(
                    Mistake("zone '\(name)'", .invalidArguments, "Invalid zone name. Use") {
                        try await database.save(CKRecordZone(zoneID: zoneID))
                    })
                mistakes.append(
                    Mistake("record in zone '\(name)'", .invalidArguments, "Invalid zone name. Use") {
                        try await database.save(
                            CKRecord(recordType: "Note", recordID: Self.id("n", in: zoneID)))
                    })
            }
            for name in ["", "_n", "naïve", "line\nbreak", Self.long] {
                mistakes.append(
                    Mistake("record '\(name)'", .invalidArguments, "Invalid record name. Use") {
                        try await database.save(Self.note(name))
                    })
            }
            for type in ["", "1st", "My Note", "Größe", "_T", "cloudkit.other"] {
                mistakes.append(
                    Mistake("type '\(type)'", .invalidArguments, "Invalid record type. Use") {
                        try await database.save(Self.note("n", type: type))
                    })
            }
            for key in ["", "_k", "9k", "a-b", "schlüssel", Self.long] {
                mistakes.append(
                    Mistake("key '\(key)'", .invalidArguments, "is not a possible key. Use") {
                        try await database.save(Self.note("n", [key: 1]))
                    })
            }
            try await expect(mistakes, on: database, beside: bystander)
        }
    }

    @Test func `R-029, R-061, R-062, R-067, R-076, R-174, R-186: what is not there, and values that do not fit`()
        async throws
    {
        try await withDatabases { database, bystander in
            let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
            let lost = CKRecord(recordType: "Note", recordID: Self.id("n", in: nowhere))
            func query(_ type: String, _ format: String, _ arguments: Any...) -> CKQuery {
                CKQuery(recordType: type, predicate: NSPredicate(format: format, argumentArray: arguments))
            }
            let elsewhere = CKRecord.Reference(recordID: Self.id("n", in: nowhere), action: .none)
            let secret = Self.note("secret")
            secret.encryptedValues["text"] = "hidden"
            let mistakes = [
                Mistake("save in a zone that is not there", .zoneNotFound, "Save the zone first") {
                    try await database.save(lost)
                },
                Mistake("fetch from it", .zoneNotFound, "Save the zone first") {
                    try await database.record(for: lost.recordID)
                },
                Mistake("its changes", .zoneNotFound, "Save the zone first") {
                    try await database.recordZoneChanges(inZoneWith: nowhere, since: nil)
                },
                Mistake("a query in it", .zoneNotFound, "Save the zone first") {
                    try await database.records(matching: query("Note", "TRUEPREDICATE"), inZoneWith: nowhere)
                },
                Mistake("a zone that is not there", .zoneNotFound, "Save the zone first") {
                    try await database.recordZone(for: nowhere)
                },
                Mistake("a record that is not there", .unknownItem, "deleted or never saved") {
                    try await database.record(for: Self.id("none"))
                },
                Mistake("a type that is not there", .unknownItem, "Did not find record type: Nothing. Save") {
                    try await database.records(matching: query("Nothing", "TRUEPREDICATE"))
                },
                Mistake("a value of another type in a query", .invalidArguments, "Compare with a value of the field") {
                    try await database.records(matching: query("Note", "text == 5"))
                },
                Mistake("a predicate that does not parse", .invalidArguments, "at column 9") {
                    try await database.records(matching: query("Note", "text == "))
                },
                Mistake("an operator that is not offered", .invalidArguments, "at column 12: OR is not offered") {
                    try await database.records(matching: query("Note", "text == '' OR text == 'a'"))
                },
                Mistake("a value of another type", .invalidArguments, "it holds STRING, the save has INT64. Save") {
                    try await database.save(Self.note("fresh", ["text": 5]))
                },
                Mistake("a plain field's name encrypted", .invalidArguments, "or use another key") {
                    try await database.save(secret)
                },
                Mistake("a mixed list", .invalidArguments, "list ") {
                    try await database.save(Self.note("mixed", ["list": NSArray(array: [1, "two"])]))
                },
                Mistake("a list of lists", .invalidArguments, "list ") {
                    try await database.save(Self.note("nested", ["list": NSArray(array: [NSArray(array: [1])])]))
                },
                Mistake("a reference to another zone", .invalidArguments, "Refer to records of the same zone") {
                    try await database.save(Self.note("far", ["to": elsewhere]))
                },
            ]
            try await database.save(Self.note("typed", ["text": "is a string", "list": [1]]))
            try await expect(mistakes, on: database, beside: bystander)
        }
    }

    @Test func `R-082, R-116, R-155: too many, too much, and twice`() async throws {
        try await withDatabases { database, bystander in
            // Records whose fields are together as large as that.
            func records(of total: Int) throws -> [CKRecord] {
                let records = ["big1", "big2", "big3"].map { Self.note($0, ["data": Data(count: 690_000)]) }
                func size() throws -> Int { try records.reduce(0) { try $0 + $1.changes(all: true).fields.byteCount } }
                records[2]["data"] = Data(count: 690_000 + total - (try size()))
                #expect(try size() == total)
                return records
            }
            let most = 2 * 1_048_576
            let many = (0..<401).map { Self.note("m\($0)") }
            let manyIDs = many.map(\.recordID)
            let tooMuch = try records(of: most + 1)
            let mistakes = [
                Mistake("401 saves", .limitExceeded, "contains 401 items") {
                    try await database.modifyRecords(saving: many, deleting: [])
                },
                Mistake("401 saves and deletes", .limitExceeded, "(400)") {
                    try await database.modifyRecords(saving: Array(many[..<200]), deleting: Array(manyIDs[200...]))
                },
                Mistake("401 fetches", .limitExceeded, "contains 401 items") {
                    try await database.records(for: manyIDs)
                },
                Mistake("2 MB and a byte", .limitExceeded, "contains \(most + 1) bytes of fields") {
                    try await database.modifyRecords(saving: tooMuch, deleting: [])
                },
                Mistake("a message that is too long", .limitExceeded, "bytes long, more than the server takes") {
                    let records = (0..<10).map { Self.note("long\($0)", ["data": Data(count: 800_000)]) }
                    return try await database.modifyRecords(saving: records, deleting: [])
                },
                Mistake("a record of more than 1 MB", .limitExceeded, "more than 1048576 bytes. Keep large data") {
                    try await database.save(Self.note("huge", ["data": Data(count: 1_100_000)]))
                },
                Mistake("a record saved twice", .invalidArguments, "same item twice") {
                    try await database.modifyRecords(saving: [Self.note("a"), Self.note("a")], deleting: [])
                },
                Mistake("a record saved and deleted", .invalidArguments, "same item twice") {
                    try await database.modifyRecords(saving: [Self.note("a")], deleting: [Self.id("a")])
                },
                Mistake("a zone saved twice", .invalidArguments, "same item twice") {
                    let zone = CKRecordZone(zoneName: "Twice")
                    return try await database.modifyRecordZones(saving: [zone, zone], deleting: [])
                },
            ]
            try await expect(mistakes, on: database, beside: bystander)
            let saved = try await database.modifyRecords(saving: try records(of: most), deleting: [], atomically: false)
            for result in saved.saveResults.values { #expect(try result.get().recordChangeTag != nil) }
            #expect(try await failure { try await database.record(for: Self.id("m0")) }.code == .unknownItem)
        }
    }

    @Test func `R-189, R-200: tokens and cursors of others, cut, and with a wrong bit`() async throws {
        try await withDatabases { database, bystander in
            _ = try await database.modifyRecords(
                saving: (0..<3).map { Self.note("n\($0)", ["text": "a"]) }, deleting: [])
            try await bystander.save(Self.note("b", ["text": "a"]))
            try await database.save(CKRecordZone(zoneName: "Other"))
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == 'a'"))
            let token = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil).changeToken
            let feed = try await database.databaseChanges(since: nil).changeToken
            let found = try await database.records(matching: query, resultsLimit: 1)
            let cursor = try #require(found.queryCursor)
            var (cut, wrong) = (token.bytes, token.bytes)
            cut.removeLast()
            wrong[wrong.count / 2] ^= 1
            var (cutPlace, wrongPlace) = (cursor.place, cursor.place)
            cutPlace.removeLast()
            wrongPlace[wrongPlace.count / 2] ^= 1
            func changes(_ database: CKDatabase, _ zone: String, _ token: CKServerChangeToken) async throws -> Any {
                try await database.recordZoneChanges(inZoneWith: CKRecordZone.ID(zoneName: zone), since: token)
            }
            func results(_ database: CKDatabase, _ place: [UInt8]) async throws -> Any {
                let cursor = CKQueryOperation.Cursor(query: cursor.query, place: place)
                return try await database.records(continuingMatchFrom: cursor)
            }
            let keep = "Keep a separate token for each zone and database"
            let again = "Run the query again from the beginning"
            try await expect(
                [
                    Mistake("a token of another zone", .invalidArguments, keep) {
                        try await changes(database, "Other", token)
                    },
                    Mistake("a token of another user", .invalidArguments, keep) {
                        try await changes(bystander, "Z", token)
                    },
                    Mistake("a database's token", .invalidArguments, keep) { try await changes(database, "Z", feed) },
                    Mistake("a zone's token for the database", .invalidArguments, keep) {
                        try await database.databaseChanges(since: token)
                    },
                    Mistake("a token that was cut", .invalidArguments, keep) {
                        try await changes(database, "Z", CKServerChangeToken(bytes: cut))
                    },
                    Mistake("a token with a wrong bit", .invalidArguments, keep) {
                        try await changes(database, "Z", CKServerChangeToken(bytes: wrong))
                    },
                    Mistake("a token that is none", .invalidArguments, keep) {
                        try await changes(database, "Z", CKServerChangeToken(bytes: [1, 2, 3]))
                    },
                    Mistake("a cursor of another user", .invalidArguments, again) {
                        try await results(bystander, cursor.place)
                    },
                    Mistake("a cursor that was cut", .invalidArguments, again) {
                        try await results(database, cutPlace)
                    },
                    Mistake("a cursor with a wrong bit", .invalidArguments, again) {
                        try await results(database, wrongPlace)
                    },
                    Mistake("a cursor whose query is damaged", .invalidArguments, again) {
                        let cursor = CKQueryOperation.Cursor(query: [0xFF], place: cursor.place)
                        return try await database.records(continuingMatchFrom: cursor)
                    },
                ], on: database, beside: bystander)
            #expect(try await database.records(continuingMatchFrom: cursor).matchResults.count == 2)
        }
    }

    @Test func `R-013, R-186: in production, what the schema does not have`() async throws {
        try await OperatorPlace.with { place in
            let schema = try place.write("DEFINE SCHEMA RECORD TYPE Note ( text STRING );", to: "schema.ckdb")
            let container = ["--container", place.site.container, "--environment", "production"]
            let imported = try await place.admin(
                "schema", "import", schema, container[0], container[1], container[2], container[3])
            #expect(imported.status == 0, "\(imported.output)")
            let bobsToken = try await place.makeAccount("bob")
            let databases = [place.site.tokens["alice"], bobsToken].map { token in
                var configuration = place.site.configuration(token: token)
                configuration.environment = .production
                configuration.certificateAuthorityFile = nil
                let context = CloudContext(containerIdentifier: place.site.container, configuration: configuration)
                return CKContainer(context: context).privateCloudDatabase
            }
            for database in databases { try await database.save(CKRecordZone(zoneID: Self.zoneID)) }
            func query(_ format: String, sort: String? = nil) -> CKQuery {
                let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: format))
                query.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
                return query
            }
            let database = databases[0]
            try await expect(
                [
                    Mistake("a new type", .invalidArguments, "Cannot create new type Other in production schema") {
                        try await database.save(Self.note("n", type: "Other"))
                    },
                    Mistake("a new field", .invalidArguments, "promote that first") {
                        try await database.save(Self.note("n", ["other": 1]))
                    },
                    Mistake("a field that is not there", .invalidArguments, "Unknown field 'other'. Check its spelling")
                    {
                        try await database.records(matching: query("other == 1"))
                    },
                    Mistake("a field without the mark", .invalidArguments, "Field 'text' is not marked queryable") {
                        try await database.records(matching: query("text == 'a'"))
                    },
                    Mistake("all, without the mark", .invalidArguments, "is not marked queryable") {
                        try await database.records(matching: query("TRUEPREDICATE"))
                    },
                ], on: database, beside: databases[1])
        }
    }

    @Test func `R-155, R-156: an operator sets what one request may hold`() async throws {
        let flags = ["--create-containers", "--request-items", "250", "--request-kilobytes", "1536"]
        try await OperatorPlace.with(flags) { place in
            let database = place.database()
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            let many = (0..<251).map { Self.note("m\($0)") }
            var error = try await failure { try await database.modifyRecords(saving: many, deleting: []) }
            #expect(error.code == .limitExceeded && error.localizedDescription.contains("(250)"))
            let saved = try await database.modifyRecords(saving: Array(many[..<250]), deleting: [])
            #expect(saved.saveResults.count == 250)
            let large = ["a", "b"].map { Self.note($0, ["data": Data(count: 800_000)]) }
            error = try await failure { try await database.modifyRecords(saving: large, deleting: []) }
            #expect(error.code == .limitExceeded && error.localizedDescription.contains("(1572864)"))
            try await database.save(large[0])
        }
    }

    @Test func `R-015: a database that there is not`() async throws {
        let site = try await DevServer.shared()
        let client = try await RawClient(site)
        try client.send(.hello(site))
        _ = try await client.answer(to: 1)
        for (index, scope) in [WireDatabaseScope.unspecified, .unrecognized(9)].enumerated() {
            var envelope = WireClientEnvelope.zones(id: UInt64(index + 2))
            envelope.fetchZones.database = scope
            try client.send(envelope)
            let failure = try await client.answer(to: envelope.id).failure
            #expect(failure.code == .invalidArguments && failure.message == "The request names no database.")
        }
        try client.send(.zones(id: 9))
        #expect(try await client.answer(to: 9).failure.code == .unspecified)
        // what the shared database cannot do.
        let shared = site.makeContainer().sharedCloudDatabase
        let refusal = try await failure { try await shared.save(CKRecordZone(zoneName: "Z")) }
        #expect(refusal.code == .badDatabase && refusal.localizedDescription.contains("in the private database"))
    }
}
