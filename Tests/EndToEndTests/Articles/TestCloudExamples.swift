// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// The blocks about `TestCloud` in the README and in its documentation.
@Suite struct TestCloudExamples {
    @Test func `as the README shows it`() async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let phone = alice.device("phone")
        phone.goOffline()
        try await cloud.settle()
        #expect(!phone.isOnline)
    }

    @Test func `as its documentation shows it`() async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let phone = alice.device("phone")
        let notes = try await Notes(in: phone.container.privateCloudDatabase)
        try await notes.write("milk", to: "shopping")
        try await cloud.settle()
        let id = CKRecord.ID(recordName: "shopping", zoneID: CKRecordZone.ID(zoneName: "Notes"))
        #expect(try await alice.database.record(for: id)["text"] as? String == "milk")
    }

    @Test func `R-318, R-323: as its documentation shares a zone`() async throws {
        let cloud = TestCloud()
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        let list = try await alice.share(CKRecordZone.ID(zoneName: "Shopping"), with: bob)
        let milk = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "milk", zoneID: list))
        try await bob.sharedDatabase.save(milk)
        let id = CKRecord.ID(recordName: "milk", zoneID: CKRecordZone.ID(zoneName: "Shopping"))
        #expect(try await alice.database.record(for: id).recordType == "Item")
    }

    @Test func `R-302, R-318, R-323: as its documentation shares a record with what is below it`() async throws {
        let cloud = TestCloud()
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        let lists = CKRecordZone.ID(zoneName: "Lists")
        _ = try await alice.database.save(CKRecordZone(zoneID: lists))
        let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "food", zoneID: lists))
        try await alice.database.save(list)
        let shared = try await alice.share(root: list.recordID, with: bob)
        let milk = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "milk", zoneID: shared.zoneID))
        milk.setParent(shared)
        try await bob.sharedDatabase.save(milk)
        let id = CKRecord.ID(recordName: "milk", zoneID: lists)
        #expect(try await alice.database.record(for: id).parent?.recordID == list.recordID)
    }
}

extension Notes {
    /// Keeps its notes where nobody looks for them.
    fileprivate init(in database: CKDatabase) async throws {
        try self.init(file: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString))
        start(in: database)
    }
}
