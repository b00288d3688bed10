// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

extension StorageConformance {
    /// An operator's choices for a container.
    static let choices: [Scenario] = [
        Scenario("R-202: the default zone is in the database feed only where the container has feeds everywhere") {
            store in
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let database = try await store.alice().privateDatabase
            let zone = try require(try await store.createZones("a", in: database).first, "a zone")
            func feed(after: ChangeNumber?) async throws -> DatabaseFeedRead {
                try await store.second.advanceDatabaseFeed(of: database, after: after, entriesMax: 10).value
            }
            try expect(!(try await store.second.feedsEverywhere(in: container)), "off at first")
            let before = try await feed(after: nil)
            try expectEqual(before.entries.map(\.zone), [zone.id], "custom zones only")
            try expect(!before.feedsEverywhere, "and the feed says so")

            try expect(try await store.first.setFeedsEverywhere(true, in: container), "there is such a container")
            try expect(try await store.second.feedsEverywhere(in: container), "on, for the other server too")
            let lookedAt = try await store.second.databaseFeed(of: database, after: before.head, entriesMax: 10).value
            try expect(!lookedAt.unnumbered.isEmpty && lookedAt.feedsEverywhere, "the default zone is news")
            let after = try await feed(after: before.head)
            try expectEqual(after.entries.map(\.key.name), [ZoneName.default], "past a token from before")
            try expect(after.feedsEverywhere && after.unnumbered.isEmpty, "and the feed says so")
            let defaultKey = ZoneKey(database: database, name: ZoneName.default)
            try await store.write([RecordDraft("x")], in: defaultKey)
            let moved = try await feed(after: after.head)
            try expectEqual(moved.entries.map(\.key), [defaultKey], "and whenever it changes")
            let page = try await store.second.zonePage(defaultKey.page())
            try expectEqual(page.records.map(\.name), ["x"], "its own feed tells of what changed")

            try expect(try await store.second.setFeedsEverywhere(false, in: container), "off again")
            try await store.write([RecordDraft("y")], in: defaultKey)
            let off = try await store.first.databaseFeed(of: database, after: moved.head, entriesMax: 10).value
            try expect(off.unnumbered.isEmpty && !off.feedsEverywhere && off.entries.isEmpty, "no news of it")
            try expect(try await store.first.setFeedsEverywhere(true, in: container), "and on")
            try expectEqual(
                try await feed(after: moved.head).entries.map(\.key), [defaultKey],
                "what changed meanwhile, nobody misses (I-2)")
        },
        Scenario("R-202: each environment of a container has its own choice, and one that is not there has none") {
            store in
            _ = try await store.alice()
            let production = ContainerKey(identifier: "iCloud.test", environment: .production)
            let strange = ContainerKey(identifier: "iCloud.strange", environment: .development)
            let development = ContainerKey(identifier: "iCloud.test", environment: .development)
            try expect(try await store.first.setFeedsEverywhere(true, in: development), "it is there")
            for key in [production, strange] {
                try expect(!(try await store.second.feedsEverywhere(in: key)), "not chosen")
                try expect(!(try await store.second.setFeedsEverywhere(true, in: key)), "not there")
                try expect(!(try await store.second.feedsEverywhere(in: key)), "and still not")
            }
            try expect(try await store.alice().feedsEverywhere, "who connects is told")
        },
        Scenario("R-934, R-935: who connects is told what was chosen for their requests, and servers can ask") {
            store in
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let (alice, bob) = (try await store.alice(), try await store.bob())
            try expectEqual(alice.limits, AccountLimits(), "nothing at first")
            let fast = try require(RequestRate(perSecond: 50, burst: 70), "a rate")
            let slow = try require(RequestRate(perSecond: 1_000_000, burst: 1), "the widest one")
            try expect(try await store.first.setRequestRate(.atMost(fast), of: alice.account), "there is alice")
            try expect(try await store.second.setRequestRate(.atMost(slow), in: container), "there is the container")
            try expect(
                try await store.first.setQuota(StorageQuota(privateBytes: 500), of: container), "and it has a quota")
            try expect(try await store.first.setAccountQuota(400, of: alice.account), "and alice another one")
            let hers = AccountLimits(requests: .atMost(fast), requestsInContainer: .atMost(slow))
            let his = AccountLimits(requestsInContainer: .atMost(slow))
            try expectEqual(try await store.alice().limits, hers, "hers")
            try expectEqual(try await store.bob().limits, his, "his")
            let quotas = [try await store.alice(), try await store.bob()].map(\.quota?.bytesMax)
            try expectEqual(quotas, [400, 500], "the quota that leaves less room")
            try expectEqual(
                try await store.second.limits(of: [alice.user, bob.user, UserID(999_999)]),
                [alice.user: hers, bob.user: his], "the same for who asks")

            try expect(try await store.second.setRequestRate(.unlimited, of: alice.account), "any number")
            try expectEqual(try await store.alice().limits.requests, .unlimited, "is another choice than none")
            try expect(try await store.second.setRequestRate(.standard, of: alice.account), "and back")
            try expectEqual(try await store.alice().limits.requests, .standard, "nothing is chosen")
            try expect(!(try await store.first.setRequestRate(.unlimited, of: AccountID(999_999))), "nobody")
            try expect(try await store.first.setRequestRate(.atMost(fast), of: nil), "each without a choice")
            let each = AccountLimits(requestsInContainer: .atMost(slow), requestsOfEach: .atMost(fast))
            try expectEqual(try await store.bob().limits, each, "bob is told the default of the store")
            try expectEqual(
                try await store.second.limits(of: [alice.user, bob.user]), [alice.user: each, bob.user: each],
                "who asks")
            try expect(try await store.second.setRequestRate(.unlimited, of: nil), "any number is a choice, too")
            try expectEqual(try await store.alice().limits.requestsOfEach, .unlimited, "of each")
            try expect(try await store.second.setRequestRate(.standard, of: nil), "what servers allow")
            let strange = ContainerKey(identifier: "iCloud.strange", environment: .development)
            try expect(!(try await store.first.setRequestRate(.unlimited, in: strange)), "no container")
            let elsewhere = try await store.first.identity(
                credentialHash: Credentials.alice, container: "iCloud.other", environment: .development,
                containersMax: .max, now: StorageFixture.now)
            try expectEqual(elsewhere?.limits, AccountLimits(), "another container has its own")
            try expectEqual(
                elsewhere?.quota, QuotaStanding(bytesMax: 400, byteCount: 0), "the account's quota")
        },
        Scenario("R-935: who connects is told how many connections were chosen for the account") { store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            try expect(try await store.first.setConnectionsMax(5, of: alice.account), "there is alice")
            try expect(try await store.second.setConnectionsMax(1_000_000, of: nil), "each without a choice")
            let hers = AccountLimits(connections: 5, connectionsOfEach: 1_000_000)
            let his = AccountLimits(connectionsOfEach: 1_000_000)
            try expectEqual(try await store.alice().limits, hers, "hers")
            try expectEqual(try await store.bob().limits, his, "his")
            try expectEqual(
                try await store.second.limits(of: [alice.user, bob.user]), [alice.user: hers, bob.user: his],
                "the same for who asks")
            try expect(try await store.second.setConnectionsMax(nil, of: alice.account), "and back")
            try expect(try await store.first.setConnectionsMax(nil, of: nil), "of each")
            try expectEqual(try await store.alice().limits, AccountLimits(), "nothing is chosen")
            try expect(!(try await store.first.setConnectionsMax(1, of: AccountID(999_999))), "nobody")
        },
        Scenario("R-008: users have the roles that they were given, as long as the schema has them") { store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            let users = [alice.user, bob.user]
            try expect(
                !(try await store.first.setRole("Editor", of: alice.user, isGiven: true)), "there is no such role yet")
            let empty = try await store.first.schema(of: alice.container)
            try expect(
                try await store.first.replaceSchema(empty, by: Schema(roles: ["Editor", "Judge"])), "now there is")
            for role in ["Editor", "Judge", "Editor"] {
                try expect(try await store.first.setRole(role, of: alice.user, isGiven: true), "given, twice as well")
            }
            try expect(try await store.second.setRole("Judge", of: bob.user, isGiven: true), "given")
            try expect(try await store.second.setRole("Editor", of: bob.user, isGiven: false), "what nobody had")
            try expectEqual(
                try await store.second.roles(of: users),
                [alice.user: [.custom("Editor"), .custom("Judge")], bob.user: [.custom("Judge")]], "both servers know")
            try expectEqual(
                try await store.first.roles(of: [bob.user]), [bob.user: [.custom("Judge")]], "who is asked for")

            let zone = ZoneKey(database: alice.privateDatabase, name: ZoneName.default)
            let other = ZoneKey(database: bob.privateDatabase, name: ZoneName.default)
            let transaction = try await store.first.beginWrite([zone.read(users: users), other.read(users: [bob.user])])
            await transaction.rollback()
            try expectEqual(
                transaction.snapshots.map { $0.roles[alice.user] }, [[.custom("Editor"), .custom("Judge")], nil],
                "a transaction sees those of whom it asks for")
            try expectEqual(
                transaction.snapshots.map { $0.roles[bob.user] }, [[.custom("Judge")], [.custom("Judge")]], "of each")

            try expect(try await store.first.setRole("Judge", of: alice.user, isGiven: false), "taken")
            try expectEqual(
                try await store.second.roles(of: [alice.user]), [alice.user: [.custom("Editor")]], "one is left")
            let full = try await store.first.schema(of: alice.container)
            try expect(try await store.first.replaceSchema(full, by: Schema(roles: ["Judge"])), "a role goes")
            try expectEqual(
                try await store.second.roles(of: users), [bob.user: [.custom("Judge")]], "and leaves who had it")
        },
    ]
}
