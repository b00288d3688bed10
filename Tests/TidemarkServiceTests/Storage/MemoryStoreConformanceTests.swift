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
                    try await scenario.run(
                        first: MemoryStore(database), second: MemoryStore(database), scheduler: scheduler)
                }
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
            #expect(database.complaints.isEmpty)
        }
    }
}
