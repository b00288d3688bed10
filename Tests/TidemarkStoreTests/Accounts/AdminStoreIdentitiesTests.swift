// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore

@Suite(.timeLimit(.minutes(20))) struct AdminStoreIdentitiesTests {
    private static let container = SharingFixture.container

    private func identity(_ subject: String, issuer: String = "https://login.example.org") -> StoredIdentity {
        StoredIdentity(issuer: issuer, subject: subject, key: [1] + Array("\(issuer) \(subject)".utf8))
    }

    private func enter(_ identity: StoredIdentity, _ storage: PostgresStorage) async throws -> Identity? {
        try await storage.identity(
            credentialHash: identity.key, container: Self.container.identifier,
            environment: Self.container.environment, containersMax: .max, now: SharingFixture.now)
    }

    @Test func `R-923: an identity gets an account of its own, once, on however many servers`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (storage, admin) = (fixture.storage, AdminStore(fixture.storage))
            let new = identity("42")
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await storage.createAccount(for: new, named: ("p:42", "p:42-more")) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(made == 1)
            let account = try #require(try await admin.account(named: "p:42"))
            #expect(try await admin.account(named: "p:42-more") == nil)
            #expect(try await enter(new, storage)?.account == account)
            let listed = try await admin.identities(of: account)
            #expect(listed.map(\.subject) == ["42"] && listed.map(\.issuer) == [new.issuer])
            #expect(listed.allSatisfy { $0.revokedAt == nil })
            #expect(try await admin.credentials(of: account).map(\.label) == ["sign-in by \(new.issuer)"])
        }
    }

    @Test func `R-923: an account that an operator made is nobody's by its name`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (storage, admin) = (fixture.storage, AdminStore(fixture.storage))
            let alice = try #require(try await admin.createAccount("the-name"))
            #expect(try await storage.createAccount(for: identity("1"), named: ("the-name", "the-name-1")))
            let other = try #require(try await admin.account(named: "the-name-1"))
            #expect(try await enter(identity("1"), storage)?.account == other && other != alice)
            #expect(try await admin.identities(of: alice).isEmpty)
            #expect(try await !storage.createAccount(for: identity("2"), named: ("the-name", "the-name-1")))
            #expect(try await enter(identity("2"), storage) == nil)
        }
    }

    @Test func `R-921: an operator links an identity to one account, and takes it away`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (storage, admin) = (fixture.storage, AdminStore(fixture.storage))
            let one = try #require(try await admin.createAccount("one"))
            let two = try #require(try await admin.createAccount("two"))
            let linked = identity("it's \"5\" \u{1F600}")
            #expect(try await admin.link(linked, to: one) == .done)
            #expect(try await admin.link(linked, to: one) == .unchanged)
            #expect(try await admin.link(linked, to: two) == .belongsToAnother)
            #expect(try await admin.link(identity(linked.subject, issuer: "https://other"), to: two) == .done)
            #expect(try await enter(linked, storage)?.account == one)
            #expect(try await !storage.createAccount(for: linked, named: ("new", "new-1")), "it has one")

            let credential = try #require(try await admin.identities(of: one).first).credential
            #expect(try await !admin.unlink(issuer: linked.issuer, subject: linked.subject, from: two))
            #expect(try await admin.unlink(issuer: linked.issuer, subject: linked.subject, from: one))
            #expect(try await !admin.unlink(issuer: linked.issuer, subject: linked.subject, from: one))
            #expect(try await enter(linked, storage) == nil)
            #expect(try await storage.voidCredentials(among: [credential], now: SharingFixture.now) == [credential])
            #expect(try await admin.link(linked, to: two) == .done)
        }
    }

    @Test func `R-921: an identity is disabled, revoked and deleted as credentials are`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (storage, admin) = (fixture.storage, AdminStore(fixture.storage))
            let device = DeviceID(high: 1, low: 1)
            let account = try #require(try await admin.createAccount("one"))
            let own = identity("1")
            _ = try await admin.link(own, to: account)
            func problem() async throws -> SignInProblem {
                try await storage.signInProblem(credentialHash: own.key, device: device, now: SharingFixture.now)
            }
            _ = try await admin.setDisabled(true, account)
            #expect(try await enter(own, storage) == nil)
            #expect(try await problem() == .accountDisabled)
            _ = try await admin.setDisabled(false, account)
            #expect(try await enter(own, storage) != nil)
            let credential = try #require(try await admin.identities(of: account).first).credential
            #expect(try await admin.revokeCredential(credential))
            #expect(try await enter(own, storage) == nil)
            #expect(try await problem() == .credentialRevoked)
            #expect(try await admin.link(own, to: account) == .revoked)
            #expect(try await !storage.createAccount(for: own, named: ("new", "new-1")), "no way around a revocation")
            try await admin.deleteAccount(account)
            #expect(try await problem() == .credentialUnknown)
            #expect(try await storage.createAccount(for: own, named: ("new", "new-1")), "then it is somebody new")
        }
    }

    @Test func `R-924: a verified address becomes the account's, unless another has it`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (storage, admin) = (fixture.storage, AdminStore(fixture.storage))
            let one = try #require(try await admin.createAccount("one"))
            let two = try #require(try await admin.createAccount("two"))
            let mail = try #require(PersonAddress(email: "One@Example.org"))
            let phone = try #require(PersonAddress(phone: "+354 555 0100"))
            for _ in 0..<2 {
                #expect(try await storage.claim(mail, for: one))
                #expect(try await storage.claim(phone, for: one))
            }
            #expect(try await !storage.claim(mail, for: two))
            #expect(try await admin.addresses(of: one).map(\.text) == ["+3545550100", "one@example.org"])
            #expect(try await admin.addresses(of: two).isEmpty)
        }
    }
}
