// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
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

    /// `TIDEMARK_TEST_SEED` runs the histories of that seed and of those after it.
    @Test func `R-220, R-257: whatever goes wrong, it has in the end what is there`() async throws {
        let first = SeededRandom().seed
        for seed in (0..<UInt64(6)).map({ first &+ $0 }) {
            do {
                try await run(SimulationRandom(seed: seed))
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    /// A device that was cut often waits before it connects again, and time stands still while a test waits.
    private func passingTime<Value: Sendable>(
        of cloud: TestCloud, _ request: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let isDone = Mutex(false)
        async let value = {
            defer { isDone.withLock { $0 = true } }
            return try await request()
        }()
        for _ in 0..<10_000 where !isDone.withLock({ $0 }) {
            await Task.yield()
            try await cloud.clock.advanceToNext()
        }
        guard isDone.withLock({ $0 }) else { throw NeverHappened(description: "the answer to a request") }
        return try await value
    }

    /// These requests may be carried out twice. So they are made again after a lost answer.
    private static let cuts: [CKError.Code] = [.networkUnavailable, .networkFailure, .serverResponseLost]

    /// As an app does: a request that a cut or a restart has ended is made again.
    private func insisting<Value: Sendable>(
        on cloud: TestCloud, _ request: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        for _ in 0..<20 {
            do {
                return try await passingTime(of: cloud, request)
            } catch let error as CKError where Self.cuts.contains(error.code) {
                continue
            }
        }
        throw NeverHappened(description: "a request that is not cut")
    }

    private func run(_ dice: SimulationRandom) async throws {
        var random = dice
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let phone = alice.device("phone")
        let notes = NotesByNotification(container: phone.container)
        try await notes.start()
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        var names: Set<String> = []
        for step in 0..<40 {
            let id = CKRecord.ID(recordName: "n\(random.below(5))", zoneID: zoneID)
            let choice = random.below(10)
            switch choice {
            case 0: if phone.isOnline { phone.goOffline() } else { phone.goOnline() }
            case 1: phone.cutConnections()
            case 2: cloud.restartServer()
            case 3: cloud.expireTokens()
            case 4: cloud.forgetDeletions()
            case 5: phone.signOut()
            case 6: phone.signIn(alice)
            case 7:
                _ = try await insisting(on: cloud) { try await alice.database.deleteRecord(withID: id) }
                names.remove(id.recordName)
            default:
                let record = CKRecord(recordType: "Note", recordID: id)
                record["step"] = step
                let results = try await insisting(on: cloud) {
                    try await alice.database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
                }
                _ = try results.saveResults[id]?.get()
                names.insert(id.recordName)
            }
            if random.oneIn(2) { try await cloud.settle() }
        }
        phone.signIn(alice)
        phone.goOnline()
        try await cloud.run { await notes.names == names }
    }
}
