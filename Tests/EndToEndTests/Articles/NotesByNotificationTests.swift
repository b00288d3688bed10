// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

@Suite struct NotesByNotificationTests {
    @Test func `R-257: an app that fetches when it is notified has what the other devices have`() async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        let notes = NotesByNotification(container: phone.container)
        try await notes.start()
        let database = laptop.container.privateCloudDatabase
        func note(_ name: String) -> CKRecord {
            let zoneID = CKRecordZone.ID(zoneName: "Notes")
            return CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        }
        try await database.modifyRecords(saving: ["a", "b"].map(note), deleting: [])
        try await cloud.settle()
        #expect(await notes.names == ["a", "b"])
        phone.goOffline()
        try await database.deleteRecord(withID: note("a").recordID)
        try await database.save(note("c"))
        phone.goOnline()
        try await cloud.settle()
        #expect(await notes.names == ["b", "c"])
        let fetchCount = await notes.fetchCount
        phone.container.handleRemoteNotifications(with: nil)
        try await database.save(note("d"))
        try await cloud.settle()
        #expect(await notes.fetchCount == fetchCount)
    }
}
