// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let accounts: [Scenario] = [
        Scenario("R-353: a credential has one identity in each container, on every server") { store in
            let alice = try await store.alice()
            let again = try await store.second.identity(
                credentialHash: Credentials.alice, container: "iCloud.test", environment: .development,
                containersMax: 0, now: StorageFixture.now)
            try expectEqual(again, alice, "the same identity on the other server")
            let elsewhere = try await store.second.identity(
                credentialHash: Credentials.alice, container: "iCloud.test", environment: .production,
                containersMax: .max, now: StorageFixture.now)
            try expect(elsewhere?.privateDatabase != alice.privateDatabase, "environments share no database (R-012)")
            try expect(elsewhere?.userRecordName != alice.userRecordName, "another container, another user")
            try expectEqual(elsewhere?.account, alice.account, "the same account")
            try expect(try await store.bob().privateDatabase != alice.privateDatabase, "databases are private")
            try expectEqual(alice.userRecordName.count, 33, "_ and 32 digits")
        },
        Scenario("R-014: a container that is not known is not made unless it may be") { store in
            try await expectError(.containerUnknown, "the container is unknown") {
                try await store.first.identity(
                    credentialHash: Credentials.alice, container: "iCloud.none", environment: .development,
                    containersMax: 0, now: StorageFixture.now)
            }
        },
        Scenario("R-014: an account is told of its own containers, the newest first, and of no others") { store in
            for (hash, name) in [
                (Credentials.alice, "iCloud.a"), (Credentials.alice, "iCloud.b"), (Credentials.bob, "iCloud.c"),
            ] {
                _ = try await store.first.identity(
                    credentialHash: hash, container: name, environment: .production, containersMax: .max,
                    now: StorageFixture.now)
            }
            func names(_ hash: [UInt8], countMax: Int = 10) async throws -> [String] {
                try await store.second.containers(
                    credentialHash: hash, environment: .production, countMax: countMax, now: StorageFixture.now)
            }
            try expectEqual(try await names(Credentials.alice), ["iCloud.b", "iCloud.a"], "alice's")
            try expectEqual(try await names(Credentials.alice, countMax: 1), ["iCloud.b"], "no more than wanted")
            try expectEqual(try await names(Credentials.bob), ["iCloud.c"], "bob's")
            try expectEqual(try await names(Credentials.revoked), [], "a revoked credential's")
        },
        Scenario("credentials that are unknown, expired or revoked have no identity") { store in
            let unknown = [UInt8](repeating: 9, count: 32)
            for hash in [unknown, Credentials.expired, Credentials.revoked] {
                let identity = try await store.first.identity(
                    credentialHash: hash, container: "iCloud.test", environment: .development, containersMax: .max,
                    now: StorageFixture.now)
                try expect(identity == nil, "no identity")
            }
            let before = Timestamp(milliseconds: Credentials.expiry.milliseconds - 1)
            let identity = try require(
                try await store.first.identity(
                    credentialHash: Credentials.expired, container: "iCloud.test", environment: .development,
                    containersMax: .max, now: before), "it is good until it expires")
            try expectEqual(identity.credentialExpiresAt, Credentials.expiry, "the expiry is told")
            let good = try await store.alice().credential
            let void = try await store.second.voidCredentials(
                among: [identity.credential, good], now: Credentials.expiry)
            try expectEqual(void, [identity.credential], "the expired one is void, the good one not")
        },
        Scenario("R-927: why a credential opens no session is known of those that somebody has") { store in
            let device = DeviceID(high: 1, low: 1)
            for (hash, problem) in [
                ([UInt8](repeating: 9, count: 32), SignInProblem.credentialUnknown), ([], .credentialUnknown),
                (Credentials.revoked, .credentialRevoked), (Credentials.expired, .credentialExpired),
                (Credentials.alice, .credentialUnknown),
            ] {
                let found = try await store.second.signInProblem(
                    credentialHash: hash, device: device, now: StorageFixture.now)
                try expectEqual(found, problem, "of \(hash.first ?? 0)")
            }
        },
        Scenario("R-863: a credential that is not there any more is void, so its sessions end") { store in
            let good = try await store.alice().credential
            let gone = CredentialID(good.rawValue + 1_000)
            let void = try await store.second.voidCredentials(among: [good, gone], now: StorageFixture.now)
            try expectEqual(void, [gone], "that of a deleted account")
        },
        Scenario("R-001, R-022: a user has one shared database in a container, without zones, and it has a feed") {
            store in
            let alice = try await store.alice()
            let database = alice.sharedDatabase
            try expect(database != alice.privateDatabase, "it is not the private one")
            try expect(try await store.bob().sharedDatabase != database, "each user has their own")
            try expect(try await store.second.zones(in: database).isEmpty, "not even a default zone")
            let feed = try await store.second.databaseFeed(of: database, after: nil, entriesMax: 10)
            try expect(feed.entries.isEmpty && feed.unnumbered.isEmpty && !feed.hasMore, "nothing is shared")
        },
        Scenario(
            "R-746: an account creates containers up to its bound, also at the same moment, and joins those there are"
        ) {
            store in
            @Sendable func identity(_ name: String, _ hash: [UInt8], on storage: any Storage) async throws(StorageError)
                -> Bool
            {
                do throws(StorageError) {
                    return try await storage.identity(
                        credentialHash: hash, container: name, environment: .development, containersMax: 3,
                        now: StorageFixture.now) != nil
                } catch {
                    guard error.code == .containerUnknown else { throw error }
                    return false
                }
            }
            let names = (0..<8).map { "iCloud.many.\($0)" }
            let calls = names.enumerated().map { number, name in
                store.scheduler.runThrowing {
                    try await identity(name, Credentials.alice, on: number % 2 == 0 ? store.first : store.second)
                }
            }
            var made: [String] = []
            for (name, call) in zip(names, calls) {
                if try await call.value { made.append(name) }
            }
            try expectEqual(made.count, 3, "three, whoever was first")
            try expect(try await !identity("iCloud.more", Credentials.alice, on: store.first), "no fourth")
            for name in made {
                try expect(try await identity(name, Credentials.alice, on: store.second), "they are the account's")
                try expect(try await identity(name, Credentials.bob, on: store.second), "others join them")
            }
            try expect(try await !identity("iCloud.bobs", Credentials.bob, on: store.first), "which counts for them")
        },
        Scenario("a device may be noted again and again") { store in
            let alice = try await store.alice()
            let device = DeviceID(high: 5, low: 6)
            try await store.first.noteDevice(
                device, of: alice.account, name: "phone", from: "", atMost: 1_000, now: StorageFixture.now)
            try await store.second.noteDevice(
                device, of: alice.account, name: "phone 2", from: "", atMost: 1_000, now: StorageFixture.now)
        },
        Scenario("R-001, R-022: a container has one public database in each environment, with a default zone") {
            store in
            let alice = try await store.alice()
            let key = ContainerKey(identifier: "iCloud.test", environment: .development)
            let found = try await store.first.publicDatabase(of: key, now: StorageFixture.now)
            let made = try require(found, "it is made on its first use")
            let again = try await store.second.publicDatabase(of: key, now: StorageFixture.now)
            try expectEqual(again, made, "it is the same on the other server")
            try expectEqual(made.container, alice.container, "it is of the container")
            try expect(made.database != alice.privateDatabase, "it is nobody's private one")
            let zones = try await store.second.zones(in: made.database)
            try expectEqual(zones.map(\.key.name), [ZoneName.default], "only the default zone")
            try await store.write([RecordDraft("a")], in: try require(zones.first?.key, "a zone"))
            let production = ContainerKey(identifier: "iCloud.test", environment: .production)
            let none = try await store.first.publicDatabase(of: production, now: StorageFixture.now)
            try expectEqual(none, nil, "there is no such container (R-012)")
            _ = try await store.first.identity(
                credentialHash: Credentials.alice, container: "iCloud.test", environment: .production,
                containersMax: .max, now: StorageFixture.now)
            let other = try await store.first.publicDatabase(of: production, now: StorageFixture.now)
            try expect(other != nil && other != made, "environments share no database (R-012)")
        },
        Scenario("R-047: users are known by their record names") { store in
            let alice = try await store.alice()
            let bob = try await store.bob()
            try expectEqual(
                try await store.second.userRecordNames(of: [alice.user, bob.user, UserID(999_999)]),
                [alice.user: alice.userRecordName, bob.user: bob.userRecordName], "those that there are")
            let names = [alice.userRecordName, bob.userRecordName, "_nobody"]
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            try expectEqual(
                try await store.second.users(named: names, in: container),
                [alice.user: alice.userRecordName, bob.user: bob.userRecordName], "the same the other way round")
            try expectEqual(
                try await store.second.persons(named: names, in: container),
                [alice.user: alice.userRecordName, bob.user: bob.userRecordName], "they have accounts")
            let production = ContainerKey(identifier: "iCloud.test", environment: .production)
            try expectEqual(
                try await store.first.users(named: names, in: production), [:], "another container knows nobody (R-353)"
            )
        },
        Scenario("both servers live in the same store") { store in
            let incarnation = try await store.first.incarnation()
            try expectEqual(try await store.second.incarnation(), incarnation, "one incarnation")
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            for key in [key, ZoneKey(database: database, name: "never")] {
                let transaction = try await store.second.beginWrite([key.read()])
                await transaction.rollback()
                try expectEqual(transaction.store, incarnation, "a transaction tells it")
                try expectEqual(try await store.first.zonePage(key.page()).store, incarnation, "a page tells it")
            }
            let feed = try await store.second.databaseFeed(of: database, after: nil, entriesMax: 10)
            try expectEqual(feed.store, incarnation, "a feed tells it")
        },
    ]

    static let subscriptions: [Scenario] = [
        Scenario("R-240, R-242: subscriptions belong to a user and scope, and saving replaces") { store in
            let alice = try await store.alice().user
            let bob = try await store.bob().user
            func subscription(_ id: String, _ scope: DatabaseScope, type: String? = nil) -> Subscription {
                Subscription(id: id, scope: scope, kind: .database, recordType: type, notificationInfo: [1, 0, 2])
            }
            func save(_ subscription: Subscription, _ server: any Storage) async throws -> [FailureReason?] {
                try await server.saveSubscriptions([subscription], of: alice, atMost: 3)
            }
            try expectEqual(try await save(subscription("b", .private), store.first), [nil], "the first")
            try expectEqual(try await save(subscription("a", .private), store.first), [nil], "the second")
            try expectEqual(try await save(subscription("a", .shared), store.first), [nil], "the last one")
            try expectEqual(
                try await save(subscription("c", .private), store.second), [.tooManySubscriptions], "one too many")
            try expectEqual(try await save(subscription("a", .private, type: "Note"), store.second), [nil], "none more")
            try expectEqual(
                try await store.second.subscriptions(of: alice, withFired: false),
                [subscription("a", .private, type: "Note"), subscription("b", .private), subscription("a", .shared)],
                "by scope and id, each as saved last")
            try expectEqual(try await store.first.subscriptions(of: bob, withFired: false), [], "nobody else sees them")
            try expectEqual(
                try await store.first.deleteSubscriptions(["a"], scope: .private, of: alice), ["a"], "it was there")
            try expectEqual(
                try await store.second.deleteSubscriptions(["a"], scope: .private, of: alice), [], "it is gone")
            try expectEqual(
                try await store.first.subscriptions(of: alice, withFired: false).map(\.id), ["b", "a"],
                "the others stay")
        },
        Scenario("R-242, R-718: subscriptions that are saved together are decided in their order, each for itself") {
            store in
            let alice = try await store.alice()
            try await store.createZones("a", in: alice.privateDatabase)
            func subscription(_ id: String, in zone: String? = nil, type: String? = nil) -> Subscription {
                Subscription(
                    id: id, scope: .private, kind: zone == nil ? .database : .recordZone, recordType: type,
                    zoneName: zone, notificationInfo: Array(id.utf8))
            }
            let before = [subscription("changed"), subscription("same", in: "a", type: "Note"), subscription("old")]
            try expectEqual(
                try await store.first.saveSubscriptions(before, of: alice.user, atMost: 5), [nil, nil, nil], "new ones")
            // Each with why it is refused.
            let saves: [(Subscription, FailureReason?)] = [
                (subscription("new", in: "a"), nil),
                (subscription("same", in: "a", type: "Note"), nil),
                (subscription("lost", in: "none"), .zoneNotFound),
                (subscription("changed", in: "a", type: "Note"), nil),
                (subscription("last", in: "none"), .zoneNotFound),
                (subscription("last", in: "a"), nil),
                (subscription("over"), .tooManySubscriptions),
                (subscription("lost", in: "none"), .zoneNotFound),
                (subscription("new", type: "Note"), nil),
                (subscription("new", in: "none"), .zoneNotFound),
                (subscription("over"), .tooManySubscriptions),
            ]
            let kept = [
                subscription("changed", in: "a", type: "Note"), subscription("last", in: "a"),
                subscription("new", type: "Note"), subscription("old"), subscription("same", in: "a", type: "Note"),
            ]
            for (server, promise) in [(store.first, "at first"), (store.second, "when it is repeated")] {
                let reasons = try await server.saveSubscriptions(saves.map(\.0), of: alice.user, atMost: 5)
                try expectEqual(reasons, saves.map(\.1), promise)
                try expectEqual(try await store.second.subscriptions(of: alice.user, withFired: false), kept, promise)
            }
            try expectEqual(
                try await store.first.saveSubscriptions([], of: alice.user, atMost: 5), [], "none are saved")
            let ends: [(Set<String>, String)] = [(["old", "new"], "at first"), ([], "when it is repeated")]
            for (existing, promise) in ends {
                try expectEqual(
                    try await store.second.deleteSubscriptions(
                        ["old", "none", "new", "over"], scope: .private, of: alice.user), existing, promise)
            }
            try expectEqual(
                try await store.first.deleteSubscriptions(["same"], scope: .shared, of: alice.user), [],
                "another scope's")
            try await store.changeZones(in: alice.privateDatabase, remove: ["a"])
            try await store.createZones("a", in: alice.privateDatabase)
            try expectEqual(
                try await store.first.deleteSubscriptions(
                    ["changed", "last", "same"], scope: .private, of: alice.user), [], "they ended with their zone")
        },
        Scenario("I-7: requests at the same moment do not save more subscriptions together than there may be") {
            store in
            let alice = try await store.alice().user
            // In different orders: without a common lock they might wait for each other's rows.
            let requests = [["a", "b", "c", "d"], ["d", "e", "b", "f"], ["c", "b", "a", "g"]].map { ids in
                ids.map { id in
                    Subscription(id: id, scope: .private, kind: .database, recordType: nil, notificationInfo: [])
                }
            }
            let calls = requests.enumerated().map { number, subscriptions in
                let server = number == 1 ? store.second : store.first
                return store.scheduler.runThrowing {
                    try await server.saveSubscriptions(subscriptions, of: alice, atMost: 3)
                }
            }
            for call in calls { _ = try await call.value }
            try expectEqual(
                try await store.first.subscriptions(of: alice, withFired: false).count, 3, "as many as there may be")
        },
        Scenario("R-030, R-241, R-247: a subscription of a zone is kept with it, and ends with this life of it") {
            store in
            let alice = try await store.alice()
            let database = alice.privateDatabase
            func subscription(_ id: String, in zone: String?) -> Subscription {
                Subscription(
                    id: id, scope: .private, kind: zone == nil ? .database : .recordZone, recordType: "Note",
                    zoneName: zone, notificationInfo: [7])
            }
            func save(_ id: String, in zone: String?) async throws -> [FailureReason?] {
                try await store.first.saveSubscriptions([subscription(id, in: zone)], of: alice.user, atMost: 2)
            }
            func ids() async throws -> [String] {
                try await store.second.subscriptions(of: alice.user, withFired: false).map(\.id)
            }
            try expectEqual(try await save("z", in: "a"), [.zoneNotFound], "there is no such zone")
            try await store.createZones("a", in: database)
            try await store.createZones("a", in: try await store.bob().privateDatabase)
            try expectEqual(try await save("z", in: "a"), [nil], "now there is")
            try expectEqual(
                try await store.second.subscriptions(of: alice.user, withFired: false), [subscription("z", in: "a")],
                "as it was saved")
            try expectEqual(try await save("z", in: "b"), [.zoneNotFound], "and the old one stays")
            try expectEqual(try await ids(), ["z"], "it does")
            try await store.changeZones(in: database, remove: ["a"])
            try expectEqual(try await ids(), [], "it ended with the zone")
            try expectEqual(
                try await store.second.deleteSubscriptions(["z"], scope: .private, of: alice.user), [], "it is gone")
            try await store.createZones("a", in: database)
            try expectEqual(try await ids(), [], "and does not come back with the zone's name")
            for id in ["x", "y"] { try expectEqual(try await save(id, in: "a"), [nil], "of the new zone") }
            try expectEqual(try await save("d", in: nil), [.tooManySubscriptions], "two are the most")
            try await store.changeZones(in: database, remove: ["a"])
            try expectEqual(try await save("d", in: nil), [nil], "those that ended do not count")
            try expectEqual(try await ids(), ["d"], "it alone")
        },
        Scenario(
            "R-246: a subscription that fires once ends by one call, as it was read, and is known for those who connect"
        ) {
            store in
            let alice = try await store.alice()
            func subscription(_ id: String, _ predicate: QueryPredicate = .always(true)) -> Subscription {
                Subscription(
                    id: id, scope: .private, kind: .query, recordType: "Note", notificationInfo: [7],
                    query: SubscriptionQuery(
                        database: alice.privateDatabase, predicate: predicate, options: [.creation, .once],
                        predicateBytes: [1]))
            }
            func save(_ subscription: Subscription) async throws -> [FailureReason?] {
                try await store.first.saveSubscriptions([subscription], of: alice.user, atMost: 2)
            }
            func fire(_ subscriptions: Subscription..., at server: any Storage) async throws -> [String] {
                let container = ContainerID(1)
                return try await server.fireOnce(
                    subscriptions.map {
                        WatchingSubscription(user: alice.user, container: container, subscription: $0)
                    }
                ).map(\.key.id).sorted()
            }
            func ids(withFired: Bool) async throws -> [String] {
                try await store.second.subscriptions(of: alice.user, withFired: withFired).map {
                    $0.hasFired ? "\($0.id) fired" : $0.id
                }
            }
            func watching() async throws -> [String] {
                try await store.second.querySubscriptions(
                    watching: [alice.privateDatabase], after: nil, atMost: 10
                )[alice.privateDatabase]?.subscriptions.map(\.subscription.id) ?? []
            }
            let (one, two) = (subscription("one"), subscription("two"))
            for some in [one, two] { try expectEqual(try await save(some), [nil], "they are saved") }
            let other = subscription("two", .always(false))
            try expectEqual(try await fire(one, other, at: store.first), ["one"], "two is another one meanwhile")
            try expectEqual(try await fire(one, at: store.second), [], "it has fired")
            try expectEqual(try await ids(withFired: false), ["two"], "nobody finds it any more")
            try expectEqual(try await ids(withFired: true), ["one fired", "two"], "but for those who connect")
            try expectEqual(try await watching(), ["two"], "and no change does")
            try expectEqual(try await save(subscription("three")), [nil], "it does not count")
            try expectEqual(
                try await store.first.deleteSubscriptions(["one"], scope: .private, of: alice.user), [], "it is gone")
            try expectEqual(try await ids(withFired: true), ["three", "two"], "also for those who connect")
            try expectEqual(try await fire(two, at: store.second), ["two"], "the other one")
            try expectEqual(try await save(other), [nil], "the ID is saved again")
            try expectEqual(try await ids(withFired: true), ["three", "two"], "and lives")
            try expectEqual(
                try await fire(two, at: store.second), [], "the new one does not end by changes of the old one")
            try expectEqual(try await watching(), ["three", "two"], "so it fires")
            // Of very many the last ones are left.
            for number in 1_000..<1_150 {
                let some = subscription("n\(number)")
                _ = try await store.first.deleteSubscriptions(["three"], scope: .private, of: alice.user)
                try expectEqual(try await save(some), [nil], "one more")
                try expectEqual(try await fire(some, at: store.first), ["n\(number)"], "it fires")
            }
            _ = try await save(subscription("three"))
            let left = try await ids(withFired: true).filter { $0.hasSuffix("fired") }
            try expectEqual(
                left, (1_150 - Subscription.firedCountMax..<1_150).map { "n\($0) fired" }, "the last ones")
        },
        Scenario("R-280, R-281: query subscriptions are found by record type, and so are their types") { store in
            let alice = try await store.alice()
            let database = alice.privateDatabase
            func subscription(_ id: String, _ type: String, at watched: DatabaseID = database) -> Subscription {
                Subscription(
                    id: id, scope: .private, kind: .query, recordType: type, notificationInfo: [],
                    query: SubscriptionQuery(
                        database: watched, predicate: .always(true), options: [.creation, .once], predicateBytes: [1]))
            }
            let other = DatabaseID(database.rawValue + 1)
            let once = subscription("once", "Alone")
            let saves =
                (0..<5).map { subscription("note \($0)", "Note") } + (0..<2).map { subscription("item \($0)", "Item") }
                + [once, subscription("z", "Elsewhere", at: other)]
            try expectEqual(
                try await store.first.saveSubscriptions(saves, of: alice.user, atMost: 99),
                saves.map { _ in nil }, "they are saved")
            func pages(_ type: String, of countMax: Int) async throws -> [[String]] {
                var (pages, after) = ([[String]](), SubscriberKey?.none)
                repeat {
                    let page = try await store.second.querySubscriptions(
                        watching: database, ofType: type, after: after, atMost: countMax)
                    pages.append(page.subscriptions.map(\.subscription.id))
                    after = page.next
                } while after != nil
                return pages
            }
            try expectEqual(
                try await pages("Note", of: 2), [["note 0", "note 1"], ["note 2", "note 3"], ["note 4"]], "by ID")
            try expectEqual(try await pages("Item", of: 2), [["item 0", "item 1"]], "a full page is the last one")
            for type in ["None", "Elsewhere", "Not", "Note "] {
                try expectEqual(try await pages(type, of: 2), [[]], "none looks at \(type) there")
            }
            func types(_ countMax: Int) async throws -> [String] {
                try await store.second.watchedTypes(in: database, atMost: countMax).sorted()
            }
            try expectEqual(try await types(9), ["Alone", "Item", "Note"], "each once")
            try expectEqual(try await types(2).count, 2, "no more than are wanted")
            try expectEqual(
                try await store.second.watchedTypes(in: other, atMost: 9), ["Elsewhere"], "of the other database")
            let watching = WatchingSubscription(user: alice.user, container: ContainerID(1), subscription: once)
            try expectEqual(try await store.first.fireOnce([watching]), [watching.key], "it fires")
            _ = try await store.first.deleteSubscriptions(["item 0", "item 1"], scope: .private, of: alice.user)
            try expectEqual(try await types(9), ["Note"], "those that have ended have no type")
            try expectEqual(
                try await store.first.saveSubscriptions([subscription("note 0", "New")], of: alice.user, atMost: 99),
                [nil], "it looks at another type")
            try expectEqual(try await types(9), ["New", "Note"], "as it is now")
            try expectEqual(try await pages("Note", of: 9), [["note 1", "note 2", "note 3", "note 4"]], "without it")
        },
    ]
}
