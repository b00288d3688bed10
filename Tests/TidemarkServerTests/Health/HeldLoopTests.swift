// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkSockets
import TidemarkTelemetry

@testable import TidemarkServer

/// What the log says of turns that held an event loop.
@Suite struct HeldLoopTests {
    @Test func `R-723, R-760: the log has a line of the longest turn within a factor of two, and counts the others`() {
        let lines = Mutex<[String]>([])
        let log = FailureLog(now: { .zero }) { level, text, pairs in
            #expect(level == .warning && text == "an event loop was held")
            let pairs = pairs.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
            lines.withLock { $0.append(pairs.joined(separator: " ")) }
        }
        func hold(_ time: Int, worked: Int) -> [String] {
            let turn = LongTurn(time: .milliseconds(time), processorTime: .milliseconds(worked))
            HeldLoop.note(turn, of: "l", in: log)
            return lines.withLock { all in
                defer { all = [] }
                return all
            }
        }
        // A thread that has no processor for a while is nothing to tell.
        #expect(hold(999, worked: 99) == [])
        #expect(hold(1_000, worked: 99) == ["cause=it waited loop=l milliseconds=1000 processor_milliseconds=99"])
        #expect(
            hold(130, worked: 100)
                == ["cause=it worked for 100 ms or more loop=l milliseconds=130 processor_milliseconds=100"])
        #expect(hold(199, worked: 199) == [])
        #expect(
            hold(900, worked: 799)
                == ["cause=it worked for 400 ms or more loop=l milliseconds=900 processor_milliseconds=799"])
        #expect(hold(400, worked: 400) == [])
        #expect(hold(90_000, worked: 90_000).first?.contains("12800 ms or more") == true)
        log.end()
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test func `R-723: turns for which a processor worked 5 ms are counted, and not told of`() {
        let log = FailureLog(now: { .zero }) { _, text, _ in Issue.record("\(text)") }
        let before = ServerMetrics.shared.heldTurns.value
        for worked in [1, 4, 5, 60] {
            let turn = LongTurn(time: .milliseconds(80), processorTime: .milliseconds(worked))
            HeldLoop.note(turn, of: "l", in: log)
        }
        let pieces = ServerMetrics.shared.longPieces.value
        for piece in [4_999, 5_000, 2_000_001] {
            let turn = LongTurn(
                time: .milliseconds(80), processorTime: .milliseconds(9), longestPiece: .microseconds(piece))
            HeldLoop.note(turn, of: "l", in: log)
        }
        #expect(ServerMetrics.shared.longPieces.value >= pieces + 2)
        #expect(HeldLoop.longestMicroseconds >= 2_000_001)
        // Servers of other tests may count some at the same time.
        #expect(ServerMetrics.shared.heldTurns.value >= before + 2)
        log.end()
    }
}
