// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkService

/// Which memory epoch a request is taken to have been sent in.
@Suite struct MemoryEpochWatchTests {
    private let delay = MemoryEpochWatch.delay

    @Test func `R-157: the first epoch counts at once, and a later one after a while`() {
        var watch = MemoryEpochWatch()
        #expect(watch.atArrival(now: .zero) == nil)
        watch.learn(7, now: .seconds(1))
        #expect(watch.atArrival(now: .seconds(1)) == 7)
        watch.learn(8, now: .seconds(2))
        #expect(watch.atArrival(now: .seconds(2) + delay - .milliseconds(1)) == 7)
        #expect(watch.atArrival(now: .seconds(2) + delay) == 8)
    }

    @Test func `R-157: an epoch that is read again and again counts from its first time, and none goes back`() {
        var watch = MemoryEpochWatch()
        watch.learn(1, now: .zero)
        watch.learn(2, now: .seconds(10))
        watch.learn(2, now: .seconds(50))
        watch.learn(1, now: .seconds(60))
        #expect(watch.atArrival(now: .seconds(10) + delay) == 2)
        watch.learn(1, now: .seconds(100))
        #expect(watch.atArrival(now: .seconds(1_000)) == 2)
    }

    @Test func `R-157: if a later epoch comes before one counts, the later one counts after its own time`() {
        var watch = MemoryEpochWatch()
        watch.learn(1, now: .zero)
        watch.learn(2, now: .seconds(10))
        watch.learn(3, now: .seconds(40))
        #expect(watch.atArrival(now: .seconds(10) + delay) == 1)
        #expect(watch.atArrival(now: .seconds(40) + delay) == 3)
    }
}
