// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// What the article *Queries* promises.
@Suite struct AirportListTests {
    private let cloud = TestCloud()
    private let airports: AirportList

    init() { airports = AirportList(database: cloud.account("alice").device("phone").container.privateCloudDatabase) }

    private static let reykjavik = CLLocation(latitude: 64.13, longitude: -21.94)

    private func addThree() async throws {
        try await airports.add("BIRK", "Reykjavík", elevation: 14, at: Self.reykjavik, tags: ["city", "domestic"])
        let keflavik = CLLocation(latitude: 63.985, longitude: -22.606)
        try await airports.add("BIKF", "Keflavík", elevation: 52, at: keflavik, tags: [])
        let oslo = CLLocation(latitude: 60.202, longitude: 11.084)
        try await airports.add("ENGM", "Oslo Gardermoen", elevation: 208, at: oslo, tags: [])
    }

    private func codes(_ records: [CKRecord]) -> [String] { records.map(\.recordID.recordName) }

    @Test func `R-177, R-187: the three queries of the article`() async throws {
        try await addThree()
        #expect(codes(try await airports.higher(than: 20)) == ["ENGM", "BIKF"])
        #expect(codes(try await airports.near(Self.reykjavik, within: 50_000)) == ["BIRK", "BIKF"])
        #expect(codes(try await airports.with("gardermoen OSLO")) == ["ENGM"])
        let again = try await failure { try await addThree() }
        #expect(again.code == .serverRecordChanged)
    }

    private static func article() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: root.appendingPathComponent("Sources/TidemarkKit/TidemarkKit.docc/Queries.md"), encoding: .utf8)
    }

    @Test func `R-177: the predicates of the article find what it says`() async throws {
        try await addThree()
        let article = try Self.article()
        let rows: [(String, [Any], [String])] = [
            ("elevation > 100", [], ["ENGM"]), ("elevation BETWEEN {0, 100}", [], ["BIRK", "BIKF"]),
            ("name = 'reykjavík'", [], ["BIRK"]), ("name BEGINSWITH 'Rey'", [], ["BIRK"]),
            ("name BEGINSWITH 'rey'", [], []), ("name IN %@", [["Keflavík", "Oslo"]], ["BIKF"]),
            ("tags CONTAINS 'city'", [], ["BIRK"]), ("ANY tags IN %@", [["domestic"]], ["BIRK"]),
            ("self CONTAINS 'reykjavik city'", [], ["BIRK"]),
            ("distanceToLocation:fromLocation:(location, %@) < 50000", [Self.reykjavik], ["BIRK", "BIKF"]),
            ("name = nil", [], []), ("name != nil", [], ["BIRK", "BIKF", "ENGM"]),
            ("creationDate > %@", [Date(timeIntervalSince1970: 0)], ["BIRK", "BIKF", "ENGM"]),
        ]
        for (format, arguments, expected) in rows {
            let isTold = article.contains("`\(format)`")
            #expect(isTold || format == "name BEGINSWITH 'rey'", "\(format)")
            let found = try await airports.find(NSPredicate(format: format, argumentArray: arguments))
            // Without sort descriptors the order is the server's.
            #expect(codes(found).sorted() == expected.sorted(), "\(format)")
        }
    }

    @Test func `R-188, R-189: more records than a page has`() async throws {
        try await addThree()
        let database = cloud.account("alice").database
        let records = (0..<390).map { number in
            let id = CKRecord.ID(recordName: "X\(number)", zoneID: airports.zoneID)
            let record = CKRecord(recordType: "Airport", recordID: id)
            record["name"] = "Field \(number)"
            return record
        }
        _ = try await database.modifyRecords(saving: records, deleting: [])
        let all = try await airports.find(NSPredicate(value: true))
        #expect(all.count == 393 && Set(codes(all)).count == 393)
        let query = CKQuery(recordType: "Airport", predicate: NSPredicate(value: true))
        #expect(try await database.records(matching: query).matchResults.count == 200)
    }

    @Test func `R-174, R-184: what refused queries say is what the article says`() async throws {
        try await addThree()
        let article = try Self.article()
        let database = cloud.account("alice").database
        let record = CKRecord(
            recordType: "Airport", recordID: CKRecord.ID(recordName: "X", zoneID: airports.zoneID))
        record.encryptedValues["text"] = "secret"
        try await database.save(record)
        let rows = [
            ("Airprot", "TRUEPREDICATE", "Did not find record type: Airprot."),
            ("Airport", "elevatoin > 3", "Unknown field 'elevatoin'. Did you mean 'elevation'?"),
            ("Airport", "name == 'a' OR name == 'b'", "Cannot use the predicate "),
            ("Airport", "text == 'secret'", "Field 'text' is encrypted"),
            ("Airport", "elevation == 'high'", "The value is of another type than the field."),
            ("Airport", "NOT self CONTAINS 'x'", "NOT cannot be applied"),
        ]
        for (type, format, text) in rows {
            let query = CKQuery(recordType: type, predicate: NSPredicate(format: format))
            let error = try await failure { try await database.records(matching: query) }
            #expect(error.localizedDescription.hasPrefix(text), "\(error.localizedDescription)")
            #expect(
                article.contains("| `\(error.code == .unknownItem ? "unknownItem" : "invalidArguments")` | \"\(text)"))
        }
        let many = NSPredicate(format: "elevation IN %@", Array(0..<1_600))
        let error = try await failure { try await airports.find(many) }
        #expect(error.localizedDescription.contains("The limit is 1500 conditions and constants together"))
        #expect(article.contains("use at most 1,500 conditions and constants together"))
    }
}
