// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Pushes to those with whom zones are shared.
@Suite struct PushCenterSharingTests {
    @Test func `R-248, R-334: a change is pushed to participants on every server, without a word of what it is`() throws
    {
        for hasTwoServers in [false, true] {
            let world = SessionWorld()
            let pair = try SharingPair(world, second: hasTwoServers ? world.anotherServer() : nil)
            try pair.alice.subscribe()
            try pair.bob.subscribeToShared()
            world.scheduler.advance(by: .seconds(60))
            for client in [pair.alice, pair.bob] { client.forgetInbox() }
            try pair.alice.save("b", in: "notes")
            world.scheduler.advance(by: .milliseconds(10))
            #expect(pair.alice.pushes.isEmpty && pair.bob.pushes.count == 1)
            let push = try #require(pair.bob.pushes.first)
            #expect(
                push.database == .shared && push.subscriptionID == "shared" && push.zones.isEmpty && !push.hasChanges)

            for client in [pair.alice, pair.bob] { client.forgetInbox() }
            #expect(try pair.bob.save("c", in: pair.zone) == nil)
            world.scheduler.advance(by: .milliseconds(10))
            #expect(pair.bob.pushes.isEmpty && pair.alice.pushes.count == 1)
        }
    }

    @Test func `R-318, R-334: a zone that is accepted is pushed to all devices, and its changes from then on`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        try alice.makeZone("notes")
        let share = try alice.share("notes", .readWrite)
        let bob = try world.enter("bob", device: 1)
        try bob.subscribeToShared()
        let other = try world.enter("bob", device: 2)
        world.scheduler.advance(by: .seconds(60))
        for client in [bob, other] { client.forgetInbox() }
        _ = try bob.join(share.share.link)
        #expect(!bob.pushes.isEmpty && !other.pushes.isEmpty)
        for client in [bob, other] { client.forgetInbox() }
        try alice.save("a", in: "notes")
        #expect(bob.pushes.count == 1 && other.pushes.count == 1)
    }

    @Test func `R-328, I-5: who was removed is told of the end, and of nothing that happens later`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        try pair.bob.subscribeToShared()
        world.scheduler.advance(by: .seconds(60))
        let token = try pair.bob.sharedChanges().token
        pair.bob.forgetInbox()
        _ = try pair.alice.share("notes", .noAccess, tag: try pair.newestTag())
        #expect(pair.bob.pushes.count == 1)
        #expect(try pair.bob.sharedChanges(token: token).ended.count == 1)
        pair.bob.forgetInbox()
        try pair.alice.save("b", in: "notes")
        world.scheduler.advance(by: .seconds(60))
        let told = pair.bob.pushes.count
        // The sweep after the end may tell of it once more.
        #expect(told <= 1)
        pair.bob.forgetInbox()
        for name in ["c", "d"] {
            try pair.alice.save(name, in: "notes")
            world.scheduler.advance(by: .seconds(60))
        }
        #expect(pair.bob.pushes.isEmpty)
    }

    @Test func `I-4: a lost notice is made up for by the sweep, for participants too`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let pair = try SharingPair(world, second: second)
        try pair.bob.subscribeToShared()
        world.scheduler.advance(by: .seconds(60))
        pair.bob.forgetInbox()
        world.database.stopListening(second.listener)
        try pair.alice.save("b", in: "notes")
        #expect(pair.bob.pushes.isEmpty)
        world.scheduler.advance(by: .seconds(10))
        #expect(pair.bob.pushes.count == 1)
    }

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
}
