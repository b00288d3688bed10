// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing

/// Queries as an app writes them, against a real server.
@Suite struct QueryTests {
    private let zoneID = CKRecordZone.ID(zoneName: "World")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private static let airports: [(String, String, Double, String, Double, Double)] = [
        ("BIRK", "Reykjavík", 48, "IS", 64.13, -21.94), ("BIKF", "Keflavík", 171, "IS", 63.985, -22.606),
        ("BIAR", "Akureyri", 6, "IS", 65.66, -18.07), ("EFHK", "Helsinki Vantaa", 179, "FI", 60.317, 24.963),
        ("ESSA", "Stockholm Arlanda", 137, "SE", 59.652, 17.919),
        ("ENGM", "Oslo Gardermoen", 681, "NO", 60.202, 11.084),
    ]

    private func makeDatabase() async throws -> CKDatabase {
        let database = try await DevServer.shared().makeContainer().privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        let records = Self.airports.map { name, title, elevation, country, latitude, longitude in
            let record = CKRecord(recordType: "Airport", recordID: id(name))
            record["name"] = title
            record["elevation"] = elevation
            record["country"] = CKRecord.Reference(recordID: id(country), action: .none)
            record["location"] = CLLocation(latitude: latitude, longitude: longitude)
            record["tags"] = title.split(separator: " ").map(String.init)
            if elevation > 100 { record["iata"] = String(name.suffix(3)) }
            return record
        }
        _ = try await database.modifyRecords(saving: records, deleting: [])
        return database
    }

    private func names(
        _ database: CKDatabase, _ predicate: NSPredicate, sortedBy sorts: [NSSortDescriptor]? = nil
    ) async throws -> [String] {
        let query = CKQuery(recordType: "Airport", predicate: predicate)
        query.sortDescriptors = sorts ?? [NSSortDescriptor(key: "recordID", ascending: true)]
        return try await database.records(matching: query, inZoneWith: zoneID).matchResults.map { $0.0.recordName }
    }

    @Test func `R-176 … R-187: what queries find, and in which order`() async throws {
        let database = try await makeDatabase()
        let here = CLLocation(latitude: 64.1466, longitude: -21.9426)
        let iceland = CKRecord.Reference(recordID: id("IS"), action: .deleteSelf)
        let nordic = ["FI", "SE", "NO"].map { CKRecord.Reference(recordID: id($0), action: .none) }
        let rows: [(NSPredicate, [String])] = [
            (NSPredicate(value: true), ["BIAR", "BIKF", "BIRK", "EFHK", "ENGM", "ESSA"]),
            (NSPredicate(value: false), []),
            (NSPredicate(format: "country == %@", iceland), ["BIAR", "BIKF", "BIRK"]),
            (NSPredicate(format: "country IN %@", nordic), ["EFHK", "ENGM", "ESSA"]),
            (NSPredicate(format: "elevation > %d", 171), ["EFHK", "ENGM"]),
            (NSPredicate(format: "elevation BETWEEN {48, 171} AND country == %@", iceland), ["BIKF", "BIRK"]),
            (NSPredicate(format: "name BEGINSWITH 'Re'"), ["BIRK"]),
            (NSPredicate(format: "name = 'REYKJAVÍK'"), ["BIRK"]),
            (NSPredicate(format: "iata != nil AND NOT country == %@", iceland), ["EFHK", "ENGM", "ESSA"]),
            (NSPredicate(format: "tags CONTAINS 'oslo'"), ["ENGM"]),
            (NSPredicate(format: "self CONTAINS 'reykjavik'"), ["BIRK"]),
            (NSPredicate(format: "recordID IN %@", [id("EFHK"), id("none")]), ["EFHK"]),
            (
                NSPredicate(
                    format: "creationDate <= now() AND creatorUserRecordID == %@", CKRecord.ID(recordName: "_x")), []
            ),
            (NSPredicate(format: "distanceToLocation:fromLocation:(location, %@) < 100000", here), ["BIKF", "BIRK"]),
        ]
        for (predicate, expected) in rows {
            #expect(try await names(database, predicate) == expected, "\(predicate)")
        }
        let byDistance = [CKLocationSortDescriptor(key: "location", relativeLocation: here)]
        let nearest = try await names(database, NSPredicate(value: true), sortedBy: byDistance)
        #expect(nearest == ["BIRK", "BIKF", "BIAR", "ENGM", "ESSA", "EFHK"])
        let highest = [NSSortDescriptor(key: "elevation", ascending: false)]
        #expect(try await names(database, NSPredicate(value: true), sortedBy: highest).prefix(2) == ["ENGM", "EFHK"])
    }

    @Test func `R-188, R-189, R-215: pages, cursors and desired keys`() async throws {
        let database = try await makeDatabase()
        let query = CKQuery(recordType: "Airport", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        var page = try await database.records(matching: query, desiredKeys: ["name"], resultsLimit: 4)
        var found = page.matchResults
        let cursor = try #require(page.queryCursor)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: cursor, requiringSecureCoding: true)
        let kept = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryOperation.Cursor.self, from: archive))
        page = try await database.records(continuingMatchFrom: kept, desiredKeys: ["name"], resultsLimit: 4)
        found += page.matchResults
        #expect(page.queryCursor == nil)
        #expect(found.map(\.0.recordName) == ["BIAR", "EFHK", "BIKF", "ENGM", "BIRK", "ESSA"])
        #expect(found.allSatisfy { $0.0.zoneID == zoneID })
        for (recordID, result) in found {
            let record = try result.get()
            #expect(record.recordID == recordID && record.allKeys() == ["name"] && record.recordType == "Airport")
        }
        let other = try await DevServer.shared().makeContainer().privateCloudDatabase
        let error = try await failure { try await other.records(continuingMatchFrom: cursor) }
        #expect(error.code == .invalidArguments)
    }

    @Test func `R-173, R-390: the operation tells of each record, then where to go on`() async throws {
        let database = try await makeDatabase()
        let log = Mutex<[String]>([])
        let query = CKQuery(recordType: "Airport", predicate: NSPredicate(format: "elevation < 100"))
        query.sortDescriptors = [NSSortDescriptor(key: "elevation", ascending: true)]
        var cursor: CKQueryOperation.Cursor?
        for _ in 0..<2 {
            let operation = cursor.map { CKQueryOperation(cursor: $0) } ?? CKQueryOperation(query: query)
            operation.resultsLimit = 1
            operation.zoneID = zoneID
            operation.recordMatchedBlock = { id, result in
                log.withLock { $0.append("\(id.recordName) \((try? result.get()) != nil)") }
            }
            cursor = try await withCheckedThrowingContinuation { continuation in
                operation.queryResultBlock = { continuation.resume(with: $0) }
                database.add(operation)
            }
        }
        #expect(cursor == nil && log.withLock { $0 } == ["BIAR true", "BIRK true"])
    }

    @Test func `R-174, R-184, R-029: why a query fails`() async throws {
        let database = try await makeDatabase()
        func query(_ type: String, _ format: String) -> CKQuery {
            CKQuery(recordType: type, predicate: NSPredicate(format: format))
        }
        var error = try await failure { try await database.records(matching: query("Nothing", "TRUEPREDICATE")) }
        #expect(
            error.code == .unknownItem && error.localizedDescription.hasPrefix("Did not find record type: Nothing."))
        error = try await failure {
            try await database.records(matching: query("Airport", "name == 'x' OR name == 'y'"))
        }
        #expect(
            error.code == .invalidArguments && error.localizedDescription.contains("at column 13: OR is not offered"))
        error = try await failure { try await database.records(matching: query("Airport", "NOT self CONTAINS 'x'")) }
        #expect(error.code == .invalidArguments && error.localizedDescription.hasPrefix("NOT cannot be applied"))
        let elsewhere = CKRecordZone.ID(zoneName: "Nowhere")
        error = try await failure {
            try await database.records(matching: query("Airport", "TRUEPREDICATE"), inZoneWith: elsewhere)
        }
        #expect(error.code == .zoneNotFound)
    }

    @Test func `R-176, I-7: a list of a thousand is fine, and a query that is too large says by how much`() async throws
    {
        let database = try await makeDatabase()
        let names = (0..<998).map { "another name \($0)" } + ["Akureyri", "Helsinki"]
        let rows: [(NSPredicate, [String])] = [
            (NSPredicate(format: "name IN %@ AND elevation < 100", names), ["BIAR"]),
            (NSPredicate(format: "ANY tags IN %@", names), ["BIAR", "EFHK"]),
            (NSPredicate(format: "recordID IN %@", (0..<999).map { id("none \($0)") } + [id("ESSA")]), ["ESSA"]),
        ]
        for (predicate, expected) in rows { #expect(try await self.names(database, predicate) == expected) }
        let error = try await failure {
            _ = try await self.names(database, NSPredicate(format: "elevation IN %@", Array(0..<1_600)))
        }
        #expect(error.code == .invalidArguments)
        let text = error.localizedDescription
        #expect(text.contains("The limit is 1500 conditions and constants together, and this has 1601."), "\(text)")
    }

    @Test func `R-178: NOT negates comparisons, and nothing else`() async throws {
        let database = try await makeDatabase()
        let place = CLLocation(latitude: 64, longitude: -22)
        let refused: [NSPredicate] = [
            NSPredicate(format: "NOT (elevation > 100 AND elevation < 200)"),
            NSPredicate(format: "NOT self CONTAINS 'Oslo'"),
            NSPredicate(format: "NOT elevation BETWEEN {100, 200}"),
            NSPredicate(format: "NOT distanceToLocation:fromLocation:(location, %@) < 1000", place),
            NSCompoundPredicate(
                notPredicateWithSubpredicate: NSCompoundPredicate(andPredicateWithSubpredicates: [
                    NSPredicate(format: "elevation > 100"), NSPredicate(format: "elevation < 200"),
                ])),
        ]
        for predicate in refused {
            let error = try await failure {
                try await database.records(matching: CKQuery(recordType: "Airport", predicate: predicate))
            }
            #expect(error.code == .invalidArguments, "\(predicate)")
            #expect(error.localizedDescription.hasPrefix("NOT cannot be applied to AND"), "\(error)")
        }
        #expect(try await names(database, NSPredicate(format: "NOT elevation > 10")).sorted() == ["BIAR"])
    }

    @Test func `R-191: a query finds nothing of what only others may see`() async throws {
        let site = try await DevServer.shared()
        let (alice, bob) = (site.makeContainer("alice"), site.makeContainer("bob"))
        for (container, name) in [(alice, "a"), (bob, "b")] {
            try await container.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            let record = CKRecord(recordType: "Diary", recordID: id(name))
            record["text"] = "of " + name
            try await container.privateCloudDatabase.save(record)
        }
        let all = NSPredicate(value: true)
        for (container, name) in [(alice, "a"), (bob, "b")] {
            for zone in [nil, zoneID] {
                let query = CKQuery(recordType: "Diary", predicate: all)
                let found = try await container.privateCloudDatabase.records(matching: query, inZoneWith: zone)
                #expect(found.matchResults.map(\.0.recordName) == [name])
            }
            let query = CKQuery(recordType: "Diary", predicate: all)
            #expect(try await container.publicCloudDatabase.records(matching: query).matchResults.isEmpty)
        }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: the forms of before there were cursors`() async throws {
        let database = try await makeDatabase()
        let query = CKQuery(recordType: "Airport", predicate: NSPredicate(format: "elevation > 150"))
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let names = ["EFHK", "BIKF", "ENGM"]
        for zone in [zoneID, nil] {
            let found: [CKRecord] = try await database.records(matching: query, inZoneWith: zone)
            #expect(found.map(\.recordID.recordName) == names)
            let performed: [CKRecord] = try await withCheckedThrowingContinuation { continuation in
                database.perform(query, inZoneWith: zone) { records, error in
                    if let records {
                        continuation.resume(returning: records)
                    } else {
                        continuation.resume(throwing: error ?? CKError(.internalError))
                    }
                }
            }
            #expect(performed.map(\.recordID.recordName) == names)
        }
        let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
        let error = try await failure {
            let _: [CKRecord] = try await database.records(matching: query, inZoneWith: nowhere)
        }
        #expect(error.code == .zoneNotFound)
        let code: CKError.Code? = await withCheckedContinuation { continuation in
            database.perform(query, inZoneWith: nowhere) { continuation.resume(returning: ($1 as? CKError)?.code) }
        }
        #expect(code == .zoneNotFound)
    }

    @Test func `R-401: queries with a completion handler`() async throws {
        let database = try await makeDatabase()
        let query = CKQuery(recordType: "Airport", predicate: NSPredicate(format: "elevation > 150"))
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let result = await withCheckedContinuation { continuation in
            database.fetch(withQuery: query, resultsLimit: 2) { continuation.resume(returning: $0) }
        }
        let page = try result.get()
        #expect(page.matchResults.map(\.0.recordName) == ["EFHK", "BIKF"])
        let cursor = try #require(page.queryCursor)
        let rest = await withCheckedContinuation { continuation in
            database.fetch(withCursor: cursor) { continuation.resume(returning: $0) }
        }
        #expect(try rest.get().matchResults.map(\.0.recordName) == ["ENGM"])
    }
}
