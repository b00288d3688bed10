// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// The subscriptions of accounts that are in many containers.
@Suite struct SubscriptionMemoryTests {
    private func subscriptions(byteCount: Int) -> [Subscription] {
        [
            Subscription(
                id: "all", scope: .private, kind: .database, recordType: nil,
                notificationInfo: Array(repeating: 0, count: byteCount))
        ]
    }

    @Test func `R-726: an account has so many bytes in memory, and what was read last stays`() {
        var memory = SubscriptionMemory(bytesPerAccountMax: 10_000)
        let (alice, bob) = (AccountID(1), AccountID(2))
        func keep(_ byteCount: Int, _ database: Int64, _ account: AccountID) -> [DatabaseID] {
            memory.keep(subscriptions(byteCount: byteCount), of: DatabaseID(database), for: account)
        }
        #expect(keep(4_000, 1, alice) == [])
        #expect(keep(4_000, 2, alice) == [])
        #expect(keep(9_000, 10, bob) == [], "another account's do not matter")
        // Read again: it is the newer one from now on.
        #expect(keep(4_000, 1, alice) == [])
        #expect(keep(4_000, 3, alice) == [DatabaseID(2)])
        #expect(keep(90_000, 4, alice) == [DatabaseID(1), DatabaseID(3)], "one database's are kept, however many")
        memory.forget(DatabaseID(4), of: alice)
        #expect(keep(9_000, 5, alice) == [], "what has left takes no room")
    }

    /// A device in a container of its own.
    private func enter(
        _ world: SessionWorld, _ container: String, device: UInt64, server: SessionWorld.Server? = nil
    ) throws -> TestClient {
        let client = world.connect(to: server)
        var hello = SessionWorld.hello("alice", device: device)
        hello.container = container
        let answer = try client.ask(.hello(hello))
        guard case .hello? = answer else { throw SessionWorld.Unexpected(answer) }
        return client
    }

    /// Of each device, whether its server knows its subscriptions: while the store cannot be asked, it pushes to those alone.
    private func areKnown(
        _ others: [TestClient], to server: SessionWorld.Server, _ makers: [TestClient], _ world: SessionWorld
    ) throws -> [Bool] {
        for other in others { other.forgetInbox() }
        server.faults.always(.callSent, .disconnect)
        for maker in makers {
            try maker.save("unread", in: "notes", text: "\(world.scheduler.now)")
            world.scheduler.advance(by: .milliseconds(10))
        }
        let known = others.map { !$0.pushes.isEmpty }
        server.faults.always(.callSent, .none)
        world.scheduler.advance(by: .seconds(60))
        #expect(others.allSatisfy { !$0.pushes.isEmpty }, "repaired")
        for other in others { other.forgetInbox() }
        return known
    }

    @Test func `R-726, I-4: whose subscriptions were forgotten is pushed to all the same`() throws {
        let world = SessionWorld()
        let second = world.anotherServer { $0.subscriptionBytesPerAccountMax = 1 }
        let pairs = try (0..<3).map { number in
            let container = "iCloud.dev.many\(number)"
            let first = try enter(world, container, device: 1)
            try first.subscribe()
            try first.makeZone("notes")
            return (first, try enter(world, container, device: 2, server: second))
        }
        world.scheduler.advance(by: .seconds(60))
        for round in 0..<3 {
            for (index, (first, other)) in pairs.enumerated() {
                for (_, each) in pairs { each.forgetInbox() }
                try first.save("a", in: "notes", text: "\(round)")
                world.scheduler.advance(by: .milliseconds(10))
                #expect(pairs.map(\.1.pushes.count) == pairs.indices.map { $0 == index ? 1 : 0 })
                #expect(other.pushes.first?.zones.map(\.name) == ["notes"])
            }
        }
        let known = try areKnown(pairs.map(\.1), to: second, pairs.map(\.0), world)
        #expect(known == [false, false, true], "those that were read last")
    }

    @Test func `R-726, I-4: however often subscriptions change, a loop reads them once more at a time`() throws {
        let world = SessionWorld(loopCount: 2)
        let first = try world.enter(device: 1)
        try first.subscribe()
        let faults = world.loops[1].faults
        let other = try world.enter(device: 2, server: world.loops[1])
        world.scheduler.advance(by: .seconds(61))
        other.forgetInbox()
        faults.always(.callSent, .delay(.seconds(1)))
        let before = faults.count(of: .callSent)
        var request = WireModifySubscriptions()
        request.database = .private
        request.deletes = ["none"]
        for _ in 0..<50 {
            let answer = try first.ask(.modifySubscriptions(request))
            guard case .modifySubscriptions? = answer else { throw SessionWorld.Unexpected(answer) }
        }
        try first.subscribe("more")
        // Before the next sweep.
        world.scheduler.advance(by: .seconds(5))
        #expect(faults.count(of: .callSent) - before == 2, "one that was under way, and the next")
        #expect(Set(other.pushes.map(\.subscriptionID)) == ["all", "more"], "the last change is known")
    }

    @Test func `R-726: who comes while subscriptions are read shares the next read, for the least age`() {
        var reads = SubscriptionReads()
        let (alice, bob) = (DatabaseID(1), DatabaseID(2))
        let first = reads.want(alice, ageMax: .seconds(30))
        let second = reads.want(alice, ageMax: nil)
        let third = reads.want(alice, ageMax: .zero)
        let fourth = reads.want(alice, ageMax: .seconds(30))
        #expect(first.isMine && second.isMine && !third.isMine && !fourth.isMine)
        #expect(first.read !== second.read && second.read === third.read && second.read === fourth.read)
        let others = reads.want(bob, ageMax: nil)
        #expect(others.isMine, "another's beside it")
        let next = reads.ended(of: alice)
        #expect(next?.read === second.read && next?.ageMax == .zero)
        let fifth = reads.want(alice, ageMax: nil)
        #expect(fifth.isMine && fifth.read !== second.read)
        let last = reads.ended(of: alice)
        let nothing = reads.ended(of: alice)
        #expect(last?.read === fifth.read && nothing == nil)
        let anew = reads.want(alice, ageMax: nil)
        #expect(anew.isMine)
    }

    @Test func `R-777, I-4: devices of many containers are told, also if their pushes wait for each other`() throws {
        let world = SessionWorld()
        let server = world.anotherServer { $0.subscriptionBytesPerAccountMax = 1 }
        let containers = (0..<3).map { "iCloud.dev.crowd\($0)" }
        let makers = try containers.map { container in
            let maker = try enter(world, container, device: 1)
            for id in 10..<30 { try maker.subscribe("s\(id)") }
            try maker.makeZone("notes")
            return maker
        }
        let others = try containers.map { container in
            try (0..<60).map { try enter(world, container, device: UInt64($0 + 2), server: server) }
        }
        world.scheduler.advance(by: .seconds(60))
        for other in others.joined() { other.forgetInbox() }
        // Each round's pushes take several steps, and all three databases have some.
        for round in 0..<3 {
            for maker in makers { try maker.save("a", in: "notes", text: "\(round)") }
        }
        world.scheduler.advance(by: .seconds(60))
        for other in others.joined() {
            let told = Set(other.pushes.filter { $0.zones.map(\.name) == ["notes"] }.map(\.subscriptionID))
            #expect(told == Set((10..<30).map { "s\($0)" }))
        }
    }

    @Test func `R-726, I-4: a lost notice of a database whose subscriptions were forgotten is repaired by the sweep`()
        throws
    {
        let world = SessionWorld()
        let second = world.anotherServer { $0.subscriptionBytesPerAccountMax = 1 }
        let containers = ["iCloud.dev.one", "iCloud.dev.two"]
        let makers = try containers.map { container in
            let maker = try enter(world, container, device: 1)
            try maker.subscribe()
            try maker.makeZone("notes")
            return maker
        }
        let others = try containers.map { try enter(world, $0, device: 2, server: second) }
        world.scheduler.advance(by: .seconds(60))
        #expect(try areKnown(others, to: second, makers, world).count { $0 } == 1)
        world.database.stopListening(second.listener)
        for maker in makers { try maker.save("a", in: "notes") }
        world.scheduler.advance(by: .seconds(10))
        #expect(others.map(\.pushes.count) == [1, 1])
        let hub = second.hub
        _ = world.database.listen { hub.heard($0) }
        #expect(try areKnown(others, to: second, makers, world).count { $0 } == 1)
    }
}
