// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling

@Suite struct ClockWatchTests {
    private static let start = Int64(1_700_000_000_000)
    private static let hour = Duration.seconds(3_600)

    /// Asks after each step of both clocks whether something an hour old really is that old.
    private func answers(_ steps: [(wall: Int64, steady: Int)]) -> [Bool] {
        var watch = ClockWatch(wallClock: Self.start, steady: .seconds(5))
        var (wall, steady) = (Self.start, 5)
        return steps.map { step in
            wall += step.wall * 1_000
            steady += step.steady
            return watch.canTell(age: Self.hour, wallClock: wall, steady: .seconds(steady))
        }
    }

    @Test func `clocks that run together are believed, also with the corrections of NTP`() {
        #expect(answers([(60, 60), (61, 60), (3_600, 3_600), (119, 60), (0, 59)]) == [true, true, true, true, true])
    }

    @Test func `a clock that was set ahead is believed after it has run for the age that is asked`() {
        #expect(answers([(86_400, 60), (1_800, 1_800), (1_799, 1_799), (1, 1)]) == [false, false, false, true])
    }

    @Test func `a second jump begins the wait again`() {
        #expect(
            answers([(86_400, 60), (3_599, 3_599), (90, 20), (3_599, 3_599), (1, 1)])
                == [false, false, false, false, true])
    }

    @Test func `a clock that was set back makes nothing look old`() {
        #expect(answers([(-86_400, 60), (60, 60)]) == [true, true])
    }

    @Test func `exactly a minute is a correction, and a millisecond more is a jump`() {
        for (jump, isCorrection) in [(Int64(60_000), true), (60_001, false)] {
            var watch = ClockWatch(wallClock: Self.start, steady: .zero)
            #expect(watch.canTell(age: Self.hour, wallClock: Self.start + jump, steady: .zero) == isCorrection)
        }
    }
}
