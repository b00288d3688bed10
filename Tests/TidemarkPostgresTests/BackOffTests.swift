// SPDX-License-Identifier: Apache-2.0

internal import Testing

@testable internal import TidemarkPostgres

@Suite struct BackOffTests {
    private static let intervals = [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]

    @Test func `attempts to connect wait twice as long each time, up to two seconds, and at least half of that`() {
        var (shortest, longest) = (BackOff(), BackOff())
        for interval in Self.intervals {
            let (half, whole) = (shortest.next(randomBits: 0), longest.next(randomBits: UInt64(interval / 2)))
            #expect(half == .milliseconds(interval / 2))
            #expect(whole == .milliseconds(interval))
        }
    }

    @Test func `whatever the random bits, and however often it has failed, a wait is bounded`() {
        var backOff = BackOff()
        for failure in 0..<1_000 {
            let wait = backOff.next(randomBits: .max)
            let interval = failure < Self.intervals.count ? Self.intervals[failure] : 2_000
            #expect(wait >= .milliseconds(interval / 2) && wait <= .milliseconds(interval))
        }
        backOff.reset()
        let first = backOff.next(randomBits: 0)
        #expect(first == .milliseconds(25))
    }
}
