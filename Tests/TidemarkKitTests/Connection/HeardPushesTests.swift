// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkWire

@testable import TidemarkKit

/// pushes with numbers, as a device hears them.
@Suite struct HeardPushesTests {
    private typealias Bench = ConnectionMachineTests.Bench

    private func opened() throws -> Bench {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        (bench.notifications, bench.sentBytes, bench.sent) = ([], [], [])
        return bench
    }

    private func hear(_ bench: inout Bench, push number: UInt64) throws {
        var envelope = WireServerEnvelope()
        envelope.push.subscriptionID = "all"
        envelope.pushesSent = number
        bench.take(bench.machine.received(envelope.encoded, now: bench.now))
    }

    /// Without an answer it is a reminder.
    private func hear(_ bench: inout Bench, count: UInt64, answering id: UInt64? = nil) throws {
        var envelope = WireServerEnvelope()
        if let id {
            envelope.id = id
            envelope.modifyRecords = WireModifyRecordsAnswer()
        }
        envelope.pushesSent = count
        bench.take(bench.machine.received(envelope.encoded, now: bench.now))
    }

    private func told(_ bench: Bench) -> [String] {
        bench.notifications.compactMap { notification in
            switch notification {
            case .pushesLost: "lost"
            case .push: "push"
            case .presence, .connected, .disconnected, .refused, .deviceReplaced, .warned: nil
            }
        }
    }

    @Test func `R-261: a gap in the numbers is told before the push that shows it; what comes again is not told`()
        throws
    {
        var bench = try opened()
        for number: UInt64 in [1, 2, 4, 5, 5, 3, 8, 1] { try hear(&bench, push: number) }
        #expect(told(bench) == ["push", "push", "lost", "push", "push", "lost", "push"])
    }

    @Test func `R-261: an answer, or a reminder, shows that the last pushes were lost`() throws {
        var bench = try opened()
        try hear(&bench, push: 1)
        let id = bench.request()
        try hear(&bench, count: 1, answering: id)
        #expect(told(bench) == ["push"] && bench.answers[id] != nil)
        let next = bench.request()
        try hear(&bench, count: 3, answering: next)
        try hear(&bench, count: 3)
        #expect(told(bench) == ["push", "lost"])
        try hear(&bench, count: 4)
        #expect(told(bench) == ["push", "lost", "lost"])
    }

    @Test func `R-261: requests acknowledge what was heard, once; a reminder is answered each time`() throws {
        var bench = try opened()
        _ = bench.request()
        try hear(&bench, push: 1)
        try hear(&bench, push: 2)
        _ = bench.request()
        _ = bench.request()
        #expect(bench.sent.map(\.pushesHeard) == [0, 2, 0])
        bench.sent = []
        try hear(&bench, count: 2)
        try hear(&bench, count: 2)
        #expect(bench.sent.map(\.pushesHeard) == [2, 2])
        #expect(bench.sent.allSatisfy { $0.id == 0 && $0.request == nil })
    }

    @Test func `R-261, R-157: what is sent again after a cut acknowledges nothing of the connection before`() throws {
        var bench = try opened()
        try hear(&bench, push: 7)
        _ = bench.request()
        bench.cut()
        bench.clock += .seconds(1)
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open()
        #expect(bench.sent.last?.pushesHeard == 0)
        try hear(&bench, push: 1)
        #expect(told(bench) == ["lost", "push", "push"])
    }

    @Test func `R-261: a server that does not count loses nothing`() throws {
        var bench = try opened()
        for _ in 0..<3 { try hear(&bench, push: 0) }
        let id = bench.request()
        try hear(&bench, count: 0, answering: id)
        #expect(told(bench) == ["push", "push", "push"])
        #expect(bench.sent.allSatisfy { $0.pushesHeard == 0 })
    }
}
