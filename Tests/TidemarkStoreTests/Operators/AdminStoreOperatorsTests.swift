// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore

@Suite struct AdminStoreOperatorsTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    private func run(_ body: (AdminStore) async throws -> Void) async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            try await body(AdminStore(storage))
            await storage.stop()
        }
    }

    @Test func `R-880: an operator has a name of its own and a role, which can be changed`() async throws {
        try await run { (admin: AdminStore) async throws in
            #expect(try await admin.createOperator("olga", .editor) != nil)
            #expect(try await admin.createOperator("olga", .owner) == nil)
            #expect(try await admin.createOperator("ada", .viewer) != nil)
            #expect(try await admin.operators().map(\.name) == ["ada", "olga"])
            #expect(try await admin.operators().map(\.role) == [.viewer, .editor])
            #expect(try await admin.setRole(.owner, ofOperator: "olga"))
            #expect(try await !admin.setRole(.owner, ofOperator: "nobody"))
            #expect(try await admin.operators().last?.role == .owner)
        }
    }

    @Test func `R-880: a credential signs its operator in until it is revoked, expires or the operator is deleted`()
        async throws
    {
        try await run { admin in
            let olga = try #require(try await admin.createOperator("olga", .editor))
            let later = Timestamp(milliseconds: Self.now.milliseconds + 1_000)
            let first = try await admin.issueOperatorCredential(hash: [1], label: "", expiresAt: nil, for: olga)
            let second = try await admin.issueOperatorCredential(
                hash: [2], label: "laptop", expiresAt: later, for: olga)
            let found = try await admin.signIn(credentialHash: [1], now: Self.now)
            #expect(found == SignedInOperator(id: olga, credential: first, name: "olga", role: .editor))
            #expect(try await admin.signIn(credentialHash: [2], now: Self.now)?.credential == second)
            #expect(try await admin.signIn(credentialHash: [2], now: later) == nil)
            #expect(try await admin.signIn(credentialHash: [3], now: Self.now) == nil)
            let valid = try await admin.validOperatorCredentials(among: [first, second], now: later)
            #expect(valid == [first: .editor])

            #expect(try await admin.revokeOperatorCredential(first))
            #expect(try await !admin.revokeOperatorCredential(first))
            #expect(try await admin.signIn(credentialHash: [1], now: Self.now) == nil)
            #expect(try await admin.operatorCredentials(of: olga).map(\.label) == ["", "laptop"])

            #expect(try await admin.deleteOperator("olga"))
            #expect(try await !admin.deleteOperator("olga"))
            #expect(try await admin.signIn(credentialHash: [2], now: Self.now) == nil)
            #expect(try await admin.validOperatorCredentials(among: [second], now: Self.now).isEmpty)
        }
    }

    @Test func `R-899: a credential of an account signs its user in, and no operator, until it is void`() async throws {
        try await run { admin in
            let later = Timestamp(milliseconds: Self.now.milliseconds + 1_000)
            let alice = try #require(try await admin.createAccount("alice"))
            let first = try await admin.issueCredential(hash: [1], label: "", expiresAt: nil, for: alice)
            let second = try await admin.issueCredential(hash: [2], label: "", expiresAt: later, for: alice)
            let olga = try #require(try await admin.createOperator("olga", .owner))
            _ = try await admin.issueOperatorCredential(hash: [3], label: "", expiresAt: nil, for: olga)
            let found = try await admin.signInAccount(credentialHash: [1], now: Self.now)
            #expect(found == SignedInAccount(account: alice, credential: first, credentialHash: [1]))
            #expect(try await admin.signInAccount(credentialHash: [2], now: Self.now)?.credential == second)
            #expect(try await admin.signInAccount(credentialHash: [2], now: later) == nil)
            // Neither opens what the other does.
            #expect(try await admin.signInAccount(credentialHash: [3], now: Self.now) == nil)
            #expect(try await admin.signIn(credentialHash: [1], now: Self.now) == nil)
            #expect(try await admin.revokeCredential(first))
            #expect(try await admin.signInAccount(credentialHash: [1], now: Self.now) == nil)
            #expect(try await admin.signInAccount(credentialHash: [2], now: Self.now) != nil)
            _ = try await admin.setDisabled(true, alice)
            #expect(try await admin.signInAccount(credentialHash: [2], now: Self.now) == nil)
        }
    }
}
