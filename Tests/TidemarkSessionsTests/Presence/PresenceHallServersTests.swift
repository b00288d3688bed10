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

    @Test func `R-878: what two servers say of a place comes to rest`() {
        var (one, two) = (PresenceOthers(), PresenceOthers())
        let start = Duration.zero
        #expect(one.say(now: start) == .ask)
        #expect(one.say(now: .seconds(14)) == .nothing)
        #expect(one.say(now: .seconds(15)) == .ask)
        // The other one begins, and asks.
        #expect(two.say(now: .seconds(16)) == .ask)
        #expect(one.hears(2, asks: true, now: .seconds(16)) == true)
        #expect(one.say(now: .seconds(16)) == .ask)
        #expect(two.hears(1, asks: true, now: .seconds(16)) == true)
        #expect(two.say(now: .seconds(16)) == .ask)
        #expect(one.hears(2, asks: true, now: .seconds(16)) == true)
        #expect(one.say(now: .seconds(16)) == .here)
        #expect(two.hears(1, asks: false, now: .seconds(16)) == false)
        #expect(one.say(now: .seconds(17)) == .nothing)
        #expect(two.say(now: .seconds(17)) == .nothing)
        #expect(one.say(now: .seconds(21)) == .here)
        one.forget(life: .seconds(15), now: .seconds(31))
        #expect(one.isEmpty)
    }
}
