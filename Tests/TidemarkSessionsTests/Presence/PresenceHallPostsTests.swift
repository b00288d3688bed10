// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// What one server posts to others of presence, and how often.
@Suite struct PresenceHallPostsTests {
    @Test func `R-873, R-878: however many zones are open, presence is posted at the pace of the database`() throws {
        let bus = CountingBus(PostingPace(listeners: 50))
        let world = SessionWorld { $0.storeBus = bus }
        let client = try world.enter("alice", device: 1)
        let zones = (0..<16).map { "zone \($0)" }
        for name in zones { try client.makeZone(name) }
        for name in zones { try PresenceClient(client, TestClient.zone(name)).join() }
        world.scheduler.advance(by: .seconds(9))
        // The first zone at once. The others follow when the pace allows, eight zones together: each may have two notices.
        #expect((1...3).contains(bus.posts.count))
        #expect(Set(bus.posts.flatMap { $0 }.map(\.place)).count == zones.count)
        #expect(bus.posts.flatMap { $0 }.count == zones.count)
    }

    @Test func `R-878: what could not be posted is posted later, in its order, and messages are not`() throws {
        let bus = CountingBus(.quickest)
        let world = SessionWorld { $0.storeBus = bus }
        let other = world.anotherServer()
        let first = PresenceClient(try world.enter("alice", device: 1), TestClient.zone("notes"))
        try first.client.makeZone("notes")
        try first.join("one")
        let second = PresenceClient(try world.enter("alice", device: 2, server: other), first.zone)
        try second.join("two")
        world.scheduler.advance(by: .seconds(5))
        bus.fails(true)
        let before = bus.posts.count
        #expect(try first.publish("lost", message: "hello") == nil)
        world.scheduler.advance(by: .seconds(5))
        // Again each second, and nothing else before it.
        #expect((4...6).contains(bus.posts.count - before))
        #expect(try first.publish("newer") == nil)
        bus.fails(false)
        world.scheduler.advance(by: .seconds(3))
        let states = bus.posts[before...].flatMap { $0 }.flatMap(\.news.members).map {
            String(decoding: $0.state, as: UTF8.self)
        }
        #expect(states.last == "newer" && states.dropLast().allSatisfy { $0 == "lost" } && states.count >= 4)
        #expect(bus.posts[before...].flatMap { $0 }.filter { !$0.news.messages.isEmpty }.count == 1)
        // What had nothing but a message does not become something else.
        #expect(bus.posts.flatMap { $0 }.allSatisfy { !$0.news.isEmpty || $0.asks || $0.told.count > 0 })
    }

    @Test func `R-876: a server hears of a database for as long as somebody is present in one of its zones`() throws {
        let bus = CountingBus(.quickest)
        let world = SessionWorld { $0.bus = bus }
        let pair = try SharingPair(world)
        let bob = PresenceClient(pair.bob, pair.zone)
        // What its devices follow otherwise, and what the owner's do.
        pair.alice.disconnect()
        let before = bus.followed
        try bob.join("one")
        let new = Set(bus.followed.keys).subtracting(before.keys)
        #expect(new.count == 1)
        let owner = try #require(new.first)
        // Again, and refused, is nothing more.
        try bob.join("two")
        var none = pair.zone
        none.name = "none"
        #expect(try PresenceClient(pair.bob, none).refusal() == .zoneNotFound)
        #expect(bus.followed[owner] == 1)
        try bob.leave()
        world.scheduler.advance(by: .seconds(2))
        #expect(bus.followed == before)
        // The connection ends, or the member says nothing any more.
        try bob.join("three")
        #expect(bus.followed[owner] == 1)
        world.scheduler.advance(by: .seconds(20))
        #expect(bus.followed == before)
        try bob.join("four")
        pair.bob.disconnect()
        world.scheduler.advance(by: .seconds(2))
        #expect(bus.followed.isEmpty)
    }

    @Test func `R-878: a state, an end and a join reach other servers though the store was away`() throws {
        let world = SessionWorld()
        let other = world.anotherServer()
        let zone = TestClient.zone("notes")
        let first = PresenceClient(try world.enter("alice", device: 1), zone)
        try first.client.makeZone("notes")
        let third = PresenceClient(try world.enter("alice", device: 3), zone)
        let second = PresenceClient(try world.enter("alice", device: 2, server: other), zone)
        try first.join("one")
        try third.join("three")
        try second.join("two")
        world.scheduler.advance(by: .seconds(5))
        #expect(second.states == ["one", "two", "three"])
        world.server.faults.always(.callSent, .disconnect)
        #expect(try first.publish("lost") == nil)
        third.client.disconnect()
        world.scheduler.advance(by: .seconds(3))
        world.server.faults.always(.callSent, .none)
        world.scheduler.advance(by: .seconds(3))
        #expect(second.states == ["lost", "two"])
    }
}

/// A bus that brings nothing, and remembers each post.
private final class CountingBus: NoticeBus {
    let pace: PostingPace
    private struct State {
        var posts: [[PresenceNotice]] = []
        var followed: [BusTopic: Int] = [:]
        var fails = false
    }

    private let state = Mutex(State())

    init(_ pace: PostingPace) {
        self.pace = pace
    }

    var posts: [[PresenceNotice]] { state.withLock { $0.posts } }
    /// How often each topic was followed and not left.
    var followed: [BusTopic: Int] { state.withLock { $0.followed } }
    func fails(_ fails: Bool) { state.withLock { $0.fails = fails } }

    var returnsOwn: Bool { true }

    func publish(_ notices: [ServerNotice]) async -> Bool {
        state.withLock { state in
            state.posts.append(notices.compactMap { if case .presence(let notice) = $0 { notice } else { nil } })
            return !state.fails
        }
    }

    func follow(_ topics: [BusTopic]) {
        state.withLock { for topic in topics { $0.followed[topic, default: 0] += 1 } }
    }

    func leave(_ topics: [BusTopic]) {
        state.withLock { state in
            for topic in topics {
                guard let count = state.followed[topic] else {
                    Issue.record("\(topic) was left and not followed")
                    continue
                }
                state.followed[topic] = count > 1 ? count - 1 : nil
            }
        }
    }

    func start(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onGap: @escaping @Sendable () -> Void
    ) {}
    func stop() {}
}
