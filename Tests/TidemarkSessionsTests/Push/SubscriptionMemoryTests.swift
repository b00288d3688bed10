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
    private func enter(_ world: SessionWorld, _ container: String, device: UInt64) throws -> TestClient {
        let client = world.connect()
        var hello = SessionWorld.hello("alice", device: device)
        hello.container = container
        let answer = try client.ask(.hello(hello))
        guard case .hello? = answer else { throw SessionWorld.Unexpected(answer) }
        return client
    }

    @Test func `R-726, I-4: whose subscriptions were forgotten is pushed to all the same`() throws {
        let world = SessionWorld { $0.subscriptionBytesPerAccountMax = 1 }
        let pairs = try (0..<3).map { number in
            let container = "iCloud.dev.many\(number)"
            let first = try enter(world, container, device: 1)
            try first.subscribe()
            try first.makeZone("notes")
            return (first, try enter(world, container, device: 2))
        }
        world.scheduler.advance(by: .seconds(60))
        for round in 0..<3 {
            for (index, (first, other)) in pairs.enumerated() {
                for (_, each) in pairs { each.forgetInbox() }
                try first.save("a", in: "notes", text: "\(round)")
                #expect(pairs.map(\.1.pushes.count) == pairs.indices.map { $0 == index ? 1 : 0 })
                #expect(other.pushes.first?.zones.map(\.name) == ["notes"])
                #expect(world.server.hub.pushes.knownCount == 1)
            }
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
        let others = try containers.map { container in
            let other = world.connect(to: second)
            var hello = SessionWorld.hello("alice", device: 2)
            hello.container = container
            _ = try other.ask(.hello(hello))
            return other
        }
        world.scheduler.advance(by: .seconds(60))
        for other in others { other.forgetInbox() }
        world.database.stopListening(second.listener)
        for maker in makers { try maker.save("a", in: "notes") }
        #expect(second.hub.pushes.knownCount == 1)
        world.scheduler.advance(by: .seconds(10))
        #expect(others.map(\.pushes.count) == [1, 1])
        #expect(second.hub.pushes.knownCount == 1)
    }
}
