// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// Parents and references between records, by the library against a real server.
@Suite struct ParentTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Family")

    private func makeDatabase() async throws -> CKDatabase {
        try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func member(_ name: String, of parent: String? = nil) -> CKRecord {
        let record = CKRecord(recordType: "Member", recordID: id(name))
        record.parent = parent.map { CKRecord.Reference(recordID: id($0), action: .none) }
        return record
    }

    private func save(_ records: CKRecord..., in database: CKDatabase) async throws {
        _ = try await database.modifyRecords(saving: records, deleting: [], atomically: false).saveResults
            .mapValues { try $0.get() }
    }

    /// What becomes of each deletion: an error, or nil.
    private func delete(_ names: String..., in database: CKDatabase) async throws -> [CKError.Code?] {
        let results = try await database.modifyRecords(
            saving: [], deleting: names.map(id), atomically: false
        ).deleteResults
        #expect(results.count == names.count)
        return names.map { name in
            guard case .failure(let error)? = results[id(name)] else { return nil }
            return (error as? CKError)?.code
        }
    }

    private func living(_ names: String..., in database: CKDatabase) async throws -> [String] {
        let results = try await database.records(for: names.map(id))
        return names.filter { if case .success? = results[id($0)] { true } else { false } }
    }

    @Test func `R-080, R-119: a child may stand before its parent in a batch, and is nobody's without one`()
        async throws
    {
        let database = try await makeDatabase()
        _ = try await database.modifyRecords(
            saving: [member("grandchild", of: "child"), member("child", of: "parent"), member("parent")], deleting: [])
        let child = try await database.record(for: id("child"))
        #expect(child.parent == CKRecord.Reference(recordID: id("parent"), action: .none))

        let error = try await failure { try await database.save(self.member("orphan", of: "nobody")) }
        #expect(error.code == .referenceViolation)
        #expect(error.localizedDescription.contains("Save it before its children or in the same request"))
        // Whoever fails is no parent either.
        let unknown = member("bad", of: "nobody")
        let results = try await database.modifyRecords(
            saving: [member("orphan", of: "bad"), unknown, member("good")], deleting: [], atomically: false
        ).saveResults
        for name in ["orphan", "bad"] {
            #expect(try await failure { try results[id(name)]?.get() }.code == .referenceViolation, "\(name)")
        }
        #expect(try await living("orphan", "bad", "good", in: database) == ["good"])
    }

    @Test func `R-081: nobody becomes their own ancestor`() async throws {
        let database = try await makeDatabase()
        try await save(member("c", of: "p"), member("p", of: "g"), member("g"), in: database)
        let eldest = try await database.record(for: id("g"))
        eldest.parent = CKRecord.Reference(recordID: id("c"), action: .none)
        let error = try await failure { try await database.save(eldest) }
        #expect(error.code == .invalidArguments)
        #expect(error.localizedDescription.contains("own ancestor. Choose another parent"))
        #expect(try await database.record(for: id("g")).parent == nil)
        let circle = try await database.modifyRecords(
            saving: [member("x", of: "y"), member("y", of: "x")], deleting: [], atomically: false
        ).saveResults
        for result in circle.values {
            #expect(try await failure { try result.get() }.code == .invalidArguments)
        }
        #expect(try await living("x", "y", in: database) == [])
    }

    @Test func `R-136, R-137: a parent goes with its children, in either order, and not before them`() async throws {
        let database = try await makeDatabase()
        try await save(member("p"), member("c", of: "p"), member("q"), member("d", of: "q"), in: database)
        let error = try await failure { try await database.deleteRecord(withID: self.id("p")) }
        #expect(error.code == .referenceViolation)
        #expect(error.localizedDescription.contains("Delete or move them first, or in the same request"))
        #expect(try await delete("p", "d", in: database) == [.referenceViolation, nil])
        #expect(try await living("p", "c", "q", "d", in: database) == ["p", "c", "q"])
        try await save(member("d", of: "q"), in: database)
        #expect(try await delete("p", "c", in: database) == [nil, nil])
        #expect(try await delete("d", "q", in: database) == [nil, nil])
        #expect(try await living("p", "c", "q", "d", in: database) == [])
        // Atomically: together or not at all.
        try await save(member("p"), member("c", of: "p"), member("alone"), in: database)
        let batch = try await failure {
            try await database.modifyRecords(saving: [], deleting: [self.id("p"), self.id("alone")])
        }
        let errors = try #require(batch.partialErrorsByItemID as? [CKRecord.ID: CKError])
        #expect(errors.mapValues(\.code) == [id("p"): .referenceViolation, id("alone"): .batchRequestFailed])
        #expect(try await living("p", "c", "alone", in: database) == ["p", "c", "alone"])
    }

    @Test func `R-133: records that refer to each other with deleteSelf go together`() async throws {
        let database = try await makeDatabase()
        func member(_ name: String, with other: String) -> CKRecord {
            let record = self.member(name)
            record["with"] = CKRecord.Reference(recordID: id(other), action: .deleteSelf)
            return record
        }
        try await save(
            member("a", with: "b"), member("b", with: "c"), member("c", with: "a"), member("self", with: "self"),
            self.member("alone"), in: database)
        let before = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(try await delete("b", in: database) == [nil])
        #expect(try await living("a", "b", "c", "self", "alone", in: database) == ["self", "alone"])
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: before.changeToken)
        #expect(Set(changes.deletions.map(\.recordID)) == Set([id("a"), id("b"), id("c")]))
        #expect(changes.deletions.count == 3 && changes.modificationResultsByID.isEmpty)
        #expect(try await delete("self", in: database) == [nil])
        #expect(try await living("self", "alone", in: database) == ["alone"])
    }
}
