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
