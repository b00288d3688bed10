// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import TidemarkScheduling

@testable import TidemarkSockets

/// Which turns of a loop are long, and how long a processor worked for them.
@Suite struct TurnWatchTests {
    /// Milliseconds, and a clock of the processor that counts how often it is read.
    private struct Clock {
        private var watch = TurnWatch()
        private(set) var readings = 0

        mutating func turn(from start: Int64, to end: Int64, processor: (Int64, Int64)) -> LongTurn? {
            var count = 0
            func read(_ milliseconds: Int64) -> Int64 {
                count += 1
                return milliseconds * 1_000_000
            }
            watch.begin(at: start * 1_000_000, processor: read(processor.0))
            let long = watch.end(at: end * 1_000_000, processor: read(processor.1))
            readings += count
            return long
        }
    }

    @Test func `R-723: a turn of 5 ms is long, and what the processor worked is told apart`() {
        var clock = Clock()
        #expect(clock.turn(from: 0, to: 4, processor: (7, 11)) == nil)
        let worked = clock.turn(from: 1_000, to: 1_005, processor: (200, 205))
        #expect(worked == LongTurn(time: .milliseconds(5), processorTime: .milliseconds(5)))
        let waited = clock.turn(from: 2_000, to: 2_500, processor: (300, 320))
        #expect(waited == LongTurn(time: .milliseconds(500), processorTime: .milliseconds(20)))
    }

    @Test func `R-723: short turns read the clock of the processor once in 10 ms, and count that long at most`() {
        var clock = Clock()
        for turn in 0..<100 as Range<Int64> {
            #expect(clock.turn(from: turn, to: turn + 1, processor: (turn, turn + 1)) == nil)
        }
        #expect(clock.readings == 10)
        // The last reading was at 90.
        let long = clock.turn(from: 99, to: 299, processor: (99, 199))
        #expect(long == LongTurn(time: .milliseconds(200), processorTime: .milliseconds(109)))
        // It has left a reading.
        let next = clock.turn(from: 300, to: 450, processor: (200, 300))
        #expect(next == LongTurn(time: .milliseconds(150), processorTime: .milliseconds(101)))
    }

    @Test func `R-723: a loop tells of work that holds it, and whether it worked or waited`() async throws {
        let turns = Locked<[LongTurn]>([])
        let loop = try EventLoop(name: "test") { turn in turns.update { $0.append(turn) } }
        defer { loop.stop() }
        await loop.onLoop { _ = usleep(150_000) }
        await loop.onLoop {}
        // The clocks do not run quite alike.
        #expect(
            turns.value.contains { $0.time > .milliseconds(140) && $0.processorTime < .milliseconds(100) },
            "\(turns.value)")
        turns.update { $0 = [] }
        await loop.onLoop {
            let start = SystemCalls.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
            while SystemCalls.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) - start < 150_000_000 {}
        }
        await loop.onLoop {}
        #expect(turns.value.contains { $0.processorTime > .milliseconds(140) }, "\(turns.value)")
    }
}
