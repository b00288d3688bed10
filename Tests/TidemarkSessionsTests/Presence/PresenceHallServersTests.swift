// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// Presence at several servers.
@Suite struct PresenceHallServersTests {
    private func present(_ world: SessionWorld, _ device: UInt64, _ server: SessionWorld.Server) throws
        -> PresenceClient
    {
        PresenceClient(try world.enter("alice", device: device, server: server), TestClient.zone("notes"))
    }

    @Test func `R-878: devices at two servers see each other, and messages come once`() throws {
        let world = SessionWorld()
        let other = world.anotherServer()
        let first = try present(world, 1, world.server)
        try first.client.makeZone("notes")
        let second = try present(world, 2, other)
        try first.join("one")
        #expect(try second.join("two") == ["two"])
        world.scheduler.advance(by: .seconds(2))
        #expect(first.states == ["one", "two"] && second.states == ["one", "two"])
        try second.publish("three", message: "hello")
        world.scheduler.advance(by: .seconds(1))
        #expect(first.states == ["one", "three"] && first.messages == ["hello"] && second.messages == ["hello"])
        // Whoever comes now is told at once of all.
        let third = try present(world, 3, world.server)
        #expect(try third.join("also") == ["one", "three", "also"])
        second.client.disconnect()
        world.scheduler.advance(by: .seconds(1))
        #expect(first.states == ["one", "also"])
    }

    @Test func `R-878: members of a server that is not heard any more are gone after 15 seconds, and come back`() throws
    {
        let world = SessionWorld()
        let other = world.anotherServer()
        let first = try present(world, 1, world.server)
        try first.client.makeZone("notes")
        let second = try present(world, 2, other)
        try first.join("one")
        try second.join("two")
        func pass(_ count: Int) throws {
            for _ in 0..<count {
                world.scheduler.advance(by: .seconds(4))
                #expect(try first.publish() == nil)
                #expect(try second.publish() == nil)
            }
        }
        try pass(5)
        #expect(first.states == ["one", "two"] && second.states == ["one", "two"])
        other.faults.always(.callSent, .disconnect)
        try pass(6)
        #expect(first.states == ["one"])
        #expect(second.states == ["one", "two"])
        other.faults.always(.callSent, .none)
        try pass(6)
        #expect(first.states == ["one", "two"] && second.states == ["one", "two"])
    }

    @Test func `R-878: one place of two servers is told of twice a second, and nothing while nobody is present`() throws
    {
        let world = SessionWorld()
        let other = world.anotherServer()
        let first = try present(world, 1, world.server)
        try first.client.makeZone("notes")
        world.scheduler.advance(by: .seconds(20))
        let calls = world.server.faults.count(of: .notice)
        world.scheduler.advance(by: .seconds(20))
        #expect(world.server.faults.count(of: .notice) == calls)
        let second = try present(world, 2, other)
        try first.join("one")
        try second.join("two")
        world.scheduler.advance(by: .seconds(2))
        let before = world.server.faults.count(of: .notice)
        for value in 0..<40 {
            try first.publish("\(value)")
            world.scheduler.advance(by: .milliseconds(110))
        }
        // Ten notices of news and one that says that it is here, for each of two listeners.
        #expect((8...26).contains(world.server.faults.count(of: .notice) - before))
        world.scheduler.advance(by: .seconds(1))
        #expect(second.states == ["39", "two"])
    }

    @Test func `R-878: a member who came back while notices were lost is seen, and the one before is gone`() throws {
        let world = SessionWorld()
        let other = world.anotherServer()
        let first = try present(world, 1, world.server)
        try first.client.makeZone("notes")
        let second = try present(world, 2, other)
        let third = try present(world, 3, other)
        try first.join("one")
        try second.join("two")
        try third.join("three")
        world.scheduler.advance(by: .seconds(3))
        other.faults.always(.notice, .disconnect)
        second.client.disconnect()
        let again = try present(world, 2, other)
        try again.join("again")
        world.scheduler.advance(by: .seconds(1))
        #expect(first.states == ["one", "two", "three"])
        other.faults.always(.notice, .none)
        world.scheduler.advance(by: .seconds(8))
        #expect(first.states == ["one", "again", "three"])
    }

    @Test func `R-878: a server that may have missed notices asks at once who is where`() throws {
        let world = SessionWorld()
        let other = world.anotherServer()
        let first = try present(world, 1, world.server)
        try first.client.makeZone("notes")
        let second = try present(world, 2, other)
        try first.join("one")
        try second.join("two")
        world.scheduler.advance(by: .milliseconds(6_500))
        // A state has no number: nobody would notice that it was lost.
        other.faults.always(.notice, .disconnect)
        #expect(try second.publish("three") == nil)
        world.scheduler.advance(by: .milliseconds(100))
        other.faults.always(.notice, .none)
        world.server.hub.noticesMissed()
        world.scheduler.advance(by: .seconds(2))
        #expect(first.states == ["one", "three"])
    }

    @Test func `R-878: what two servers say of a place comes to rest`() {
        var (one, two) = (PresenceOthers(), PresenceOthers())
        let start = Duration.zero
        #expect(one.say(now: start) == .ask)
        #expect(one.say(now: .seconds(9)) == .nothing)
        #expect(one.say(now: .seconds(10)) == .ask)
        // The other one begins, and asks.
        #expect(two.say(now: .seconds(16)) == .ask)
        #expect(one.hears(2, asks: true, now: .seconds(16)) == true)
        #expect(one.say(now: .seconds(16)) == .ask)
        #expect(two.hears(1, asks: true, now: .seconds(16)) == true)
        // It is urgent, and comes when a second is over.
        #expect(two.say(now: .milliseconds(16_999)) == .nothing)
        #expect(two.say(now: .seconds(17)) == .ask)
        #expect(one.hears(2, asks: true, now: .seconds(17)) == true)
        #expect(one.say(now: .seconds(17)) == .here)
        #expect(two.hears(1, asks: false, now: .seconds(17)) == false)
        #expect(one.say(now: .seconds(18)) == .nothing)
        #expect(two.say(now: .seconds(18)) == .nothing)
        #expect(one.say(now: .seconds(22)) == .here)
        one.forget(life: .seconds(15), now: .seconds(32))
        #expect(one.isEmpty)
    }

    @Test func `R-878: whatever two servers miss of each other, they say so once a second, and ask every five`() {
        var servers = [PresenceOthers(), PresenceOthers()]
        var (said, asked) = (0, 0)
        for step in 0..<60_000 {
            let now = Duration.milliseconds(step)
            for (index, other) in [(0, 1), (1, 0)] {
                let say = servers[index].say(now: now)
                guard say != .nothing else { continue }
                said += 1
                if say == .ask { asked += 1 }
                _ = servers[other].hears(UInt64(index), asks: say == .ask, now: now)
                // Each lacks members of the other for ever.
                servers[other].misses(now: now)
            }
        }
        #expect(said <= 2 * 61 && asked <= 2 * 14)
    }

    @Test func `R-878: servers that lack many members of each other do not answer each other without a pause`() throws {
        let world = SessionWorld()
        let other = world.anotherServer()
        for server in [world.server, other] { server.faults.always(.notice, .delay(.milliseconds(2))) }
        let first = try present(world, 1, world.server)
        try first.client.makeZone("notes")
        try first.join("one")
        let state = String(repeating: "x", count: 200)
        let crowd = try (2...13).map { try present(world, $0, other) }
        for (index, client) in crowd.enumerated() { try client.join("\(index)\(state)") }
        world.scheduler.advance(by: .seconds(10))
        #expect(first.states.count == 13)
        // The place ends here, and begins again before the other server has forgotten this one.
        try first.leave()
        for client in crowd { try client.publish() }
        world.scheduler.advance(by: .seconds(1))
        func posts() -> Int { [world.server, other].reduce(0) { $0 + $1.faults.count(of: .notice) } / 2 }
        let before = posts()
        try first.join("again")
        world.scheduler.advance(by: .seconds(10))
        #expect(posts() - before <= 40)
        #expect(first.states.count == 13)
    }

    @Test func `R-878: members who find no room at another server are not asked for without an end`() throws {
        let world = SessionWorld { $0.presence.membersPerUserMax = 4 }
        let other = world.anotherServer { $0.presence.membersPerUserMax = 4 }
        // All join before the servers have heard of each other.
        for server in [world.server, other] { server.faults.always(.notice, .delay(.milliseconds(500))) }
        let here = try (1...3).map { try present(world, $0, world.server) }
        try here[0].client.makeZone("notes")
        let there = try (4...6).map { try present(world, $0, other) }
        for (index, client) in (here + there).enumerated() { try client.join("\(index)") }
        func pass(_ count: Int, with clients: [PresenceClient]) throws {
            for _ in 0..<count {
                world.scheduler.advance(by: .seconds(5))
                for client in clients { #expect(try client.publish() == nil) }
            }
        }
        try pass(4, with: here + there)
        func posts() -> Int { [world.server, other].reduce(0) { $0 + $1.faults.count(of: .notice) } / 2 }
        let before = posts()
        try pass(4, with: here + there)
        // Each says every five seconds that it is here, and nothing else.
        #expect(posts() - before <= 12)
        #expect(here[0].states.count == 4)
        // Once there is room, the others come.
        here[1].client.disconnect()
        here[2].client.disconnect()
        try pass(3, with: [here[0]] + there)
        #expect(here[0].states.count == 4 && there[0].states.count == 4)
    }
}
