// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct PushCenterQueriesTests {
    /// Alice's devices 1 and 2 with a zone and these subscriptions, and nothing left to be told.
    private func pair(
        _ world: SessionWorld, _ subscriptions: [WireSubscription], second: SessionWorld.Server? = nil
    ) throws -> (TestClient, TestClient) {
        let first = try world.enter(device: 1)
        try first.makeZone("notes")
        for subscription in subscriptions { try first.subscribe(to: subscription) }
        let other = try world.enter(device: 2, server: second)
        settle(world, first, other)
        return (first, other)
    }

    private func settle(_ world: SessionWorld, _ clients: TestClient...) {
        world.scheduler.advance(by: .seconds(90))
        for client in clients { client.forgetInbox() }
    }

    @Test func `R-245, R-248, R-249: each change that a query sees is pushed to the user's other devices`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(world, [TestClient.query("hits", text: "hit"), TestClient.query("all")])
        let bob = try world.enter("bob", device: 3)
        try first.save("a", in: "notes", text: "miss")
        #expect(other.queryNews == ["all a 1"])
        other.forgetInbox()
        try first.save("a", in: "notes", text: "HIT")
        #expect(other.queryNews.sorted() == ["all a 2", "hits a 2"])
        other.forgetInbox()
        try first.modify([], deleting: ["a"])
        #expect(other.queryNews.sorted() == ["all a 3", "hits a 3"])
        #expect(first.queryPushes.isEmpty && bob.queryPushes.isEmpty)
        // The other way round.
        try other.save("b", in: "notes", text: "hit")
        #expect(first.queryNews.sorted() == ["all b 1", "hits b 1"])
    }

    @Test func `R-244: options and the zone decide, and the default zone counts as any other`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(
            world,
            [
                TestClient.query("new", .creation), TestClient.query("changed", .update),
                TestClient.query("gone", .deletion), TestClient.query("more") { $0.zone = TestClient.zone("more") },
            ])
        for text in ["one", "two"] { try first.save("a", in: "_defaultZone", text: text) }
        try first.modify([], deleting: ["a"], in: "_defaultZone")
        #expect(other.queryNews == ["new a 1", "changed a 2", "gone a 3"])
        // There was no such zone when it was to be watched.
        #expect(try first.subscriptions().map(\.id) == ["changed", "gone", "new"])
        try first.makeZone("more")
        let saved = try first.subscribe(to: TestClient.query("more") { $0.zone = TestClient.zone("more") })
        #expect(saved.failure.code == .unspecified)
        settle(world, first, other)
        try first.save("b", in: "more")
        try first.save("b", in: "notes")
        #expect(other.queryNews.filter { $0.hasPrefix("more") } == ["more b 1"])
    }

    @Test func `R-240, R-244: a query subscription comes back as it was saved`() throws {
        let world = SessionWorld(firesQueries: true)
        let client = try world.enter()
        let wish = TestClient.query("q", text: "ünï", [.creation, .once]) {
            $0.notificationInfo.alertBody = "News"
            $0.notificationInfo.desiredKeys = ["text"]
            $0.zone = TestClient.zone("_defaultZone")
        }
        #expect(try client.subscribe(to: wish).subscription == wish)
        #expect(try client.subscriptions() == [wish])
        #expect(try client.subscribe(to: wish, in: .public).subscription == wish)
        #expect(try client.subscriptions(in: .public) == [wish])
        try client.unsubscribe("q")
        #expect(try client.subscriptions().isEmpty)
        #expect(try client.subscriptions(in: .public) == [wish])
    }

    @Test func `R-244, R-251: what a query could not ask is refused, for each subscription alone`() throws {
        let world = SessionWorld(firesQueries: true)
        let client = try world.enter()
        let refused: [WireSubscription] = [
            TestClient.query("q", []), TestClient.query("q", .init(rawValue: 16)),
            TestClient.query("q") { $0.recordType = "" }, TestClient.query("q") { $0.predicate = [0xFF] },
            TestClient.query("q") { $0.predicate = Array(repeating: 0, count: 8_193) },
            TestClient.query("q") { $0.notificationInfo.desiredKeys = ["a", "b", "c", "d"] },
            TestClient.query("q") { $0.kind = .database },
        ]
        for subscription in refused {
            #expect(try client.subscribe(to: subscription).failure.code != .unspecified, "\(subscription)")
        }
        #expect(try client.subscribe(to: TestClient.query("q"), in: .shared).failure.code != .unspecified)
        #expect(try client.subscriptions().isEmpty)
    }

    @Test func `R-251, R-252: a push brings the fields and the texts that the subscription asks for`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(
            world,
            [
                TestClient.query("q") {
                    $0.notificationInfo.desiredKeys = ["text"]
                    $0.notificationInfo.alertLocalizationKey = "NOTE"
                    $0.notificationInfo.alertLocalizationArgs = ["text"]
                }
            ])
        try first.save("a", in: "notes", text: "hello")
        let push = try #require(other.queryPushes.first)
        #expect(try FieldMap(validating: push.query.fields, limits: .standard, keys: .app).keys == ["text"])
        #expect(push.alert.alertLocalizationArgs == ["hello"] && push.query.zone.name == "notes")
        #expect(push.database == .private && !push.isPruned)
    }

    @Test func `R-246: a subscription that fires once is deleted by its first push`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(world, [TestClient.query("once", [.creation, .once])])
        let note = try ["a", "b"].map { try TestClient.note($0) }
        try first.modify(note)
        try first.save("c", in: "notes")
        #expect(other.queryNews == ["once a 1"])
        #expect(try first.subscriptions().isEmpty)
        // It may be saved again.
        try first.subscribe(to: TestClient.query("once", [.creation, .once]))
        settle(world, first, other)
        try first.save("d", in: "notes")
        #expect(other.queryNews == ["once d 1"])
    }

    @Test func `R-246, R-253: a device that was away when a subscription fired once is told when it connects`() throws {
        let world = SessionWorld(firesQueries: true)
        let once = TestClient.query("once", [.creation, .once]) { $0.notificationInfo.alertBody = "News" }
        let (first, other) = try pair(world, [once])
        other.disconnect()
        // The one device that is there makes the change, so it is not told.
        try first.save("a", in: "notes")
        #expect(first.queryPushes.isEmpty)
        #expect(try first.subscriptions().isEmpty)
        let back = try world.enter(device: 2)
        #expect(back.queryNews == ["once ?"])
        #expect(back.queryPushes.allSatisfy { $0.isPruned && !$0.hasAlert })
        back.disconnect()
        try first.unsubscribe("once")
        let later = try world.enter(device: 2)
        #expect(later.queryPushes.isEmpty)
        later.disconnect()
        // Saved again it is another one.
        try first.subscribe(to: once)
        settle(world, first)
        let third = try world.enter(device: 2)
        third.forgetInbox()
        try first.save("b", in: "notes")
        #expect(third.queryNews == ["once b 1"])
    }

    @Test func `R-246: of two servers one sends the push`() throws {
        let world = SessionWorld(firesQueries: true)
        let second = world.anotherServer()
        let (first, other) = try pair(world, [TestClient.query("once", [.creation, .once])], second: second)
        let third = try world.enter(device: 3)
        // Both servers know the subscription.
        try first.modify([], deleting: ["none"])
        try other.modify([], deleting: ["none"])
        settle(world, first, other, third)
        let posted = try [first.saving("a", in: "notes"), other.saving("b", in: "notes")]
        first.post(.modifyRecords(posted[0]))
        other.post(.modifyRecords(posted[1]))
        world.scheduler.runUntilIdle()
        world.scheduler.advance(by: .seconds(1))
        #expect(third.queryPushes.filter(\.hasQuery).count == 1)
    }

    @Test func `R-249: devices at another server hear which record it is, and fetch the rest`() throws {
        let world = SessionWorld(firesQueries: true)
        let second = world.anotherServer()
        let (first, other) = try pair(
            world,
            [
                TestClient.query("q") {
                    $0.notificationInfo.desiredKeys = ["text"]
                    $0.notificationInfo.alertBody = "News"
                }
            ], second: second)
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(1))
        #expect(other.queryNews == ["q a 1"])
        let push = try #require(other.queryPushes.first)
        #expect(push.isPruned && push.query.fields.isEmpty && push.alert.alertBody == "News")
        #expect(first.queryPushes.isEmpty)
    }

    @Test func `R-247: a subscription that another server has saved fires here at once`() throws {
        let world = SessionWorld(firesQueries: true)
        let second = world.anotherServer()
        let (first, other) = try pair(world, [], second: second)
        // This server knows that there is none.
        try first.save("a", in: "notes")
        try other.subscribe(to: TestClient.query("q"))
        world.scheduler.advance(by: .seconds(1))
        other.forgetInbox()
        try first.save("b", in: "notes")
        world.scheduler.advance(by: .seconds(1))
        #expect(other.queryNews == ["q b 1"])
    }

    @Test func `I-4: a server that has missed notices knows at once which subscriptions there are now`() throws {
        let world = SessionWorld(firesQueries: true)
        let second = world.anotherServer()
        let (first, other) = try pair(world, [], second: second)
        // This server knows that there is none.
        try first.save("a", in: "notes")
        world.database.stopListening(world.server.listener)
        try other.subscribe(to: TestClient.query("q"))
        world.scheduler.advance(by: .seconds(1))
        world.server.hub.noticesMissed()
        world.scheduler.advance(by: .seconds(1))
        other.forgetInbox()
        try first.save("b", in: "notes")
        world.scheduler.advance(by: .seconds(1))
        #expect(other.queryNews == ["q b 1"])
    }

    @Test func `R-874, I-4: a gap of the bus of zones makes nobody fetch what queries find`() throws {
        let world = SessionWorld(firesQueries: true)
        let client = try world.enter(device: 1)
        try client.modify([try TestClient.note("first")], in: "_defaultZone", .public)
        try client.subscribe(to: TestClient.query("q"), in: .public)
        settle(world, client)
        for _ in 0..<10 { world.server.hub.zoneNoticesMissed() }
        world.scheduler.advance(by: .seconds(1))
        #expect(client.queryNews.isEmpty)
        for _ in 0..<10 { world.server.hub.noticesMissed() }
        world.scheduler.advance(by: .milliseconds(10))
        #expect(client.queryNews == ["q ?"])
    }

    private func notice(_ id: String, _ record: String, _ reason: QueryReason, of user: UserID) -> ServerNotice {
        .queryFired(
            QueryNotice(
                database: DatabaseID(0),
                subscriber: SubscriberKey(user: user, key: Subscription.Key(scope: .private, id: id)), reason: reason,
                record: QueryNotification.Record(name: record, zoneName: "notes"), maker: .nobody))
    }

    @Test func `R-249, R-723: a subscription that is not known yet delays its user alone, and keeps its order`() throws
    {
        let world = SessionWorld(firesQueries: true)
        let (alice, bob) = (try world.enter("alice", device: 1), try world.enter("bob", device: 2))
        try bob.subscribe(to: TestClient.query("q"))
        settle(world, alice, bob)
        let users = try ["alice", "bob"].map { name in
            guard case .success(let identity?) = try world.identity(of: name) else {
                throw SessionWorld.Unexpected(nil)
            }
            return identity.user
        }
        world.server.faults.always(.callSent, .delay(.seconds(5)))
        world.server.hub.heard([
            notice("new", "a", .created, of: users[0]), notice("q", "a", .created, of: users[1]),
        ])
        world.scheduler.advance(by: .milliseconds(10))
        #expect(bob.queryNews == ["q a 1"] && alice.queryNews.isEmpty)
        world.server.hub.heard([
            notice("q", "a", .deleted, of: users[1]), notice("new", "a", .deleted, of: users[0]),
        ])
        world.scheduler.advance(by: .milliseconds(10))
        #expect(bob.queryNews == ["q a 1", "q a 3"] && alice.queryNews.isEmpty)
        world.scheduler.advance(by: .seconds(20))
        #expect(alice.queryNews == ["new a 1", "new a 3"])
    }

    @Test func `I-4: who watches a database of which notices were lost is told, and nobody else`() throws {
        let world = SessionWorld(firesQueries: true)
        let (alice, bob) = (try world.enter("alice", device: 1), try world.enter("bob", device: 2))
        try alice.modify([try TestClient.note("first")], in: "_defaultZone", .public)
        try alice.subscribe(to: TestClient.query("public"), in: .public)
        try bob.subscribe(to: TestClient.query("own"))
        settle(world, alice, bob)
        let service = world.server.service
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        let database = try world.scheduler.complete { try await service.publicDatabase(of: container).get().database }
        world.server.hub.heard([.queriesLost(database)])
        world.scheduler.advance(by: .milliseconds(100))
        #expect(alice.queryNews == ["public ?"] && bob.queryNews.isEmpty)
        let own = try #require(world.database.privateDatabase(ofAccount: "bob", in: container))
        world.server.hub.heard([.queriesLost(own)])
        world.scheduler.advance(by: .milliseconds(100))
        #expect(alice.queryNews == ["public ?"] && bob.queryNews == ["own ?"])
        // However often that happens, they are told now and then.
        for _ in 0..<100 {
            world.server.hub.heard([.queriesLost(database)])
            world.scheduler.advance(by: .milliseconds(1))
        }
        world.scheduler.advance(by: .seconds(1))
        #expect((2...5).contains(alice.queryNews.count), "\(alice.queryNews.count)")
    }

    @Test func `R-253, R-939: whoever connects is told once for each subscription that records may have changed`()
        throws
    {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(
            world, [TestClient.query("a") { $0.notificationInfo.alertBody = "News" }, TestClient.query("b")])
        try first.subscribe(to: TestClient.query("c"), in: .public)
        other.disconnect()
        try first.save("x", in: "notes")
        let back = try world.enter(device: 2)
        #expect(back.queryNews.sorted() == ["a ?", "b ?", "c ?"])
        #expect(back.queryPushes.allSatisfy { $0.isPruned && !$0.hasAlert })
    }

    @Test func `R-253: while all is well nothing but the records is told`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(world, [TestClient.query("q")])
        for name in ["a", "b"] {
            try first.save(name, in: "notes")
            world.scheduler.advance(by: .seconds(60))
        }
        #expect(other.queryNews == ["q a 1", "q b 1"])
        #expect(first.queryNews.isEmpty)
    }

    @Test func `I-4: a notice that is lost is made up for by the sweep`() throws {
        let world = SessionWorld(firesQueries: true)
        let second = world.anotherServer()
        let (first, other) = try pair(world, [TestClient.query("q")], second: second)
        world.database.stopListening(second.listener)
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(60))
        #expect(other.queryNews == ["q ?"])
    }

    @Test func `R-249, I-5: in the public database all subscribers who may read the record hear of it`() throws {
        let world = SessionWorld(firesQueries: true)
        let (alice, bob) = (try world.enter("alice", device: 1), try world.enter("bob", device: 2))
        let twin = try world.enter("alice", device: 4)
        try alice.modify([try TestClient.note("first")], in: "_defaultZone", .public)
        for client in [alice, bob] { try client.subscribe(to: TestClient.query("q"), in: .public) }
        settle(world, alice, bob, twin)
        try alice.modify([try TestClient.note("a")], in: "_defaultZone", .public)
        #expect(alice.queryPushes.isEmpty)
        for client in [bob, twin] {
            #expect(client.queryNews == ["q a 1"])
            #expect(client.queryPushes.first?.database == .public)
        }
    }

    @Test func `R-240: a subscription that is deleted fires no more`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(world, [TestClient.query("q")])
        try first.unsubscribe("q")
        settle(world, first, other)
        try first.save("a", in: "notes")
        #expect(other.queryPushes.isEmpty)
    }

    @Test func `R-507: the end of a database subscription is told, also if a public query has its ID`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(world, [])
        try first.subscribe("news")
        try first.subscribe(to: TestClient.query("news"), in: .public)
        settle(world, first, other)
        try first.unsubscribe("news")
        world.scheduler.advance(by: .seconds(1))
        #expect(other.pushes.map(\.subscriptionID) == ["news"])
        #expect(other.pushes.map(\.kind) == [.database])
        // A query takes its place.
        try first.subscribe("news")
        settle(world, first, other)
        try first.subscribe(to: TestClient.query("news"))
        world.scheduler.advance(by: .seconds(1))
        #expect(other.pushes.contains { $0.kind == .database && $0.subscriptionID == "news" })
    }

    @Test func `R-030: a subscription to a query in a zone ends with the zone`() throws {
        let world = SessionWorld(firesQueries: true)
        let (first, other) = try pair(
            world, [TestClient.query("q") { $0.zone = TestClient.zone("notes") }])
        try first.deleteZone("notes")
        try first.makeZone("notes")
        settle(world, first, other)
        try first.save("a", in: "notes")
        #expect(other.queryPushes.isEmpty)
        #expect(try first.subscriptions().isEmpty)
    }

    @Test func `R-253: loops of one server push alike`() throws {
        let world = SessionWorld(loopCount: 2, firesQueries: true)
        let (first, other) = try pair(world, [TestClient.query("q")], second: world.loops[1])
        try first.save("a", in: "notes")
        #expect(other.queryNews == ["q a 1"])
        try other.save("b", in: "notes")
        #expect(first.queryNews == ["q b 1"])
    }
}
