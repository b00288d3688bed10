// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Devices of one server that are connected to different event loops of it.
@Suite struct HubSiblingsTests {
    private let world = SessionWorld(loopCount: 3) { $0.sessionsPerAccountMax = 4 }

    /// Alice's device 1 on the first loop, 2 and 3 on the others; subscribed, with a zone, and nothing left to be told.
    private func devices() throws -> [TestClient] {
        let clients = try (0..<3).map { try world.enter(device: UInt64($0 + 1), server: world.loops[$0]) }
        try clients[0].subscribe()
        try clients[0].makeZone("notes")
        quiet(clients)
        return clients
    }

    private func quiet(_ clients: [TestClient]) {
        world.scheduler.advance(by: .seconds(60))
        for client in clients { client.forgetInbox() }
    }

    private func names(_ client: TestClient) -> [[String]] { client.pushes.map { $0.zones.map(\.name) } }

    @Test func `R-248, R-249: a save is pushed at once to devices on all loops but the one that made it, and once`()
        throws
    {
        let clients = try devices()
        for writer in clients.indices {
            try clients[writer].save("r\(writer)", in: "notes")
            for reader in clients.indices {
                #expect(names(clients[reader]) == (reader == writer ? [] : [["notes"]]), "\(writer) to \(reader)")
            }
            quiet(clients)
        }
        try clients[1].save("once", in: "notes")
        // By then the notice to other servers has come back.
        world.scheduler.advance(by: .milliseconds(100))
        #expect(clients.map { names($0).count } == [1, 0, 1])
    }

    @Test func `what a loop commits other servers are told, and what they commit all loops`() throws {
        let clients = try devices()
        let remote = try world.enter(device: 4, server: world.anotherServer())
        quiet(clients + [remote])
        try clients[2].save("far", in: "notes")
        world.scheduler.advance(by: .milliseconds(10))
        #expect(names(remote) == [["notes"]])
        quiet(clients + [remote])
        try remote.save("near", in: "notes")
        world.scheduler.advance(by: .milliseconds(10))
        #expect(clients.map(names) == [[["notes"]], [["notes"]], [["notes"]]])
    }

    @Test func `I-4: a subscription made on one loop makes the others push at once`() throws {
        let clients = try (0..<3).map { try world.enter(device: UInt64($0 + 1), server: world.loops[$0]) }
        try clients[0].makeZone("notes")
        quiet(clients)
        try clients[1].subscribe()
        #expect(clients.allSatisfy { !$0.pushes.isEmpty }, "what they missed, they are told of")
        for client in clients { client.forgetInbox() }
        try clients[1].save("a", in: "notes")
        #expect(clients.map(names) == [[["notes"]], [], [["notes"]]])
    }

    @Test func `I-4: an older read of the subscriptions that ends late does not make a newer one forgotten`() throws {
        let clients = try (0..<2).map { try world.enter(device: UInt64($0 + 1), server: world.loops[$0]) }
        try clients[0].makeZone("notes")
        quiet(clients)
        let late = try world.enter(device: 3, server: world.loops[2])
        quiet(clients + [late])
        world.loops[2].faults.always(.callAnswered, .delay(.seconds(1)))
        try clients[0].save("old", in: "notes")
        world.loops[2].faults.always(.callAnswered, .none)
        world.scheduler.advance(by: .milliseconds(1))
        try clients[1].subscribe()
        world.scheduler.advance(by: .seconds(2))
        late.forgetInbox()
        try clients[0].save("a", in: "notes")
        #expect(names(late) == [["notes"]])
    }

    @Test func `I-4: notices that were missed are made good on all loops`() throws {
        let clients = try devices()
        let other = world.anotherServer()
        let remote = try world.enter(device: 4, server: other)
        quiet(clients)
        world.database.stopListening(world.server.listener)
        try remote.save("a", in: "notes")
        #expect(clients.map(\.pushes.count) == [0, 0, 0])
        world.server.hub.noticesMissed()
        world.scheduler.runUntilIdle()
        #expect(clients.map(\.pushes.count) == [1, 1, 1])
    }

    @Test func `a revoked credential cuts its connections on all loops`() throws {
        let credential = world.issue("guest")
        let guests = try (0..<3).map { try world.enter("guest", device: UInt64($0), server: world.loops[$0]) }
        let other = try world.enter("bob", server: world.loops[1])
        world.database.revokeCredential(credential)
        world.server.hub.heard([.credentialRevoked(credential)])
        world.scheduler.runUntilIdle()
        #expect(guests.map(\.closeCode) == [4401, 4401, 4401])
        #expect(other.closeCode == nil)
    }

    @Test func `I-7: an account's connections are counted over all loops`() throws {
        let clients = try (0..<4).map { try world.enter(device: UInt64($0), server: world.loops[$0 % 3]) }
        for loop in world.loops {
            let refused = world.connect(to: loop)
            _ = try refused.ask(.hello(SessionWorld.hello("alice", device: 9)))
            #expect(refused.closeCode == 4429)
        }
        _ = try world.enter("bob", server: world.loops[2])
        clients[0].disconnect()
        _ = try world.enter(device: 9, server: world.loops[2])
    }

    @Test func `I-7: of two devices that come to an account's last place at one moment, one gets it`() throws {
        for device in 0..<3 as Range<UInt64> {
            _ = try world.enter(device: device, server: world.loops[Int(device)])
        }
        let rivals = world.loops.prefix(2).map { world.connect(to: $0) }
        for (number, rival) in rivals.enumerated() {
            _ = rival.post(.hello(SessionWorld.hello("alice", device: 8 + UInt64(number))))
        }
        world.scheduler.runUntilIdle()
        #expect(rivals.map(\.closeCode).filter { $0 == nil }.count == 1)
    }

    @Test func `R-157: a request that is repeated on another loop is carried out once`() throws {
        let clients = try devices()
        let again = try world.enter(device: 1, server: world.loops[1])
        let request = try clients[0].saving("a", in: "notes")
        let (id, otherID) = (clients[0].post(.modifyRecords(request)), again.post(.modifyRecords(request)))
        world.scheduler.runUntilIdle()
        let answer = clients[0].answer(to: id)
        #expect(answer != nil && answer == again.answer(to: otherID))
        guard case .modifyRecords(let results)? = answer, case .saved? = results.zones.first?.saves.first?.result else {
            throw SessionWorld.Unexpected(answer)
        }
    }
}
