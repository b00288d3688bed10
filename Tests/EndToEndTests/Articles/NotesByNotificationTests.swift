// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit
import TidemarkTestSupport

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

    @Test func `R-220, R-257: whatever goes wrong, it has in the end what is there`() async throws {
        await ArticleHistories.run(count: 6) { try await run(SeededRandom(seed: $0)) }
    }

    /// A device, and the app on it. It keeps nothing there, so a process that ended begins like a new device.
    private struct Seat {
        let device: TestDevice
        let notes: NotesByNotification

        init(_ device: TestDevice, in cloud: TestCloud) async throws {
            let notes = NotesByNotification(container: device.container)
            (self.device, self.notes) = (device, notes)
            try await cloud.insisting { try await notes.start() }
        }
    }

    private func run(_ dice: SeededRandom) async throws {
        var random = dice
        let cloud = TestCloud()
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        // The subscription that tells the app of bob's notes.
        _ = try await Seat(bob.device("tablet"), in: cloud)
        var seats = [
            try await Seat(alice.device("phone"), in: cloud), try await Seat(alice.device("laptop"), in: cloud),
        ]
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        var names: Set<String> = []
        for step in 0..<40 {
            let id = CKRecord.ID(recordName: "n\(random.below(5))", zoneID: zoneID)
            let place = random.below(seats.count)
            let device = seats[place].device
            switch random.below(12) {
            case 0: if device.isOnline { device.goOffline() } else { device.goOnline() }
            case 1: device.cutConnections()
            case 2: cloud.restartServer()
            case 3: cloud.expireTokens()
            case 4: cloud.forgetDeletions()
            case 5: device.signOut()
            case 6: device.signIn(alice)
            case 7: device.signIn(bob)
            case 8: seats[place] = try await Seat(alice.device("device \(step)"), in: cloud)
            case 9:
                _ = try await cloud.insisting { try await alice.database.deleteRecord(withID: id) }
                names.remove(id.recordName)
            default:
                let record = CKRecord(recordType: "Note", recordID: id)
                record["step"] = step
                let results = try await cloud.insisting {
                    try await alice.database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
                }
                _ = try results.saveResults[id]?.get()
                names.insert(id.recordName)
            }
            if random.oneIn(2) { try await cloud.settle() }
        }
        for seat in seats {
            seat.device.signIn(alice)
            seat.device.goOnline()
        }
        for seat in seats { try await cloud.run { await seat.notes.names == names } }
    }
}
