// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// In which lane a request runs.
@Suite struct OwnerLanesTests {
    @Test func `R-778: connections of one account have one lane, which is forgotten with the last`() {
        let lanes = OwnerLanes(ManualScheduler())
        var connections = [lanes.lane(of: .account(1)), lanes.lane(of: .account(1)), lanes.lane(of: .nobody)]
        #expect(connections[0] === connections[1])
        #expect(connections[0] !== connections[2])
        #expect(lanes.count == 2)
        connections.removeFirst()
        #expect(lanes.count == 2)
        connections.removeAll()
        #expect(lanes.count == 0)
    }

    /// Looks at each token until it is told to go on.
    private final class WaitingJudge: TokenJudge {
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

        var count: Int { waiting.withLock { $0.count } }

        func judge(_ credential: [UInt8], now: Timestamp) async -> TokenVerdict {
            await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
            return .unavailable("The keys cannot be fetched.")
        }

        func goOn() {
            let all = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for continuation in all { continuation.resume() }
        }
    }

    @Test func `R-778: a credential is looked at in a lane, and all that are looked at share sixteen`() {
        let judge = WaitingJudge()
        let world = SessionWorld { $0.tokens = judge }
        let lanes = world.server.hub.lanes
        let clients = (0..<200).map { number in
            let client = world.connect()
            client.post(.hello(SessionWorld.hello("a.b.\(number)")))
            return client
        }
        world.scheduler.runUntilIdle()
        #expect(judge.count == 200)
        #expect((2...16).contains(lanes.count), "\(lanes.count)")
        judge.goOn()
        world.scheduler.runUntilIdle()
        #expect(clients.allSatisfy { $0.closeCode != nil })
        #expect(lanes.lane(ofNewcomerShowing: "x") !== lanes.lane(of: .account(1)))
    }
}
