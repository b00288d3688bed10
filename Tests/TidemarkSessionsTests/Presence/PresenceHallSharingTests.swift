// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Presence in zones that are shared, and its end.
@Suite struct PresenceHallSharingTests {
    private func present(_ pair: SharingPair) -> (PresenceClient, PresenceClient) {
        (PresenceClient(pair.alice, TestClient.zone("notes")), PresenceClient(pair.bob, pair.zone))
    }

    @Test func `R-865: owner and participant see each other, with their names`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world, .readOnly)
        let (alice, bob) = present(pair)
        try alice.join("alice")
        #expect(try bob.join("bob") == ["alice", "bob"])
        world.scheduler.advance(by: .milliseconds(100))
        #expect(alice.states == ["alice", "bob"])
        try alice.publish("here", message: "hello")
        world.scheduler.advance(by: .milliseconds(100))
        #expect(bob.states == ["here", "bob"] && bob.messages == ["hello"])
        #expect(bob.news.flatMap(\.messages).map(\.user) == [pair.zone.owner])
    }

    @Test func `R-865, I-5: for a stranger the zone is not there, and a link alone opens nothing`() throws {
        let world = SessionWorld()
        world.issue("carol")
        let pair = try SharingPair(world)
        let carol = try world.enter("carol", device: 1)
        #expect(try PresenceClient(carol, pair.zone).refusal() == .zoneNotFound)
        var none = pair.zone
        none.name = "none"
        #expect(try PresenceClient(carol, none).refusal() == .zoneNotFound)
    }

    @Test func `R-865, I-5: whoever leaves or is removed hears nothing more, at once`() throws {
        for ends in [0, 1] {
            let world = SessionWorld()
            let pair = try SharingPair(world)
            let (alice, bob) = present(pair)
            try alice.join("alice")
            try bob.join("bob")
            world.scheduler.advance(by: .milliseconds(100))
            if ends == 0 {
                try pair.bob.leave(pair.zone)
            } else {
                let answer = try pair.alice.ask(.modifyRecords(ShareRequests.endShare(of: "notes", pair.alice.stamp())))
                guard case .modifyRecords? = answer else { throw SessionWorld.Unexpected(answer) }
            }
            #expect(bob.end == .zoneNotFound)
            let count = bob.news.count
            #expect(try alice.publish("secret", message: "secret") == nil)
            world.scheduler.advance(by: .seconds(1))
            #expect(bob.news.count == count && alice.states == ["secret"])
            #expect(try bob.publish("still here") == .invalidArguments)
            #expect(try bob.refusal() == .zoneNotFound)
        }
    }

    @Test func `R-865, I-5: with all notices lost, a removed participant is there until the sweep and no longer`()
        throws
    {
        let world = SessionWorld()
        let other = world.anotherServer()
        let pair = try SharingPair(world)
        let (alice, bob) = present(pair)
        try alice.join("alice")
        try bob.join("bob")
        // The share ends at another server, and nobody tells this one.
        world.database.stopListening(world.server.listener)
        let elsewhere = try world.enter("alice", device: 9, server: other)
        let answer = try elsewhere.ask(.modifyRecords(ShareRequests.endShare(of: "notes", elsewhere.stamp())))
        guard case .modifyRecords? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(bob.end == nil)
        world.scheduler.advance(by: .seconds(11))
        #expect(bob.end == .zoneNotFound)
        #expect(try alice.publish("secret") == nil)
        world.scheduler.advance(by: .seconds(1))
        #expect(!bob.states.contains("secret"))
    }

    @Test func `R-865, I-5: whose access cannot be read hears nothing, and may come back`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        let (alice, bob) = present(pair)
        try alice.join("alice")
        try bob.join("bob")
        world.server.faults.always(.callSent, .disconnect)
        for _ in 0..<6 {
            world.scheduler.advance(by: .seconds(5))
            try alice.publish()
            try bob.publish()
        }
        #expect(bob.end == .serviceUnavailable && alice.end == nil)
        world.server.faults.always(.callSent, .none)
        #expect(try bob.join("again").contains("again"))
    }

    @Test func `R-865: people of one hierarchy never hear of those of another, and the owner may be with each`() throws
    {
        let world = SessionWorld()
        world.issue("carol")
        let alice = try world.enter("alice", device: 1)
        try alice.makeZone(HierarchyRequests.zoneName)
        func share(_ root: String, _ name: String) throws -> String {
            let answer = try alice.ask(
                HierarchyRequests.modifying(
                    HierarchyRequests.zone(),
                    [
                        try HierarchyRequests.note(root, "text"),
                        HierarchyRequests.share(name, root: root, .readWrite),
                    ], alice.stamp()))
            guard case .modifyRecords(let records)? = answer,
                case .saved(let saved)? = records.zones.first?.saves.last?.result
            else { throw SessionWorld.Unexpected(answer) }
            return saved.record.share.link
        }
        let (toBob, toCarol) = (try share("one", "share-one"), try share("two", "share-two"))
        let bobs = try world.enter("bob", device: 1)
        let carols = try world.enter("carol", device: 1)
        let zone = try bobs.join(toBob)
        #expect(try carols.join(toCarol) == zone)

        // Whoever sees a part must say which, and sees no other.
        #expect(try PresenceClient(bobs, zone).refusal() == .invalidArguments)
        #expect(try PresenceClient(bobs, zone, share: "share-two").refusal() == .unknownItem)
        #expect(try PresenceClient(bobs, zone, share: "none").refusal() == .unknownItem)
        let bob = PresenceClient(bobs, zone, share: "share-one")
        let carol = PresenceClient(carols, zone, share: "share-two")
        let own = ["", "share-one", "share-two"].map {
            PresenceClient(alice, HierarchyRequests.zone(), share: $0)
        }
        #expect(try bob.join("bob") == ["bob"])
        #expect(try carol.join("carol") == ["carol"])
        #expect(try own[0].join("alice") == ["alice"])
        #expect(try own[1].join("alice") == ["alice", "bob"])
        #expect(try own[2].join("alice") == ["alice", "carol"])
        try bob.publish("bob", message: "to one")
        try own[0].publish("whole", message: "to nobody")
        world.scheduler.advance(by: .seconds(1))
        #expect(bob.states == ["alice", "bob"] && carol.states == ["alice", "carol"])
        #expect(carol.messages.isEmpty && own[1].messages == ["to one"] && own[2].messages.isEmpty)

        // The end of one share ends one of them.
        let answer = try alice.ask(
            HierarchyRequests.modifying(HierarchyRequests.zone(), deleting: ["share-one"], alice.stamp()))
        guard case .modifyRecords? = answer else { throw SessionWorld.Unexpected(answer) }
        world.scheduler.advance(by: .seconds(1))
        #expect(bob.end == .zoneNotFound && own[1].end == .zoneNotFound)
        #expect(carol.end == nil && own[0].end == nil && own[2].end == nil)
    }
}
