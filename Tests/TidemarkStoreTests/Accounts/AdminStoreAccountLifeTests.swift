// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// What operators do with accounts. Alice shares the zone Notes with Bob.
@Suite struct AdminStoreAccountLifeTests {
    private func identity(_ name: String, _ fixture: SharingFixture) async throws -> Identity? {
        try await fixture.storage.identity(
            credentialHash: Array(name.utf8), container: SharingFixture.container.identifier,
            environment: SharingFixture.container.environment, containersMax: 0, now: SharingFixture.now)
    }

    @Test func `R-861: a disabled account opens no session and its credentials are void, until it is enabled`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let admin = AdminStore(fixture.storage)
            let (alice, credentials) = (fixture.alice, [fixture.alice.credential, fixture.bob.credential])
            func void() async throws -> [CredentialID] {
                try await fixture.storage.voidCredentials(among: credentials, now: SharingFixture.now)
            }
            #expect(try await void() == [])
            #expect(try await admin.setDisabled(true, alice.account) == .done)
            #expect(try await admin.setDisabled(true, alice.account) == .unchanged)
            #expect(try await identity("alice", fixture) == nil)
            #expect(try await identity("bob", fixture) == fixture.bob)
            #expect(try await void() == [alice.credential])
            #expect(try await admin.accounts().map { $0.disabledAt != nil } == [true, false])
            let containers = try await fixture.storage.containers(
                credentialHash: Array("alice".utf8), environment: .development, countMax: 9, now: SharingFixture.now)
            #expect(containers == [])
            // Nothing is deleted.
            #expect(try await fixture.numbers("SELECT count(*) FROM zone WHERE removal IS NULL") == [3])
            #expect(try await admin.setDisabled(false, alice.account) == .done)
            #expect(try await admin.setDisabled(false, alice.account) == .unchanged)
            #expect(try await identity("alice", fixture) == alice)
        }
    }

    @Test func `R-861: servers are told which credentials' sessions to close`() async throws {
        try await StoreFixture.run { store in
            let storage = try store.storage()
            let alice = try await SharingFixture.identity("alice", in: storage)
            let (heard, hear) = AsyncStream.makeStream(of: [ServerNotice].self)
            let (listening, listens) = AsyncStream.makeStream(of: Void.self)
            let listener = try NoticeListener(
                url: store.database.url, loop: store.loop, onNotices: { hear.yield($0) },
                onListening: { listens.yield() })
            for await _ in listening { break }
            #expect(try await AdminStore(storage).setDisabled(true, alice.account) == .done)
            for await notices in heard {
                #expect(notices == [.credentialRevoked(alice.credential)])
                break
            }
            listener.stop()
            await storage.stop()
        }
    }

    @Test func `R-866: a revoked device is not let in, stays in the list, and others are`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (admin, storage, account) = (AdminStore(fixture.storage), fixture.storage, fixture.alice.account)
            func enter(_ number: UInt64, atMost countMax: Int = 9) async throws -> Bool {
                try await storage.noteDevice(
                    DeviceID(high: 0, low: number), of: account, name: "", from: "", atMost: countMax,
                    now: SharingFixture.now)
            }
            let lost = AccountDevice(account: account, device: DeviceID(high: 0, low: 1))
            let early = try await admin.revokeDevice(lost)
            #expect(early == .missing)
            #expect(try await enter(1))
            #expect(try await admin.revokeDevice(lost) == .done)
            #expect(try await admin.revokeDevice(lost) == .unchanged)
            #expect(try await !enter(1))
            #expect(try await enter(2))
            #expect(try await storage.revokedDevices(of: [account, fixture.bob.account]) == [lost])
            // It would be let in again if it left the list.
            #expect(try await enter(3, atMost: 1))
            #expect(try await storage.forgetDevices(notSeenSince: Timestamp(milliseconds: .max / 1_000)) == 1)
            #expect(try await admin.devices(of: account).map(\.id) == [lost.device])
            #expect(try await admin.forgetDevice(lost) == .done)
            #expect(try await admin.forgetDevice(lost) == .missing)
            #expect(try await enter(1))
        }
    }

    @Test func `R-862: an account is shown in numbers`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fixture.share(with: fixture.bobs(.accepted))
            try await fixture.point()
            let admin = AdminStore(fixture.storage)
            let alice = try #require(try await admin.contents(of: fixture.alice.account))
            #expect(alice.zoneCount == 2 && alice.shareCount == 1 && alice.credentialCount == 1)
            #expect(alice.sharedZoneCount == 0 && alice.disabledAt == nil && alice.quotaBytes == nil)
            #expect(try await admin.contents(of: fixture.bob.account)?.sharedZoneCount == 1)
            #expect(try await admin.contents(of: AccountID(99)) == nil)
            let users = try await admin.users(of: fixture.alice.account)
            #expect(users.map(\.user) == [fixture.alice.user])
            #expect(users.map(\.container) == [SharingFixture.container])
            #expect(users.map(\.sharedDatabase) == [fixture.alice.sharedDatabase])
        }
    }

    @Test func `R-863: a user from before shared databases existed is a user of the account like all others`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let user = fixture.alice.user.rawValue
            try fixture.execute("DELETE FROM database WHERE user_id = \(user) AND scope = 3")
            let users = try await AdminStore(fixture.storage).users(of: fixture.alice.account)
            #expect(users.map(\.privateDatabase) == [fixture.alice.privateDatabase])
            #expect(users.map(\.sharedDatabase) == [nil])
        }
    }

    @Test func `R-863: what a session makes after its account was deleted is ended, and others keep their zones`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let admin = AdminStore(fixture.storage)
            func living() async throws -> [Int64] {
                try await fixture.numbers("SELECT count(*) FROM zone WHERE removal IS NULL")
            }
            let long = Timestamp(milliseconds: 0)
            try await admin.endSurvivors(deletedAfter: long, countMax: 9)
            #expect(try await living() == [3], "nobody is deleted")
            try await admin.deletePrivateDatabase(fixture.alice.privateDatabase)
            try await admin.deleteAccount(fixture.alice.account)
            #expect(try await living() == [1])
            try await fixture.create("Late")
            #expect(try await living() == [2])
            try await admin.endSurvivors(deletedAfter: Timestamp(milliseconds: .max / 1_000), countMax: 9)
            #expect(try await living() == [2], "it was not deleted that late")
            try await admin.endSurvivors(deletedAfter: long, countMax: 9)
            #expect(try await living() == [1])
        }
    }

    @Test func `R-863: a deleted account leaves nothing but a row without a name, and others keep what is theirs`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fixture.share(with: fixture.bobs(.accepted))
            try await fixture.point()
            _ = try await fixture.advance()
            let (admin, storage, alice) = (AdminStore(fixture.storage), fixture.storage, fixture.alice)
            _ = try await storage.saveSubscriptions(
                [Subscription(id: "s", scope: .private, kind: .database, recordType: nil, notificationInfo: [])],
                of: alice.user, atMost: 9)
            _ = try await storage.noteDevice(
                SharingFixture.device, of: alice.account, name: "phone", from: "10.0.0.1", atMost: 9,
                now: SharingFixture.now)
            // She asks for access to somebody's share, and is blocked by another.
            try fixture.execute(
                """
                INSERT INTO share_requester (database_id, zone_id, share_number, user_id, requested_at, is_blocked)
                VALUES (\(fixture.bob.privateDatabase.rawValue), 98, 1, \(alice.user.rawValue), now(), false),
                       (\(fixture.bob.privateDatabase.rawValue), 99, 1, \(alice.user.rawValue), now(), true)
                """)
            // A second time does no harm: the first may have been cut off.
            for _ in 0..<2 {
                try await admin.deletePrivateDatabase(alice.privateDatabase)
                try await admin.deleteSharedDatabase(alice.sharedDatabase)
                try await admin.deleteUser(alice.user)
            }
            try await admin.deleteAccount(alice.account)

            let (database, user, account) = (
                alice.privateDatabase.rawValue, alice.user.rawValue, alice.account.rawValue
            )
            let tables = ["record", "share", "share_participant", "share_requester", "share_link", "zone_key"]
            for table in tables + ["feed", "feed_entry"] {
                let left = try await fixture.numbers("SELECT count(*) FROM \(table) WHERE database_id = \(database)")
                #expect(left == [0], "\(table)")
            }
            #expect(
                try await fixture.numbers(
                    "SELECT count(*) FROM zone WHERE database_id = \(database) AND removal IS NULL") == [0])
            #expect(try await fixture.numbers("SELECT count(*) FROM zone WHERE name = 'Notes'") == [0])
            for table in ["subscription", "share_requester"] {
                let left = try await fixture.numbers("SELECT count(*) FROM \(table) WHERE user_id = \(user)")
                #expect(left == [0], "\(table)")
            }
            for table in ["credential", "device", "account_address", "audit"] {
                let left = try await fixture.numbers("SELECT count(*) FROM \(table) WHERE account_id = \(account)")
                #expect(left == [0], "\(table)")
            }
            #expect(try await identity("alice", fixture) == nil)
            #expect(try await admin.accounts().map(\.name) == ["bob"])
            #expect(try await admin.account(named: "alice") == nil)
            #expect(try await identity("bob", fixture) == fixture.bob)
            // The name is free again.
            #expect(try await admin.createAccount("alice") != nil)
        }
    }

    @Test func `R-863: participants of a deleted account's zones hear that these have ended`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fixture.share(with: fixture.bobs(.accepted))
            try await fixture.point()
            let before = try await fixture.advance()
            #expect(try await fixture.pointers() == 1)
            try await AdminStore(fixture.storage).deletePrivateDatabase(fixture.alice.privateDatabase)
            let after = try await fixture.advance()
            #expect("\(after)" != "\(before)", "the feed of the shared database has moved")
            let access = try await fixture.storage.shareAccess(of: fixture.bob.user, to: fixture.zone)
            #expect(access == nil)
        }
    }
}
