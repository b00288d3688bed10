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

/// Who is present with whom, and within which bounds.
@Suite struct PresenceHallTests {
    private func pair(_ world: SessionWorld) throws -> (PresenceClient, PresenceClient) {
        let first = try world.enter("alice", device: 1)
        try first.makeZone("notes")
        let second = try world.enter("alice", device: 2)
        let zone = TestClient.zone("notes")
        return (PresenceClient(first, zone), PresenceClient(second, zone))
    }

    @Test func `R-865, R-878: two devices of a user see each other, and their messages`() throws {
        let world = SessionWorld()
        let (first, second) = try pair(world)
        #expect(try first.join("one") == ["one"])
        #expect(try second.join("two") == ["one", "two"])
        world.scheduler.advance(by: .milliseconds(100))
        #expect(first.states == ["one", "two"])
        #expect(try second.publish("three", message: "hello") == nil)
        world.scheduler.advance(by: .milliseconds(100))
        #expect(first.states == ["one", "three"] && first.messages == ["hello"])
        // With the sender's name, and to the sender too.
        let message = first.news.flatMap(\.messages).first
        #expect(message?.member == second.member && message?.user.hasPrefix("_") == true)
        #expect(second.messages == ["hello"])

        try second.leave()
        world.scheduler.advance(by: .milliseconds(100))
        #expect(first.states == ["one"])
        let count = second.news.count
        #expect(try first.publish("four") == nil)
        world.scheduler.advance(by: .seconds(1))
        #expect(second.news.count == count)
        #expect(try second.publish("five") == .invalidArguments)
    }

    @Test func `R-878: whoever loses the connection is gone at once, and whoever is silent after 15 seconds`() throws {
        let world = SessionWorld()
        let (first, second) = try pair(world)
        try first.join("one")
        try second.join("two")
        world.scheduler.advance(by: .milliseconds(100))
        second.client.disconnect()
        world.scheduler.advance(by: .milliseconds(100))
        #expect(first.states == ["one"])

        let third = PresenceClient(try world.enter("alice", device: 3), TestClient.zone("notes"))
        try third.join("three")
        for _ in 0..<4 {
            world.scheduler.advance(by: .seconds(5))
            #expect(try first.publish() == nil)
        }
        #expect(first.states == ["one"])
        #expect(try third.publish("again") == .invalidArguments)
        #expect(third.client.closeCode == nil)
    }

    @Test func `R-878: pushes of one zone come 20 times a second at most, with the newest states`() throws {
        let world = SessionWorld()
        let (first, second) = try pair(world)
        try first.join("one")
        try second.join("two")
        world.scheduler.advance(by: .seconds(5))
        let before = first.news.count
        for value in 0..<18 {
            #expect(try second.publish("state \(value)") == nil)
            world.scheduler.advance(by: .milliseconds(10))
        }
        world.scheduler.advance(by: .milliseconds(100))
        #expect((3...6).contains(first.news.count - before))
        #expect(first.states == ["one", "state 17"])
    }

    @Test func `R-877: a greedy device is told so, and its connection stays`() throws {
        let world = SessionWorld()
        let (first, second) = try pair(world)
        try first.join("one")
        try second.join("two")
        var refused = 0
        for value in 0..<1_000 {
            guard let code = try second.publish("state \(value)") else { continue }
            #expect(code == .zoneBusy)
            refused += 1
        }
        #expect(refused > 950 && second.client.closeCode == nil)
        #expect(second.client.failures.allSatisfy { $0.retryAfterSeconds > 0 })
        // Others of the account have buckets of their own, and it may go on after the delay.
        #expect(try first.publish("here") == nil)
        world.scheduler.advance(by: .seconds(3))
        #expect(try second.publish("there") == nil)
        world.scheduler.advance(by: .milliseconds(100))
        #expect(first.states == ["here", "there"])
    }

    @Test func `R-877: a state and a message have 1,024 bytes at most`() throws {
        let world = SessionWorld()
        let (first, _) = try pair(world)
        let (most, more) = (String(repeating: "x", count: 1_024), String(repeating: "x", count: 1_025))
        #expect(try first.refusal(more) == .limitExceeded)
        #expect(try first.join(most) == [most])
        #expect(try first.publish(more) == .limitExceeded)
        #expect(try first.publish(message: more) == .limitExceeded)
        #expect(try first.publish(most, message: most) == nil)
    }

    @Test func `R-877: places of a connection and of a user in a zone are bounded`() throws {
        let world = SessionWorld {
            $0.presence.placesPerConnectionMax = 2
            $0.presence.placesPerAccountMax = 3
            $0.presence.membersPerUserMax = 2
        }
        let (first, second) = try pair(world)
        for name in ["a", "b", "c"] { try first.client.makeZone(name) }
        func present(_ client: PresenceClient, _ name: String) -> PresenceClient {
            PresenceClient(client.client, TestClient.zone(name))
        }
        try first.join("1")
        let inA = present(first, "a")
        try inA.join("1")
        #expect(try present(first, "b").refusal() == .limitExceeded)
        // Again is no other place.
        #expect(try first.join("2") == ["2"])
        #expect(try second.join("3") == ["2", "3"])
        #expect(try present(second, "b").refusal() == .limitExceeded)
        try inA.leave()
        let third = PresenceClient(try world.enter("alice", device: 3), TestClient.zone("notes"))
        #expect(try third.refusal() == .limitExceeded)
        try present(third, "b").join("4")
    }

    @Test func `R-865: only custom zones that live have presence, and only for those with an account`() throws {
        let world = SessionWorld()
        let (first, _) = try pair(world)
        #expect(try PresenceClient(first.client, TestClient.zone("none")).refusal() == .zoneNotFound)
        #expect(try PresenceClient(first.client, TestClient.zone(ZoneName.default)).refusal() == .invalidArguments)
        var request = first.request("")
        request.database = .public
        #expect(try first.client.ask(.joinPresence(request))?.code == .badDatabase)
        request.database = .shared
        #expect(try first.client.ask(.joinPresence(request))?.code == .zoneNotFound)
        try first.join("one")
        try first.client.deleteZone("notes")
        world.scheduler.advance(by: .seconds(1))
        #expect(first.end == .zoneNotFound)
        #expect(try first.publish("two") == .invalidArguments)
        try first.client.makeZone("notes")
        #expect(try first.join("three") == ["three"])
    }

    @Test func `R-877: a connection that does not read is left out, and told everything when it reads again`() throws {
        let world = SessionWorld()
        let (first, second) = try pair(world)
        try first.join("one")
        try second.join("two")
        world.scheduler.advance(by: .seconds(1))
        first.client.takesAnswers(false)
        let large = String(repeating: "x", count: 1_000)
        for value in 0..<200 {
            #expect(try second.publish("\(value)\(large)") == nil)
            world.scheduler.advance(by: .milliseconds(150))
            // It is not silent, only slow.
            if value.isMultiple(of: 20) { first.client.post(.publishPresence(first.publishing())) }
        }
        #expect(first.client.queuedByteCount < 80_000)
        #expect(second.states.contains("199\(large)"))
        first.client.takesAnswers(true)
        world.scheduler.advance(by: .seconds(2))
        #expect(first.news.contains { $0.isWhole })
        #expect(first.states == ["one", "199\(large)"])
    }

    @Test func `R-878: the event loops of a server are one place`() throws {
        let world = SessionWorld(loopCount: 3)
        let first = try world.enter("alice", device: 1, server: world.loops[0])
        try first.makeZone("notes")
        var clients = [first]
        for loop in 1...2 {
            clients.append(try world.enter("alice", device: UInt64(loop) + 1, server: world.loops[loop]))
        }
        let present = clients.map { PresenceClient($0, TestClient.zone("notes")) }
        for (index, client) in present.enumerated() { try client.join("\(index)") }
        world.scheduler.advance(by: .milliseconds(200))
        #expect(present[0].states == ["0", "1", "2"])
        try present[2].publish("two", message: "hello")
        world.scheduler.advance(by: .milliseconds(200))
        #expect(present.allSatisfy { $0.messages == ["hello"] })
        #expect(present[1].states.contains("two"))
    }

    @Test func `R-878: a push that is under way when a place ends does not silence the one that begins then`() throws {
        let world = SessionWorld()
        let (first, second) = try pair(world)
        try first.join("one")
        world.scheduler.advance(by: .seconds(1))
        let (hub, topic) = (world.server.hub, first.topic)
        let hall = hub.presence
        let session = try #require(hub.session(numbered: 1))
        let identity = try #require(session.member?.identity)
        let room = try #require(hall.state.withLock { $0.rooms.values.first })
        let (place, key) = (room.place, room.key)
        // The push of the second state is planned for later. Between it and its sending the place ends, and begins again.
        #expect(try first.publish("two") == nil)
        #expect(try first.publish("three") == nil)
        _ = world.scheduler.schedule(after: .milliseconds(50)) {
            hall.leave(session, topic: topic)
            let again = try? hall.join(
                session, identity, place: place, key: key, isOwner: true, state: Array("again".utf8),
                changeCount: hall.changeCount(in: key.database))
            #expect(again != nil && again?.topic != topic)
        }
        world.scheduler.advance(by: .seconds(1))
        #expect(hall.state.withLock { $0.rooms.values.map(\.sendingCount) } == [0])
        #expect(try second.join("four") == ["again", "four"])
        world.scheduler.advance(by: .seconds(1))
        #expect(second.states.contains("four"))
    }

    @Test func `R-865, I-5: nobody joins by access that was read before a change of the shares was heard`() throws {
        let world = SessionWorld()
        let (first, _) = try pair(world)
        try first.join("one")
        let hub = world.server.hub
        let hall = hub.presence
        let session = try #require(hub.session(numbered: 2))
        let identity = try #require(session.member?.identity)
        let room = try #require(hall.state.withLock { $0.rooms.values.first })
        let (place, key) = (room.place, room.key)
        func join(_ changeCount: UInt64) throws -> PresenceHall.Joined? {
            try hall.join(
                session, identity, place: place, key: key, isOwner: true, state: [], changeCount: changeCount)
        }
        let before = hall.changeCount(in: key.database)
        hall.zonesMoved(
            [ZoneNotice(database: key.database, life: .nobody, zoneName: key.name, changesShares: true)], heardBy: hub)
        #expect(try join(before) == nil)
        #expect(hall.state.withLock { $0.rooms[place]?.seats.count } == 1)
        #expect(try join(hall.changeCount(in: key.database))?.members.count == 2)
    }

    @Test func `R-294: the 256 places of an account are looked at in steps, and others have turns between`() throws {
        let world = SessionWorld()
        for number in 0..<16 {
            let client = try world.enter("alice", device: UInt64(number) + 1)
            for place in 0..<16 {
                let name = "zone \(number) \(place)"
                try client.makeZone(name)
                try PresenceClient(client, TestClient.zone(name)).join("here")
            }
            world.scheduler.advance(by: .milliseconds(100))
        }
        let hall = world.server.hub.presence
        // What other work sees, whenever it has its turn.
        let seen = Mutex<[Int]>([])
        let scheduler = world.scheduler
        @Sendable func look(_ turnsLeft: Int) {
            _ = scheduler.schedule(after: .zero) {
                let count = hall.state.withLock { $0.rooms.values.count { !$0.seats.isEmpty } }
                seen.withLock { $0.append(count) }
                if turnsLeft > 0 { look(turnsLeft - 1) }
            }
        }
        look(0)
        scheduler.runUntilIdle()
        // Nobody says any more that they are there.
        scheduler.sleepOver(20, isMonotonicStill: false)
        look(50)
        scheduler.runUntilIdle()
        let counts = seen.withLock { $0 }
        #expect(counts.first == 256 && counts.last == 0)
        let removed = zip(counts, counts.dropFirst()).map { $0 - $1 }.filter { $0 > 0 }
        #expect(removed.count >= 4 && removed.allSatisfy { $0 <= 64 }, "\(counts)")
    }

    @Test func `R-865: nothing is planned or read while nobody is present`() throws {
        let world = SessionWorld()
        let (first, _) = try pair(world)
        let hall = world.server.hub.presence
        #expect(hall.state.withLock { $0.rooms.isEmpty && !$0.isTicking })
        try first.join("one")
        #expect(hall.state.withLock { $0.rooms.count == 1 && $0.isTicking })
        try first.leave()
        world.scheduler.advance(by: .seconds(2))
        #expect(
            hall.state.withLock { state in
                state.rooms.isEmpty && state.places.isEmpty && state.connections.isEmpty && state.counts.isEmpty
                    && !state.isTicking
            })
    }
}
