// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkScheduling
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// How an account ends, step by step. Alice shares the zone Notes with Bob.
@Suite struct AdminStoreAccountEndTests {
    private static let address = "bob@example.org"

    private func end(_ account: AccountID, _ fixture: SharingFixture) -> AccountEnd {
        AccountEnd(of: account, fixture.storage, scheduler: fixture.storage.loop, limits: Limits())
    }

    private func bobs(_ fixture: SharingFixture) -> EndedPerson {
        EndedPerson(users: [fixture.bob.user], addresses: [Self.address])
    }

    private func invitation(_ fixture: SharingFixture, id: UInt64 = 5) -> Participant {
        var invited = fixture.bobs(.pending, id: id)
        (invited.user, invited.address) = (nil, Self.address)
        return invited
    }

    private func ask(_ fixture: SharingFixture, isBlocked: Bool = false) throws {
        try fixture.execute(
            """
            INSERT INTO share_requester (database_id, zone_id, share_number, user_id, requested_at, is_blocked)
            SELECT database_id, zone_id, number, \(fixture.bob.user.rawValue), now(), \(isBlocked) FROM share
            """)
    }

    /// Rows of shares that say who bob is.
    private func traces(_ fixture: SharingFixture) async throws -> [Int64] {
        let user = fixture.bob.user.rawValue
        return try await fixture.numbers(
            """
            SELECT (SELECT count(*) FROM share_participant WHERE user_id = \(user) OR address = '\(Self.address)')
                 + (SELECT count(*) FROM share_requester WHERE user_id = \(user))
            """)
    }

    // MARK: Finding

    @Test func `R-992: zones are found where somebody takes part, is invited, has asked or is blocked, and no others`()
        async throws
    {
        for kind in 0..<5 {
            try await SharingFixture.run { (fixture: SharingFixture) async throws in
                let (admin, bob) = (AdminStore(fixture.storage), bobs(fixture))
                switch kind {
                case 0: try await fixture.share(with: fixture.bobs(.accepted))
                case 1: try await fixture.share(with: fixture.bobs(.pending))
                case 2: try await fixture.share(with: invitation(fixture))
                default:
                    try await fixture.share()
                    try ask(fixture, isBlocked: kind == 4)
                }
                let (found, next) = try await admin.zones(of: bob, after: nil)
                #expect(found == [fixture.zone] && next == nil, "\(kind)")
                let stranger = EndedPerson(users: [UserID(99)], addresses: ["nobody@example.org"])
                #expect(try await admin.zones(of: stranger, after: nil).found == [], "\(kind)")
                let counts = try await admin.parts(of: bob)
                let expected = [
                    PersonParts(partCount: 1, invitationCount: 0, requestCount: 0),
                    PersonParts(partCount: 0, invitationCount: 1, requestCount: 0),
                    PersonParts(partCount: 0, invitationCount: 1, requestCount: 0),
                    PersonParts(partCount: 0, invitationCount: 0, requestCount: 1),
                    PersonParts(partCount: 0, invitationCount: 0, requestCount: 0),
                ]
                #expect(counts == expected[kind], "\(kind)")
                // A share that has ended grants nothing, and there is nothing to end in it.
                try fixture.execute("UPDATE share SET ended_number = 9")
                #expect(try await admin.zones(of: bob, after: nil).found == [], "\(kind)")
                #expect(try await traces(fixture) == [1], "\(kind)")
                try await admin.forgetRows(of: bob)
                try await admin.deleteUser(fixture.bob.user)
                #expect(try await traces(fixture) == [0], "\(kind)")
            }
        }
    }

    @Test func `R-992: many zones are found in steps, each once`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let database = fixture.alice.privateDatabase.rawValue
            try fixture.execute(
                """
                INSERT INTO zone (database_id, name, created_at)
                SELECT \(database), 'many ' || n, now() FROM generate_series(1, 450) AS n
                """,
                """
                INSERT INTO share (database_id, zone_id, number, public_permission, record_name)
                SELECT database_id, id, 1, 1, 'share' FROM zone WHERE name LIKE 'many %'
                """,
                """
                INSERT INTO share_participant (database_id, zone_id, share_number, id, user_id, role, permission, status, added_at)
                SELECT database_id, zone_id, 1, gen_random_uuid(), \(fixture.bob.user.rawValue), 3, 3, 2, now() FROM share
                """,
                """
                INSERT INTO share_participant (database_id, zone_id, share_number, id, address, role, permission, status, added_at)
                SELECT database_id, zone_id, 1, gen_random_uuid(), '\(Self.address)', 3, 3, 1, now() FROM share
                """)
            let admin = AdminStore(fixture.storage)
            var names: [String] = []
            var place: PersonZonesPlace?
            var steps = 0
            repeat {
                let step = try await admin.zones(of: bobs(fixture), after: place)
                names += step.found.map(\.name)
                (place, steps) = (step.next, steps + 1)
            } while place != nil && steps < 9
            #expect(Set(names) == Set((1...450).map { "many \($0)" }) && names.count == 450 && steps == 3)
        }
    }

    @Test func `R-994: whoever has written an archive sees whether anything was changed meanwhile`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let admin = AdminStore(fixture.storage)
            func mark(_ databases: [DatabaseID]) async throws -> AccountChangeMark? {
                try await admin.changeMark(of: databases)
            }
            let own = [fixture.alice.privateDatabase]
            let before = try await mark(own)
            let others = try await mark([fixture.bob.privateDatabase])
            #expect(try await mark(own) == before)
            try await fixture.share()
            let shared = try await mark(own)
            #expect(shared != before, "a change of a record")
            try await fixture.create("More")
            let more = try await mark(own)
            #expect(more != shared, "a zone")
            // A zone that ended and was made again counts from the beginning.
            try fixture.execute("UPDATE zone SET removal = 1, removed_at = now() WHERE name = 'More'")
            try await fixture.create("More")
            #expect(try await mark(own) != more)
            #expect(try await mark([fixture.bob.privateDatabase]) == others)
        }
    }

    // MARK: The work

    @Test func `R-993: a deletion that has begun is nobody's until it was left alone, and then one server's`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (admin, account) = (AdminStore(fixture.storage), fixture.bob.account)
            #expect(try await admin.claimEnd() == nil)
            #expect(try await !admin.isEnding(account))
            let begun = AccountEndWork(account: account, deletesPublic: true, isLast: false)
            #expect(try await admin.beginEnd(of: account, deletesPublic: true) == begun)
            // What was chosen first holds.
            #expect(try await admin.beginEnd(of: account, deletesPublic: false) == begun)
            #expect(try await admin.isEnding(account))
            #expect(try await admin.claimEnd() == nil, "somebody works on it")
            // It cannot be enabled any more: a part of it may be gone.
            #expect(try await admin.setDisabled(false, account) == .unchanged)
            #expect(try await admin.accounts().map { $0.disabledAt != nil } == [false, true])

            try fixture.execute("UPDATE account_end SET worked_at = worked_at - interval '6 minutes'")
            #expect(try await admin.claimEnd() == begun)
            #expect(try await admin.claimEnd() == nil, "another server has it")
            try fixture.execute(
                """
                UPDATE account_end SET worked_at = worked_at - interval '6 minutes',
                                       begun_at = begun_at - interval '6 minutes'
                """)
            let last = AccountEndWork(account: account, deletesPublic: true, isLast: true)
            #expect(try await admin.claimEnd() == last)
            try await admin.finishEnd(of: account)
            #expect(try await !admin.isEnding(account))
            #expect(try await admin.claimEnd() == nil)
        }
    }

    @Test func `R-992, R-993: an account ends, its work stays, and the last time takes what came meanwhile`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (admin, storage) = (AdminStore(fixture.storage), fixture.storage)
            #expect(try await admin.addAddress(Self.address, kind: .email, to: fixture.bob.account))
            try await fixture.share(with: fixture.bobs(.accepted), invitation(fixture))
            try await fixture.point()
            try fixture.execute(
                """
                INSERT INTO client_token (database_id, zone_id, device_id, token, user_id)
                SELECT database_id, id, gen_random_uuid(), 'x', u FROM zone, unnest('{0,\(fixture.bob.user.rawValue)}'::bigint[]) AS u
                 WHERE name = 'Notes'
                """)
            try await end(fixture.bob.account, fixture).run(deletesPublic: false)
            #expect(try await traces(fixture) == [0])
            #expect(try await fixture.pointers() == 0)
            #expect(try await fixture.numbers("SELECT user_id FROM client_token") == [0], "the owner's stays")
            #expect(try await admin.account(named: "bob") == nil)
            #expect(try await admin.isEnding(fixture.bob.account), "a session may be open yet")

            // A session that has not heard of it joins again, asks, and saves.
            try await fixture.update { changes, _ in changes.inserted = [fixture.bobs(.accepted, id: 9, at: 9)] }
            try await fixture.point()
            _ = try await storage.saveSubscriptions(
                [Subscription(id: "s", scope: .private, kind: .database, recordType: nil, notificationInfo: [])],
                of: fixture.bob.user, atMost: 9)
            func completed() async throws -> Bool {
                try await AccountEnd.completeOne(in: storage, scheduler: storage.loop, limits: Limits())
            }
            #expect(try await !completed(), "it is too early")
            #expect(try await traces(fixture) == [1])
            try fixture.execute(
                """
                UPDATE account_end SET worked_at = worked_at - interval '6 minutes',
                                       begun_at = begun_at - interval '6 minutes'
                """)
            #expect(try await completed())
            #expect(try await traces(fixture) == [0])
            #expect(try await fixture.pointers() == 0)
            #expect(try await fixture.numbers("SELECT count(*) FROM subscription") == [0])
            #expect(try await !admin.isEnding(fixture.bob.account))
            #expect(try await !completed())
            // Alice has lost nothing.
            let sharing = try #require(try await storage.sharing(of: fixture.zone, .whole)?.sharing)
            #expect(sharing.livingShare != nil && sharing.participants.values.allSatisfy(\.isEmpty))
            #expect(try await fixture.numbers("SELECT count(*) FROM zone WHERE removal IS NULL") == [2])
        }
    }

    @Test func `R-995: an account of the name of a deleted one has another user, and sees nothing of the old one`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (admin, storage) = (AdminStore(fixture.storage), fixture.storage)
            #expect(try await admin.addAddress(Self.address, kind: .email, to: fixture.bob.account))
            try await fixture.share(with: invitation(fixture))
            let names = [fixture.bob.user, fixture.alice.user]
            let before = try await storage.userRecordNames(of: names)
            try await end(fixture.bob.account, fixture).run(deletesPublic: false)
            // Records of others go on to say by whom they were made, and nobody finds the person by it.
            #expect(try await storage.userRecordNames(of: names) == before)
            let name = try #require(before[fixture.bob.user])
            #expect(try await storage.users(named: [name], in: SharingFixture.container) == [fixture.bob.user: name])
            #expect(try await storage.persons(named: [name], in: SharingFixture.container) == [:])

            let bob = try await SharingFixture.identity("bob", in: storage)
            #expect(try await admin.addAddress(Self.address, kind: .email, to: bob.account))
            #expect(bob.user != fixture.bob.user && bob.account != fixture.bob.account)
            let again = try #require(try await storage.userRecordNames(of: [bob.user])[bob.user])
            #expect(again != name)
            #expect(try await storage.persons(named: [again], in: SharingFixture.container) == [bob.user: again])
            #expect(
                try await admin.zones(of: EndedPerson(users: [bob.user], addresses: [Self.address]), after: nil).found
                    == [])
        }
    }
}
