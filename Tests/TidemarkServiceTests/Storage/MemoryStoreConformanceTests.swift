// SPDX-License-Identifier: Apache-2.0

import StorageConformance
internal import Testing
import TidemarkDomain
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct MemoryStoreConformanceTests {
    /// In the order of an event loop, and in many others.
    @Test(arguments: StorageConformance.scenarios)
    func `the in-memory store conforms`(_ scenario: StorageConformance.Scenario) throws {
        for seed in 0..<30 as Range<UInt64> {
            let scheduler = SimulationScheduler(seed: seed, order: seed == 0 ? .arrival : .shuffled)
            let database = MemoryDatabase(scheduler: scheduler)
            typealias Credentials = StorageConformance.Credentials
            database.issueCredential(hash: Credentials.alice, account: "alice")
            database.issueCredential(hash: Credentials.bob, account: "bob")
            database.issueCredential(hash: Credentials.expired, account: "alice", expiresAt: Credentials.expiry)
            database.revokeCredential(database.issueCredential(hash: Credentials.revoked, account: "alice"))
            for address in [StorageConformance.Addresses.email, StorageConformance.Addresses.telephone] {
                #expect(database.addAddress(address, account: "alice"))
            }
            #expect(database.setPersonName(StorageConformance.PersonNames.alice, account: "alice"))
            #expect(database.setPersonName(StorageConformance.PersonNames.bob, account: "bob"))
            do {
                try scheduler.simulate {
                    let store = MemoryStore(database)
                    try await scenario.run(first: store, second: MemoryStore(database), scheduler: scheduler) {
                        try await store.records(named: [$0], in: $1, bytesMax: .max, sharing: .nothing)
                            .records[$0]?.cause
                    }
                }
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
            #expect(database.complaints.isEmpty)
        }
    }
}
