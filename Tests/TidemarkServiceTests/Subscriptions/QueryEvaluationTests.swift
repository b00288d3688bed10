// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct QueryEvaluationTests {
    private func subscription(
        _ id: String, in database: DatabaseID, _ scope: DatabaseScope = .private,
        _ predicate: QueryPredicate = .always(true), _ options: SubscriptionQuery.Options = .changes
    ) -> Subscription {
        Subscription(
            id: id, scope: scope, kind: .query, recordType: "Note", notificationInfo: [],
            query: SubscriptionQuery(database: database, predicate: predicate, options: options, predicateBytes: []))
    }

    /// Saves a subscription and lets the server know.
    private func save(_ subscription: Subscription, of user: UserID, at server: CloudService) async throws {
        let saved = try await server.modifySubscriptions(
            saves: [subscription], deletes: [], scope: subscription.scope, of: user
        ).get()
        #expect(saved.saves == [.success(subscription)])
        server.forgetQueries(of: subscription.query?.database ?? DatabaseID(0))
    }

    private func identity(of name: String, in fixture: ServiceFixture, at server: CloudService) async throws -> Identity
    {
        let hash = Array(repeating: UInt8(9), count: 32)
        fixture.database.issueCredential(hash: hash, account: name)
        let found = try await server.authenticate(
            credentialHash: hash, container: "iCloud.test", environment: .development, createsContainer: true,
            device: DeviceID(high: 0, low: 9), deviceName: "test"
        ).get()
        return try #require(found)
    }

    private let device = DeviceID(high: 0, low: 1)

    @Test func `R-245: a server fires for what it commits, after the answer`() throws {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        let server = fixture.server(firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let hits = QueryPredicate.compare(.field("text"), .equal, .string("hit"))
            let database = fixture.identity.privateDatabase
            try await save(subscription("hits", in: database, .private, hits), of: fixture.identity.user, at: server)
            let requests = [
                try fixture.saving(["a", "b"], text: "hit", id: RequestID(device, 1)),
                try fixture.saving(["a"], text: "miss", id: RequestID(device, 2)),
                try fixture.saving(["a"], text: "other", id: RequestID(device, 3)),
                try fixture.saving([], deleting: ["a", "b"], id: RequestID(device, 4)),
            ]
            let expected = [["hits a created", "hits b created"], ["hits a updated"], [], ["hits b deleted"]]
            for (request, texts) in zip(requests, expected) {
                _ = try await server.modify(request).get()
                try await fixture.scheduler.sleep(for: .seconds(1))
                #expect(fired.all() == texts)
            }
        }
    }

    @Test func `R-937: a service that is no server fires nothing, and deletes no subscription`() throws {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        let server = fixture.server { fired.take($0) }
        try fixture.scheduler.simulate {
            let database = fixture.identity.privateDatabase
            let once = subscription("once", in: database, .private, .always(true), [.creation, .once])
            try await save(once, of: fixture.identity.user, at: server)
            _ = try await server.modify(try fixture.saving(["a"], id: RequestID(device, 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(fired.all().isEmpty)
            #expect(await server.subscriptions(in: .private, of: fixture.identity.user) == .success([once]))
        }
    }

    @Test func `R-246: of two servers that fire at once, one sends`() throws {
        for seed in UInt64(1)...20 {
            let fixture = try ServiceFixture(seed: seed, zones: ["notes", "more"])
            let fired = FiredQueries()
            let servers = (0..<2).map { _ in fixture.server(firesQueries: true) { fired.take($0) } }
            try fixture.scheduler.simulate {
                let once = subscription(
                    "once", in: fixture.identity.privateDatabase, .private, .always(true), [.creation, .once])
                try await save(once, of: fixture.identity.user, at: servers[0])
                let first = try fixture.saving(["a"], id: RequestID(device, 1))
                let second = try fixture.saving(["b"], zone: "more", id: RequestID(DeviceID(high: 0, low: 2), 1))
                async let one = servers[0].modify(first)
                async let two = servers[1].modify(second)
                _ = (await one, await two)
                try await fixture.scheduler.sleep(for: .seconds(5))
                #expect(fired.all().count == 1)
                #expect(await servers[0].subscriptions(in: .private, of: fixture.identity.user) == .success([]))
            }
        }
    }

    @Test func `R-246: one that has fired is known for thirty days to those who connect`() throws {
        let fixture = try ServiceFixture()
        let server = fixture.server(firesQueries: true)
        try fixture.scheduler.simulate {
            let user = fixture.identity.user
            let once = subscription(
                "s", in: fixture.identity.privateDatabase, .private, .always(true), [.creation, .once])
            try await save(once, of: user, at: server)
            _ = try await server.modify(try fixture.saving(["a"], id: RequestID(device, 1))).get()
            for (days, known) in [(0, [true]), (29, [true]), (2, [])] as [(Int, [Bool])] {
                try await fixture.scheduler.sleep(for: .seconds(60 + days * 86_400))
                #expect(await server.subscriptions(in: .private, of: user) == .success([]))
                #expect(try await server.subscriptions(of: user).get().map(\.hasFired) == known)
            }
        }
    }

    @Test func `R-246: an old firing does not end the subscription that was saved under the same ID`() throws {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        let (server, other) = (fixture.server(firesQueries: true) { fired.take($0) }, fixture.server())
        try fixture.scheduler.simulate {
            let (database, user) = (fixture.identity.privateDatabase, fixture.identity.user)
            let once = subscription("s", in: database, .private, .always(true), [.deletion, .once])
            try await save(once, of: user, at: server)
            // The server knows the old one.
            _ = try await server.modify(try fixture.saving(["a"], id: RequestID(device, 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            let always = subscription("s", in: database, .private, .always(true), .deletion)
            _ = try await other.modifySubscriptions(saves: [always], deletes: [], scope: .private, of: user).get()
            _ = try await server.modify(try fixture.saving([], deleting: ["a"], id: RequestID(device, 2))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(await server.subscriptions(in: .private, of: user) == .success([always]))
            #expect(fired.all().isEmpty)
        }
    }

    @Test func `R-246: those that fire again and again do not wait for the end of others`() throws {
        let fixture = try ServiceFixture()
        let (fired, script) = (FiredQueries(), FaultScript())
        let server = fixture.server(faults: script.plan, firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let (database, user) = (fixture.identity.privateDatabase, fixture.identity.user)
            let once = (0..<3).map {
                subscription("once \($0)", in: database, .private, .always(true), [.deletion, .once])
            }
            let saves = once + [subscription("z", in: database, .private, .always(true), .deletion)]
            _ = try await fixture.server().modifySubscriptions(saves: saves, deletes: [], scope: .private, of: user)
                .get()
            _ = try await server.modify(try fixture.saving(["a", "b"], id: RequestID(device, 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            let calls = script.count(.callSent)
            script.meet([.delay(.seconds(60))], at: .callSent)
            _ = try await server.modify(try fixture.saving([], deleting: ["a", "b"], id: RequestID(device, 2))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(fired.all() == ["z a deleted", "z b deleted"])
            try await fixture.scheduler.sleep(for: .seconds(60))
            #expect(fired.all() == ["once 0 a deleted", "once 1 a deleted", "once 2 a deleted"])
            // All in one transaction.
            #expect(script.count(.callSent) == calls + 1)
        }
    }

    @Test func `I-5: in a public database only what the subscriber may read fires`() throws {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        let server = fixture.server(firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let database = try await server.publicDatabase(of: container).get().database
            let bob = try await identity(of: "bob", in: fixture, at: server)
            let alice = fixture.identity.user
            try await save(subscription("of alice", in: database, .public), of: alice, at: server)
            try await save(subscription("of bob", in: database, .public), of: bob.user, at: server)
            func fire(_ name: String, _ counter: UInt64) async throws -> [String] {
                let save = RecordSave(
                    name: name, type: "Note", tag: nil, fields: try FieldMap([Field("text", .string("t"))]),
                    parent: .unchanged)
                let request = RecordsRequest(
                    id: RequestID(device, counter), key: ZoneKey(database: database, name: ZoneName.default),
                    saves: [save], deletes: [], policy: .ifServerRecordUnchanged, isAtomic: false, user: alice,
                    access: RecordAccess(scope: .public, user: alice))
                #expect(await server.modify(request).numbers.compactMap(\.self).count == 1)
                try await fixture.scheduler.sleep(for: .seconds(1))
                return fired.all()
            }
            #expect(try await fire("a", 1) == ["of alice a created", "of bob a created"])
            let store = MemoryStore(fixture.database)
            for (grants, others) in [
                (Grants([.creator: .all, .authenticated: .create]), []), (Grants([.authenticated: .all]), ["of bob"]),
            ] as [(Grants, [String])] {
                let current = try await store.schema(of: fixture.identity.container)
                var schema = current.schema
                schema.types["Note", default: RecordTypeSchema()].grants = grants
                #expect(try await store.replaceSchema(current, by: schema))
                let name = "b\(others.count)"
                let texts = try await fire(name, UInt64(2 + others.count))
                #expect(texts == (["of alice"] + others).map { "\($0) \(name) created" })
            }
        }
    }

    @Test func `R-179, R-245: a search sees fields that the schema has learned since the subscriptions were read`()
        throws
    {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        let server = fixture.server(firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let database = fixture.identity.privateDatabase
            _ = try await server.modify(try fixture.saving(["a"], id: RequestID(device, 1))).get()
            let search = subscription("water", in: database, .private, .search("water"))
            try await save(search, of: fixture.identity.user, at: server)
            _ = try await server.modify(try fixture.saving(["b"], id: RequestID(device, 2))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(fired.all().isEmpty)
            let fields = try FieldMap([Field("note", .string("Much water"))])
            let request = RecordsRequest(
                id: RequestID(device, 3), key: fixture.key(),
                saves: [RecordSave(name: "c", type: "Note", tag: nil, fields: fields, parent: .unchanged)], deletes: [],
                policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                access: .owner(fixture.identity.user))
            _ = try await server.modify(request).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(fired.all() == ["water c created"])
        }
    }

    /// The public database, with a subscription of alice.
    private func publicWorld(
        _ fixture: ServiceFixture, _ server: CloudService, _ options: SubscriptionQuery.Options = .changes
    ) async throws -> DatabaseID {
        let container = ContainerKey(identifier: "iCloud.test", environment: .development)
        let database = try await server.publicDatabase(of: container).get().database
        try await save(
            subscription("s", in: database, .public, .always(true), options), of: fixture.identity.user, at: server)
        return database
    }

    private func savePublic(
        _ name: String, _ counter: UInt64, in database: DatabaseID, _ fixture: ServiceFixture, at server: CloudService
    ) async throws {
        let user = fixture.identity.user
        let save = RecordSave(
            name: name, type: "Note", tag: nil, fields: try FieldMap([Field("text", .string("t"))]),
            parent: .unchanged)
        let request = RecordsRequest(
            id: RequestID(device, counter), key: ZoneKey(database: database, name: ZoneName.default), saves: [save],
            deletes: [], policy: .ifServerRecordUnchanged, isAtomic: false, user: user,
            access: RecordAccess(scope: .public, user: user))
        #expect(await server.modify(request).numbers.compactMap(\.self).count == 1)
    }

    @Test func `R-847: if nobody can say who may read a record, all are told later that records may have changed`()
        throws
    {
        let fixture = try ServiceFixture()
        let (fired, script) = (FiredQueries(), FaultScript())
        let server = fixture.server(faults: script.plan, firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let database = try await publicWorld(fixture, server)
            try await savePublic("a", 1, in: database, fixture, at: server)
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(fired.all() == ["s a created"])
            // A statement that fails is not tried again.
            script.meet([.reject], at: .callSent)
            try await savePublic("b", 2, in: database, fixture, at: server)
            try await fixture.scheduler.sleep(for: .milliseconds(500))
            #expect(fired.all().isEmpty)
            try await fixture.scheduler.sleep(for: .seconds(2))
            #expect(fired.all() == ["s ? ?"])
            try await savePublic("c", 3, in: database, fixture, at: server)
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(fired.all() == ["s c created"])
            #expect(fired.evaluated.count == 2, "R-263: not of the second one")
        }
    }

    @Test func `R-246, R-847: if a subscription cannot be ended it stays, and its devices look themselves`() throws {
        let fixture = try ServiceFixture()
        let (fired, script) = (FiredQueries(), FaultScript())
        let server = fixture.server(faults: script.plan, firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let once = subscription(
                "s", in: fixture.identity.privateDatabase, .private, .always(true), [.update, .once])
            try await save(once, of: fixture.identity.user, at: server)
            _ = try await server.modify(try fixture.saving(["a"], id: RequestID(device, 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            script.meet([.reject], at: .callSent)
            for (counter, told) in [(2, "s ? ?"), (3, "s a updated")] as [(UInt64, String)] {
                let request = try fixture.saving(["a"], text: "\(counter)", id: RequestID(device, counter))
                _ = try await server.modify(request).get()
                try await fixture.scheduler.sleep(for: .seconds(1))
                #expect(fired.all() == [told])
            }
            #expect(await server.subscriptions(in: .private, of: fixture.identity.user) == .success([]))
        }
    }

    @Test func `R-253, I-5: whoever may read their own records alone is told too that records may have changed`() throws
    {
        let fixture = try ServiceFixture()
        let (fired, script) = (FiredQueries(), FaultScript())
        let server = fixture.server(faults: script.plan, firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let database = try await publicWorld(fixture, server)
            try await savePublic("a", 1, in: database, fixture, at: server)
            let store = MemoryStore(fixture.database)
            for (number, (grants, told))
                in ([
                    (Grants([.creator: .all, .authenticated: .create]), ["s ? ?"]),
                    (Grants([.authenticated: .create]), []),
                ] as [(Grants, [String])]).enumerated()
            {
                let current = try await store.schema(of: fixture.identity.container)
                var schema = current.schema
                schema.types["Note", default: RecordTypeSchema()].grants = grants
                #expect(try await store.replaceSchema(current, by: schema))
                // The server reads the new schema.
                try await savePublic("b\(number)", UInt64(2 + 2 * number), in: database, fixture, at: server)
                try await fixture.scheduler.sleep(for: .seconds(1))
                _ = fired.all()
                script.meet([.reject], at: .callSent)
                try await savePublic("c\(number)", UInt64(3 + 2 * number), in: database, fixture, at: server)
                try await fixture.scheduler.sleep(for: .seconds(5))
                #expect(fired.all() == told)
            }
        }
    }

    @Test func `R-263: of a public database others are told which changes have fired all that they fire`() throws {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        let server = fixture.server(firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let database = try await server.publicDatabase(of: container).get().database
            let alice = fixture.identity.user
            func write(_ name: String, _ counter: UInt64, type: String = "Note") async throws -> ChangeNumber {
                let save = RecordSave(
                    name: name, type: type, tag: nil, fields: try FieldMap([Field("text", .string("t"))]),
                    parent: .unchanged)
                let request = RecordsRequest(
                    id: RequestID(device, counter), key: ZoneKey(database: database, name: ZoneName.default),
                    saves: [save], deletes: [], policy: .ifServerRecordUnchanged, isAtomic: false, user: alice,
                    access: RecordAccess(scope: .public, user: alice))
                let number = try #require(await server.modify(request).numbers.first ?? nil)
                try await fixture.scheduler.sleep(for: .seconds(1))
                return number
            }
            // Nobody is known to want it.
            var last = try await write("a", 1)
            #expect(fired.evaluated.isEmpty)
            try await save(subscription("of alice", in: database, .public), of: alice, at: server)
            var expected: [ChangeRanges.Part] = []
            for (name, counter, type) in [("b", 2, "Note"), ("c", 3, "Other"), ("d", 4, "Note")]
                as [(String, UInt64, String)]
            {
                let next = try await write(name, counter, type: type)
                expected.append(ChangeRanges.Part(after: last, upTo: next))
                last = next
            }
            #expect(fired.evaluated == expected && fired.all().count == 2)
            // In a private database nobody needs it.
            try await save(subscription("own", in: fixture.identity.privateDatabase), of: alice, at: server)
            _ = try await server.modify(try fixture.saving(["p"], id: RequestID(DeviceID(high: 0, low: 5), 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            #expect(fired.evaluated == expected && fired.all() == ["own p created"])
        }
    }

    @Test func `R-847: a store that does not answer delays pushes, and loses none`() throws {
        let fixture = try ServiceFixture()
        let (fired, script) = (FiredQueries(), FaultScript())
        let server = fixture.server(faults: script.plan, firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let database = fixture.identity.privateDatabase
            _ = try await server.modify(try fixture.saving(["r0"], id: RequestID(device, 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            try await save(subscription("all", in: database), of: fixture.identity.user, at: fixture.server())
            server.forgetQueries(of: database)
            script.meet([.disconnect, .disconnect, .disconnect], at: .callSent)
            for number in 1...3 {
                _ = try await server.modify(
                    try fixture.saving(["r\(number)"], id: RequestID(device, UInt64(1 + number)))
                ).get()
            }
            try await fixture.scheduler.sleep(for: .seconds(30))
            #expect(fired.all() == ["all r1 created", "all r2 created", "all r3 created"])
            #expect(script.count(.callSent) > 3)
        }
    }

    @Test func `R-847: more subscriptions than one read brings all fire`() throws {
        let fixture = try ServiceFixture()
        let fired = FiredQueries()
        var limits = Limits()
        limits.subscriptionsMax = 5_000
        let server = fixture.server(limits: limits, firesQueries: true) { fired.take($0) }
        try fixture.scheduler.simulate {
            let database = fixture.identity.privateDatabase
            let ids = (0..<2_500).map { "s\($0)" }
            for start in stride(from: 0, to: ids.count, by: 250) {
                _ = try await server.modifySubscriptions(
                    saves: ids[start..<start + 250].map { subscription($0, in: database) }, deletes: [],
                    scope: .private, of: fixture.identity.user
                ).get()
            }
            _ = try await server.modify(try fixture.saving(["a"], id: RequestID(device, 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(5))
            #expect(Set(fired.all()) == Set(ids.map { "\($0) a created" }))
        }
    }
}
