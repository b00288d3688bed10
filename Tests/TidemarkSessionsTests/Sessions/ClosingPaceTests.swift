// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct ClosingPaceTests {
    @Test(arguments: [
        (0, 0), (1, 20_000), (499, 20_000), (500, 20_000), (1_000, 10_000), (5_000, 2_000), (20_000, 500),
    ])
    func `R-875: sessions are closed evenly over ten seconds, and few of them sooner`(count: Int, microseconds: Int) {
        #expect(ClosingPace(sessionCount: count, within: .seconds(10)).interval == .microseconds(microseconds))
        #expect(ClosingPace(sessionCount: count, within: .zero).interval == .zero)
    }

    @Test
    func `R-875: a server that restarts closes one session after another with 1012, and serves the rest meanwhile`()
        throws
    {
        let world = SessionWorld()
        let clients = try (1...10).map { try world.enter(device: UInt64($0)) }
        let hub = world.server.hub
        let stopping = world.scheduler.run { await hub.stop(patience: .seconds(10), spread: .seconds(10)) }
        world.scheduler.advance(by: .milliseconds(90))
        #expect(clients.map { $0.closeCode != nil } == (1...10).map { $0 <= 5 })
        // Who is not closed yet has answers, and nobody new comes.
        let id = clients[9].post(TestClient.zonesRequest)
        world.scheduler.advance(by: .milliseconds(1))
        guard case .fetchZones? = clients[9].answer(to: id) else {
            Issue.record("not answered: \(clients[9].inbox)")
            return
        }
        #expect(world.connect().closeCode != nil)
        world.scheduler.advance(by: .milliseconds(110))
        #expect(clients.allSatisfy { $0.closeCode == 1012 })
        world.scheduler.runUntilIdle()
        #expect(try world.hasNoSession(hub))
        stopping.cancel()
    }

    @Test func `R-875: while a session waits for its last answers, later requests are left to the next server`() throws
    {
        let world = SessionWorld()
        let busy = try world.enter(device: 1)
        world.server.faults.always(.callSent, .delay(.seconds(1)))
        // Four of them run, and two wait.
        let ids = (0..<6).map { _ in busy.post(TestClient.zonesRequest) }
        world.scheduler.advance(by: .milliseconds(1))
        let hub = world.server.hub
        let stopping = world.scheduler.run { await hub.stop(patience: .seconds(10), spread: .seconds(10)) }
        world.scheduler.advance(by: .milliseconds(100))
        let later = busy.post(TestClient.zonesRequest)
        world.scheduler.advance(by: .seconds(9))
        #expect(busy.closeCode == 1012)
        #expect(ids.map { busy.answer(to: $0) != nil } == [true, true, true, true, false, false])
        #expect(busy.answer(to: later) == nil, "an answer would make the device wait before it sends it again")
        stopping.cancel()
    }

    @Test
    func `R-875, I-4: a connection that waits for its turn is told of what others change, also if a notice is lost`()
        throws
    {
        let world = SessionWorld { $0.sweepInterval = .seconds(1) }
        let second = world.anotherServer()
        let first = try world.enter(device: 1, server: second)
        try first.makeZone("notes")
        try first.subscribe()
        // Each has its turn 20 ms after the one before.
        for account in 0..<10 { world.issue("user \(account)") }
        for number in UInt64(1)...150 { _ = try world.enter("user \(number % 10)", device: number) }
        let last = try world.enter(device: 2)
        world.scheduler.advance(by: .seconds(60))
        last.forgetInbox()
        let hub = world.server.hub
        let stopping = world.scheduler.run { await hub.stop(patience: .seconds(10), spread: .seconds(10)) }
        world.scheduler.advance(by: .milliseconds(1))
        world.database.stopListening(world.server.listener)
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(2))
        #expect(last.closeCode == nil && last.pushes.count == 1)
        world.scheduler.advance(by: .seconds(2))
        #expect(last.closeCode == 1012)
        stopping.cancel()
    }

    @Test
    func
        `R-875: a session with a request under way is closed when it is answered, and after the longest time in any case`()
        throws
    {
        let world = SessionWorld()
        let (busy, stuck) = (try world.enter(device: 1), try world.enter(device: 2))
        world.server.faults.always(.callSent, .delay(.seconds(1_000)))
        stuck.post(TestClient.zonesRequest)
        world.scheduler.advance(by: .milliseconds(1))
        world.server.faults.always(.callSent, .delay(.seconds(1)))
        let id = busy.post(TestClient.zonesRequest)
        world.scheduler.advance(by: .milliseconds(1))
        let start = world.scheduler.now
        let hub = world.server.hub
        try world.scheduler.complete { await hub.stop(patience: .seconds(10), spread: .seconds(10)) }
        guard case .fetchZones? = busy.answer(to: id) else {
            Issue.record("not answered: \(busy.inbox)")
            return
        }
        #expect(busy.closeCode == 1012 && stuck.closeCode == 1012)
        #expect(world.scheduler.now - start == .milliseconds(10_040))
    }
}
