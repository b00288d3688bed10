// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
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

    // MARK: Lists

    private func quiet(_ world: SessionWorld, _ clients: TestClient...) {
        world.scheduler.advance(by: .seconds(60))
        for client in clients { client.forgetInbox() }
    }

    /// How many pushes each has got meanwhile, which it forgets.
    private func told(_ world: SessionWorld, _ clients: TestClient...) -> [Int] {
        world.scheduler.advance(by: .milliseconds(200))
        return clients.map { client in
            defer { client.forgetInbox() }
            return client.pushes.count
        }
    }

    @Test func `I-4, R-334: whoever subscribes, accepts, edits or leaves at one server is heard at the other`() throws {
        for loopCount in [1, 2] {
            let world = SessionWorld(loopCount: loopCount)
            let second = world.anotherServer()
            // Bob's second device has been there for long when his first one subscribes elsewhere.
            let there = try world.enter("bob", device: 2, server: second)
            let alice = try world.enter("alice", device: 1)
            let hers = try world.enter("alice", device: 2, server: second)
            let bob = try world.enter("bob", device: 1, server: world.loops[loopCount - 1])
            quiet(world, alice, bob, there)
            try bob.subscribeToShared()
            #expect(told(world, bob, there) == [1, 1])

            var links: [String] = []
            for zone in ["a", "b"] {
                try alice.makeZone(zone)
                links.append(try alice.share(zone, .readWrite).share.link)
            }
            #expect(told(world, bob, there) == [0, 0])
            let zones = try links.map { link in
                let zone = try bob.join(link)
                #expect(told(world, bob, there) == [1, 1], "accepted")
                return zone
            }
            for zone in ["a", "b"] {
                try alice.save("1", in: zone)
                #expect(told(world, bob, there) == [1, 1], "at the server where Bob accepted")
                try hers.save("2", in: zone)
                #expect(told(world, bob, there) == [1, 1], "at the other one")
            }
            try there.leave(zones[0])
            #expect(told(world, bob, there).allSatisfy { $0 > 0 })
            try alice.save("3", in: "a")
            #expect(told(world, bob, there) == [0, 0], "left")
            try hers.save("3", in: "b")
            #expect(told(world, bob, there) == [1, 1])
        }
    }

    @Test func `R-328, I-5: a device that does not fetch hears of nothing after its user was removed`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let pair = try SharingPair(world)
        try pair.bob.subscribeToShared()
        let there = try world.enter("bob", device: 2, server: second)
        quiet(world, pair.bob, there)
        _ = try pair.alice.share("notes", .noAccess, tag: try pair.newestTag())
        #expect(told(world, pair.bob, there) == [1, 1])
        try pair.alice.save("b", in: "notes")
        #expect(told(world, pair.bob, there) == [0, 0])
    }

    @Test func `R-327, I-5: after a zone was deleted nobody hears of another one of its name`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        try pair.bob.subscribeToShared()
        let there = try world.enter("bob", device: 2, server: world.anotherServer())
        quiet(world, pair.bob, there)
        try pair.alice.deleteZone("notes")
        #expect(told(world, pair.bob, there) == [1, 1])
        try pair.alice.makeZone("notes")
        try pair.alice.save("d", in: "notes")
        #expect(told(world, pair.bob, there) == [0, 0])
    }

    @Test func `I-4: who relies on a subscription of another server is pushed to, if no notice came`() throws {
        let world = SessionWorld()
        let second = world.anotherServer()
        let pair = try SharingPair(world)
        let hers = try world.enter("alice", device: 2, server: second)
        let there = try world.enter("bob", device: 2, server: second)
        world.database.stopListening(second.listener)
        try pair.bob.subscribeToShared()
        quiet(world, there)
        var request = WireFetchDatabaseChanges()
        request.database = .shared
        request.subscriptionID = "shared"
        let answer = try there.ask(.fetchDatabaseChanges(request))
        guard case .fetchDatabaseChanges(let changes)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(!changes.subscriptionMissing)
        #expect(told(world, there) == [1])
        try hers.save("b", in: "notes")
        #expect(told(world, there) == [1])
    }

    @Test func `R-507: a subscription of the shared database that ends at one server is told at the other`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        try pair.bob.subscribeToShared()
        let there = try world.enter("bob", device: 2, server: world.anotherServer())
        quiet(world, there)
        var request = WireModifySubscriptions()
        request.database = .shared
        request.deletes = ["shared"]
        _ = try pair.bob.ask(.modifySubscriptions(request))
        #expect(told(world, there) == [1])
        try pair.alice.save("b", in: "notes")
        #expect(told(world, there) == [0])
    }

    @Test func `R-253: a device that connects is told once that its shared database may have changed`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        try pair.bob.subscribeToShared()
        #expect(told(world, pair.bob) == [1], "subscribed")
        for server in [world.server, world.anotherServer()] {
            for device in 2...3 as ClosedRange<UInt64> {
                let client = try world.enter("bob", device: device, server: server)
                #expect(told(world, client) == [1])
            }
        }
        #expect(told(world, pair.bob) == [0])
    }

    @Test func `R-739, I-4: a device that finds no turn for its list misses nothing but a notice`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        try pair.bob.subscribeToShared()
        // Nobody waits there.
        let second = world.anotherServer {
            $0.wholeDatabases = FairBounds(room: 1, roomPerOwner: 1, waitingMax: 0, waitingPerOwnerMax: 0)
        }
        let hers = try world.enter("alice", device: 9, server: second)
        // What the first server has told the second is over. Of another notice his device would be told as well.
        #expect(told(world, pair.bob) == [1], "subscribed")
        second.faults.next(.callSent, .delay(.seconds(5)))
        var request = WireFetchDatabaseChanges()
        request.database = .private
        hers.post(.fetchDatabaseChanges(request))
        world.scheduler.runUntilIdle()
        let refused = try world.enter("bob", device: 2, server: second)
        #expect(told(world, refused) == [1])
        try pair.alice.save("not noticed", in: "notes")
        #expect(told(world, refused) == [0])
        world.scheduler.advance(by: .seconds(10))
        #expect(refused.pushes.count == 1)
        refused.forgetInbox()
        try pair.alice.save("b", in: "notes")
        #expect(told(world, refused) == [1])
    }

    // MARK: Many viewers

    /// Viewers of a zone of Alice's, subscribed, with nothing left to be told.
    private func crowd(_ world: SessionWorld, count: Int) throws -> (alice: TestClient, viewers: [TestClient]) {
        let alice = try world.enter("alice", device: 1)
        try alice.makeZone("notes")
        let link = try alice.share("notes", .readWrite).share.link
        let viewers = try (0..<count).map { number in
            world.issue("viewer \(number)")
            let viewer = try world.enter("viewer \(number)", device: 1)
            try viewer.subscribeToShared()
            _ = try viewer.join(link)
            return viewer
        }
        world.scheduler.advance(by: .seconds(30))
        for viewer in viewers { viewer.forgetInbox() }
        return (alice, viewers)
    }

    @Test func `R-769, R-739: one read of the sweep is for many shared databases`() throws {
        let world = SessionWorld()
        let (alice, viewers) = try crowd(world, count: 40)
        let before = world.server.faults.count(of: .callSent)
        world.scheduler.advance(by: .seconds(10))
        let calls = world.server.faults.count(of: .callSent) - before
        #expect(calls > 0 && calls < 10, "\(calls)")
        // An edit reads nothing for those who are told of it.
        let beforeEdit = world.server.faults.count(of: .callSent)
        try alice.save("a", in: "notes")
        world.scheduler.advance(by: .milliseconds(200))
        #expect(viewers.allSatisfy { $0.pushes.count == 1 })
        #expect(world.server.faults.count(of: .callSent) - beforeEdit < 10)
    }

    @Test func `R-723: an edit is answered before its many viewers are told, and each is told once`() throws {
        let world = SessionWorld()
        let (alice, viewers) = try crowd(world, count: 90)
        let toldBefore = Mutex<Int?>(nil)
        alice.onMessage { envelope in
            guard envelope.id != 0 else { return }
            toldBefore.withLock { $0 = viewers.count { !$0.pushes.isEmpty } }
        }
        try alice.save("a", in: "notes")
        #expect(toldBefore.withLock { $0 } == 0)
        #expect(viewers.allSatisfy { $0.pushes.count == 1 })
    }
}
