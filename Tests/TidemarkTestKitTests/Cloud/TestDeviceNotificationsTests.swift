// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing
import TidemarkTestKit

/// What an app's handler of notifications is not called for.
@Suite struct TestDeviceNotificationsTests {
    private struct Counts: Sendable {
        var calls = 0
        var isHeld = true
    }

    /// An app on a new device, with a subscription of the database; and how often it has been called.
    private func listen(
        on device: TestDevice, _ called: @escaping @Sendable ([AnyHashable: Any]) async -> Void
    ) async throws {
        let database = device.container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneName: "Notes"))
        try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
        device.container.handleRemoteNotifications(with: called)
    }

    private func note(_ name: String) -> CKRecord {
        CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: "Notes")))
    }

    @Test func `R-248, R-257: not of what its own calls changed, nor once there is no handler`() async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        let counts = Mutex(Counts())
        try await listen(on: phone) { _ in counts.withLock { $0.calls += 1 } }
        try await cloud.settle()
        let before = counts.withLock { $0.calls }
        try await phone.container.privateCloudDatabase.save(note("own"))
        try await cloud.settle()
        #expect(counts.withLock { $0.calls } == before)
        try await laptop.container.privateCloudDatabase.save(note("theirs"))
        try await cloud.settle()
        #expect(counts.withLock { $0.calls } == before + 1)
        phone.container.handleRemoteNotifications(with: nil)
        try await laptop.container.privateCloudDatabase.save(note("more"))
        try await cloud.settle()
        #expect(counts.withLock { $0.calls } == before + 1)
    }

    @Test func `R-253: of what waits for a slow handler one a subscription is left`() async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        let counts = Mutex(Counts(isHeld: false))
        let gate = AsyncStream<Void>.makeStream()
        let begun = AsyncStream<Void>.makeStream()
        try await listen(on: phone) { _ in
            counts.withLock { $0.calls += 1 }
            begun.continuation.yield()
            if counts.withLock({ $0.isHeld }) { for await _ in gate.stream { break } }
        }
        try await cloud.settle()
        counts.withLock { $0 = Counts() }
        try await laptop.container.privateCloudDatabase.save(note("0"))
        for await _ in begun.stream where counts.withLock({ $0.calls }) == 1 { break }
        for number in 1...5 { try await laptop.container.privateCloudDatabase.save(note("\(number)")) }
        counts.withLock { $0.isHeld = false }
        gate.continuation.yield()
        try await cloud.settle()
        #expect(counts.withLock { $0.calls } == 2)
    }

    @Test func `R-354: somebody else's handler is called for who is signed in now`() async throws {
        let cloud = TestCloud()
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        let (phone, laptop, other) = (alice.device("phone"), alice.device("laptop"), bob.device("other"))
        let counts = Mutex(Counts())
        try await listen(on: other) { _ in }
        try await listen(on: phone) { _ in counts.withLock { $0.calls += 1 } }
        try await cloud.settle()
        phone.signIn(bob)
        try await cloud.settle()
        let before = counts.withLock { $0.calls }
        try await laptop.container.privateCloudDatabase.save(note("alice's"))
        try await cloud.settle()
        #expect(counts.withLock { $0.calls } == before)
        try await other.container.privateCloudDatabase.save(note("bob's"))
        try await cloud.settle()
        #expect(counts.withLock { $0.calls } == before + 1)
    }
}
