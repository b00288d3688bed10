// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// What makes the store read all zones of a database.
@Suite struct RequestGatesWholeDatabaseTests {
    /// A device of an account in a container.
    private struct Seat {
        var account = "alice"
        var container = SessionWorld.container
        let device: UInt64

        var hello: WireHello {
            var hello = SessionWorld.hello(account, device: device)
            hello.container = container
            return hello
        }

        func enter(_ world: SessionWorld) throws -> TestClient {
            let client = world.connect()
            let answer = try client.ask(.hello(hello))
            guard case .hello? = answer else { throw SessionWorld.Unexpected(answer) }
            return client
        }
    }

    private static var changes: WireClientEnvelope.OneOfRequest {
        var request = WireFetchDatabaseChanges()
        request.database = .private
        return .fetchDatabaseChanges(request)
    }

    /// How long it takes until it is so, while each call of the store takes a second.
    private func slowTime(in world: SessionWorld, _ begin: () -> Void, until isDone: () -> Bool) -> Duration {
        world.server.faults.always(.callSent, .delay(.seconds(1)))
        let start = world.scheduler.now
        begin()
        world.scheduler.runUntilIdle()
        while !isDone(), world.scheduler.now - start < .seconds(100) {
            world.scheduler.advance(by: .milliseconds(250))
        }
        return world.scheduler.now - start
    }

    @Test func `R-739: one account's fetches of database changes are made one by one, and another's beside them`()
        throws
    {
        func time(_ seats: [Seat]) throws -> Duration {
            let world = SessionWorld()
            let clients = try seats.map { try $0.enter(world) }
            for client in clients { client.forgetInbox() }
            return slowTime(in: world) {
                for client in clients { client.post(Self.changes) }
            } until: {
                clients.allSatisfy { $0.inbox.contains { $0.id != 0 } }
            }
        }
        let alice = Seat(device: 1)
        let alone = try time([alice])
        #expect(alone < .seconds(100))
        #expect(try time([alice, Seat(account: "bob", device: 2)]) == alone)
        #expect(try time([alice, Seat(device: 2)]) > alone)
        // Whichever containers they are in.
        #expect(try time([alice, Seat(container: "iCloud.dev.other", device: 2)]) > alone)
    }

    @Test func `R-739: a loop reads a bounded number of whole databases at once, of however many accounts`() throws {
        func time(_ count: Int) throws -> Duration {
            let world = SessionWorld { $0.wholeDatabases.room = 3 }
            for number in 0..<count { world.issue("user \(number)") }
            let clients = try (0..<count).map { try Seat(account: "user \($0)", device: UInt64($0 + 1)).enter(world) }
            for client in clients { client.forgetInbox() }
            return slowTime(in: world) {
                for client in clients { client.post(Self.changes) }
            } until: {
                clients.allSatisfy { $0.inbox.contains { $0.id != 0 } }
            }
        }
        let alone = try time(1)
        #expect(try time(3) == alone)
        #expect(try time(4) > alone)
    }

    @Test func `R-739: devices that are the first of an account's databases come one by one, another's beside them`()
        throws
    {
        /// Until each has had its first push.
        func time(_ seats: [Seat]) throws -> Duration {
            let world = SessionWorld()
            for seat in seats {
                let client = try seat.enter(world)
                try client.subscribe()
                client.disconnect()
            }
            world.scheduler.runUntilIdle()
            let clients = seats.map { _ in world.connect() }
            return slowTime(in: world) {
                for (client, seat) in zip(clients, seats) { client.post(.hello(seat.hello)) }
            } until: {
                clients.allSatisfy { !$0.pushes.isEmpty }
            }
        }
        let alice = Seat(device: 1)
        let beside = try time([alice, Seat(account: "bob", device: 2)])
        #expect(try beside == time([alice]))
        #expect(try time([alice, Seat(container: "iCloud.dev.other", device: 2)]) > beside)
        // The second device of a database finds what the first one has read.
        #expect(try time([alice, Seat(device: 2)]) == beside)
    }

    @Test func `R-739, I-4: a device that found no turn for its mark misses nothing, also if another finds one later`()
        throws
    {
        let world = SessionWorld()
        let writer = try world.enter(device: 1)
        try writer.subscribe()
        try writer.makeZone("notes")
        // Nobody waits there.
        let second = world.anotherServer {
            $0.wholeDatabases = FairBounds(room: 1, roomPerOwner: 1, waitingMax: 0, waitingPerOwnerMax: 0)
        }
        let bob = try world.enter("bob", device: 9, server: second)
        second.faults.next(.callSent, .delay(.seconds(5)))
        bob.post(Self.changes)
        world.scheduler.runUntilIdle()
        let refused = try world.enter(device: 2, server: second)
        #expect(refused.pushes.count == 1)
        refused.forgetInbox()
        world.database.stopListening(second.listener)
        try writer.save("lost", in: "notes")

        // Bob has his answer, before the first sweep.
        world.scheduler.advance(by: .seconds(5))
        let later = try world.enter(device: 3, server: second)
        #expect(later.failures.isEmpty && refused.pushes.isEmpty)
        world.scheduler.advance(by: .seconds(5))
        #expect(refused.pushes.count == 1)
        refused.forgetInbox()
        world.scheduler.advance(by: .seconds(60))
        #expect(refused.pushes.isEmpty)
    }
}
