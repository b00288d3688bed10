// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import TidemarkScheduling

@testable import TidemarkSockets

/// How long a processor worked for the longest piece of a turn.
@Suite struct PieceWatchTests {
    /// A thread that works and waits, and counts how often the clock of its processor time is read. In microseconds.
    private struct BusyThread {
        private var watch = PieceWatch()
        private(set) var readings = 0
        private var now: Int64 = 5_000
        private var processor: Int64 = 300

        var longest: Int64 { watch.longest / 1_000 }

        mutating func begin() { call { $0.begin(at: $1, processor: $2()) } }

        /// A piece ends for which a processor worked so long, and for which the thread waited so long for one.
        mutating func piece(working worked: Int64, waiting waited: Int64 = 0) {
            now += worked + waited
            processor += worked
            call { $0.look(at: $1, processor: $2()) }
        }

        mutating func sleep(_ time: Int64) { now += time }

        private mutating func call(_ body: (inout PieceWatch, Int64, () -> Int64) -> Void) {
            var count = 0
            let processor = processor
            body(&watch, now * 1_000) {
                count += 1
                return processor * 1_000
            }
            readings += count
        }
    }

    @Test func `R-723: the longest piece is found, and what came before it is not charged to it`() {
        var thread = BusyThread()
        thread.begin()
        for worked in [100, 800, 6_000, 900, 3_000, 400] as [Int64] { thread.piece(working: worked) }
        // The reading before it was 900 µs old, in which the thread worked all of the time.
        #expect(thread.longest == 6_000)
        thread.sleep(50_000)
        thread.begin()
        #expect(thread.longest == 0, "of each turn")
        thread.piece(working: 4_000)
        #expect(thread.longest == 4_000, "sleep is no work")
    }

    @Test func `R-723: on a busy machine a piece is never said to be longer than it was, and at most 1 ms shorter`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var thread = BusyThread()
            var longest: Int64 = 0
            thread.begin()
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                let worked = Int64.random(in: 0...Int64([50, 400, 9_000].randomElement(using: &random) ?? 50))
                let waited = Int64.random(in: 0...Int64([0, 300, 20_000].randomElement(using: &random) ?? 0))
                longest = max(longest, worked)
                thread.piece(working: worked, waiting: waited)
            }
            #expect(thread.longest <= longest && thread.longest >= longest - 1_000, "\(thread.longest) of \(longest)")
        }
    }

    @Test func `R-723: short pieces read the clock of the processor once in a millisecond`() {
        var thread = BusyThread()
        for _ in 0..<10 {
            thread.begin()
            for _ in 0..<100 { thread.piece(working: 10) }
        }
        #expect(thread.longest == 0 && (10...11).contains(thread.readings), "\(thread.readings)")
    }

    @Test func `R-723: a loop tells which of its work was long, whether a socket, a job or a timer`() async throws {
        let turns = Locked<[LongTurn]>([])
        let loop = try EventLoop(name: "test") { turn in turns.update { $0.append(turn) } }
        defer { loop.stop() }
        @Sendable func work(_ milliseconds: Int64) {
            let end = EventLoop.processorNanoseconds + milliseconds * 1_000_000
            while EventLoop.processorNanoseconds < end {}
        }
        await loop.onLoop { work(40) }
        await loop.onLoop {}
        // The clocks do not run quite alike, and it may have begun 1 ms late.
        #expect(
            turns.value.contains { (.milliseconds(35)...(.milliseconds(60))).contains($0.longestPiece) },
            "\(turns.value)")
        turns.update { $0 = [] }
        await loop.onLoop { _ = usleep(60_000) }
        await loop.onLoop {}
        #expect(turns.value.allSatisfy { $0.longestPiece < .milliseconds(30) }, "\(turns.value)")
    }
}
