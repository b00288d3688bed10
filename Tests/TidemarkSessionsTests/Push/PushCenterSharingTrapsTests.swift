// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// How pushes to shared databases could go wrong, and must not.
@Suite struct PushCenterSharingTrapsTests {
    @Test func `F-3, I-5, R-328: with every notice lost, no push brings what came after the removal`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let pair = try SharingPair(world, second: second)
        try pair.bob.subscribeToShared()
        let token = try pair.bob.sharedChanges().token
        world.scheduler.advance(by: .seconds(60))
        for listener in [world.server.listener, second.listener] { world.database.stopListening(listener) }
        pair.bob.forgetInbox()
        _ = try pair.alice.share("notes", .noAccess, tag: try pair.newestTag())
        for name in ["b", "c", "d"] {
            try pair.alice.save(name, in: "notes")
            world.scheduler.advance(by: .seconds(60))
        }
        #expect(!pair.bob.pushes.isEmpty, "the sweep makes up for the notices")
        #expect(pair.bob.inbox.flatMap(\.records).isEmpty)
        #expect(pair.bob.pushes.allSatisfy { $0.zones.isEmpty && !$0.hasChanges })
        let after = try pair.bob.sharedChanges(token: token)
        #expect(after.ended.map(\.zone) == [pair.zone] && after.changed.isEmpty)
    }

    @Test func `F-16, R-248, R-355: a participant with the owner's device and life silences nobody`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1, life: 7)
        try alice.makeZone("notes")
        let share = try alice.share("notes", .readWrite)
        let bob = try world.enter("bob", device: 1, life: 7)
        let zone = try bob.join(share.share.link)
        try alice.subscribe()
        try bob.subscribeToShared()
        world.scheduler.advance(by: .seconds(60))
        for client in [alice, bob] { client.forgetInbox() }
        #expect(try bob.save("b", in: zone) == nil)
        world.scheduler.advance(by: .milliseconds(10))
        #expect(alice.pushes.count == 1 && bob.pushes.isEmpty)
        for client in [alice, bob] { client.forgetInbox() }
        try alice.save("a", in: "notes")
        world.scheduler.advance(by: .milliseconds(10))
        #expect(bob.pushes.count == 1 && alice.pushes.isEmpty)
    }

    /// A device whose reads are slow connects, drops and connects again.
    @Test func `I-4: whichever read of a connection ends after the next one began, changes are pushed at once`() throws
    {
        for (first, second, point) in slowReads {
            let world = SessionWorld()
            let pair = try SharingPair(world)
            try pair.bob.subscribeToShared()
            let server = world.anotherServer()
            func connect(_ slow: Int, _ delay: Duration) -> TestClient {
                server.faults.always(point, .delay(delay), after: slow)
                let client = world.connect(to: server)
                client.post(.hello(SessionWorld.hello("bob", device: 2)))
                world.scheduler.runUntilIdle()
                server.faults.always(point, .none)
                return client
            }
            let early = connect(first, .seconds(3))
            world.scheduler.advance(by: .seconds(1))
            early.disconnect()
            let late = connect(second, .seconds(4))
            // The sweep has no part in it.
            world.scheduler.advance(by: .seconds(7))
            #expect(!late.pushes.isEmpty, "\(point) \(first) \(second)")
            late.forgetInbox()
            try pair.alice.save("b", in: "notes")
            world.scheduler.advance(by: .milliseconds(200))
            #expect(late.pushes.count == 1, "\(point) \(first) \(second)")
        }
    }

    /// Which call of the first connection is slow, and which of the second.
    private var slowReads: [(Int, Int, FaultPoint)] {
        (0..<6).flatMap { first in
            (0..<6).flatMap { second in [FaultPoint.callSent, .callAnswered].map { (first, second, $0) } }
        }
    }

    @Test func `I-4: subscriptions of another server that cannot be read at once are read later`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let pair = try SharingPair(world)
        let there = try world.enter("bob", device: 2, server: second)
        world.scheduler.advance(by: .seconds(60))
        second.faults.always(.callSent, .reject)
        try pair.bob.subscribeToShared()
        world.scheduler.advance(by: .seconds(1))
        #expect(there.pushes.isEmpty)
        second.faults.always(.callSent, .none)
        world.scheduler.advance(by: .seconds(60))
        #expect(!there.pushes.isEmpty)
        there.forgetInbox()
        try pair.alice.save("b", in: "notes")
        world.scheduler.advance(by: .milliseconds(200))
        #expect(there.pushes.count == 1)
    }

    @Test func `R-739: the end of a zone of one's own has no list read, neither then nor later`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        try alice.subscribe()
        for zone in ["a", "b"] { try alice.makeZone(zone) }
        world.scheduler.advance(by: .seconds(300))
        let before = world.server.faults.count(of: .callSent)
        world.scheduler.advance(by: .seconds(300))
        let usual = world.server.faults.count(of: .callSent) - before
        try alice.deleteZone("a")
        var request = WireFetchDatabaseChanges()
        request.database = .private
        let answer = try alice.ask(.fetchDatabaseChanges(request))
        guard case .fetchDatabaseChanges(let first)? = answer else { throw SessionWorld.Unexpected(answer) }
        try alice.deleteZone("b")
        request.token = first.token
        let next = try alice.ask(.fetchDatabaseChanges(request))
        guard case .fetchDatabaseChanges(let changes)? = next else { throw SessionWorld.Unexpected(next) }
        #expect(changes.ended.map(\.zone.name) == ["b"])
        world.scheduler.advance(by: .seconds(300))
        let after = world.server.faults.count(of: .callSent)
        world.scheduler.advance(by: .seconds(300))
        #expect(world.server.faults.count(of: .callSent) - after == usual)
    }

    @Test func `I-4: who subscribes while the store fails is pushed to as soon as it does not`() throws {
        for loopCount in [1, 2] {
            for spared in 0..<6 {
                let world = SessionWorld(loopCount: loopCount)
                let pair = try SharingPair(world)
                let there = try world.enter("bob", device: 2, server: world.loops[loopCount - 1])
                world.scheduler.advance(by: .seconds(60))
                for loop in world.loops { loop.faults.always(.callSent, .reject, after: spared) }
                let isSubscribed = (try? pair.bob.subscribeToShared()) != nil
                for loop in world.loops { loop.faults.always(.callSent, .none) }
                if !isSubscribed { try pair.bob.subscribeToShared() }
                world.scheduler.advance(by: .seconds(60))
                for client in [pair.bob, there] {
                    #expect(!client.pushes.isEmpty, "\(loopCount) \(spared)")
                    client.forgetInbox()
                }
                try pair.alice.save("b", in: "notes")
                world.scheduler.advance(by: .milliseconds(200))
                #expect([pair.bob, there].map(\.pushes.count) == [1, 1], "\(loopCount) \(spared)")
            }
        }
    }
}
