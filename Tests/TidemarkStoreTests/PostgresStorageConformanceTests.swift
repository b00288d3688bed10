// SPDX-License-Identifier: Apache-2.0

import StorageConformance
internal import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkStore
import TidemarkTestKit

@Suite struct PostgresStorageConformanceTests {
    /// The same list that the in-memory store answers to.
    @Test(arguments: StorageConformance.scenarios)
    func `the store on PostgreSQL conforms`(_ scenario: StorageConformance.Scenario) async throws {
        try await StoreFixture.run { fixture in
            let first = try fixture.storage()
            let second = try fixture.storage()
            let admin = AdminStore(first)
            typealias Credentials = StorageConformance.Credentials
            let alice = try #require(try await admin.createAccount("alice"))
            let bob = try #require(try await admin.createAccount("bob"))
            _ = try await admin.issueCredential(hash: Credentials.alice, label: "", expiresAt: nil, for: alice)
            _ = try await admin.issueCredential(hash: Credentials.bob, label: "", expiresAt: nil, for: bob)
            _ = try await admin.issueCredential(
                hash: Credentials.expired, label: "", expiresAt: Credentials.expiry, for: alice)
            let revoked = try await admin.issueCredential(
                hash: Credentials.revoked, label: "", expiresAt: nil, for: alice)
            #expect(try await admin.revokeCredential(revoked))
            typealias Addresses = StorageConformance.Addresses
            #expect(try await admin.addAddress(Addresses.email, kind: .email, to: alice))
            #expect(try await admin.addAddress(Addresses.telephone, kind: .phone, to: alice))
            try await admin.setPersonName(StorageConformance.PersonNames.alice, of: alice)
            try await admin.setPersonName(StorageConformance.PersonNames.bob, of: bob)
            let loop = fixture.loop
            try await loop.runThrowing {
                try await scenario.run(first: first, second: second, scheduler: loop) {
                    try await admin.history(ofRecord: $0, in: $1).first?.cause
                }
            }.value
            await first.stop()
            await second.stop()
        }
    }
}
