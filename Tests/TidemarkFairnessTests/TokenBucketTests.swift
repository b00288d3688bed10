// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFairness

/// A history that fails prints its seed; `TIDEMARK_TEST_SEED` makes it the first.
@Suite struct TokenBucketTests {
    private typealias Rate = TokenBucket.Rate

    @Test func `R-934: a burst is let through, then one at a time, and a full bucket is like a new one`() {
        let rate = Rate(perSecond: 4, burst: 3)
        var bucket = TokenBucket(now: .seconds(10))
        for _ in 0..<3 { #expect(bucket.take(rate, now: .seconds(10)) == nil) }
        #expect(bucket.take(rate, now: .seconds(10)) == .milliseconds(250))
        #expect(bucket.wait(rate, now: .milliseconds(10_100)) == .milliseconds(150))
        #expect(bucket.take(rate, now: .milliseconds(10_250)) == nil)
        #expect(bucket.take(rate, now: .milliseconds(10_250)) == .milliseconds(250))
        #expect(!bucket.isFull(at: .milliseconds(10_999)))
        #expect(bucket.isFull(at: .seconds(11)))
        // However long nothing was taken, no more than the burst is there.
        for _ in 0..<3 { #expect(bucket.take(rate, now: .seconds(9_000)) == nil) }
        #expect(bucket.take(rate, now: .seconds(9_000)) == .milliseconds(250))
    }

    @Test func `R-935: with another rate nobody waits longer than an empty bucket of it`() {
        var bucket = TokenBucket(now: .zero)
        let slow = Rate(perSecond: 1, burst: 3_600)
        for _ in 0..<3_600 { #expect(bucket.take(slow, now: .zero) == nil) }
        let fast = Rate(perSecond: 100, burst: 10)
        #expect(bucket.wait(fast, now: .zero) == .milliseconds(10))
        #expect(bucket.take(fast, now: .milliseconds(10)) == nil)
        // And a slower one does not give what was taken.
        #expect(bucket.take(Rate(perSecond: 1, burst: 1), now: .milliseconds(10)) != nil)
    }

    @Test func `R-934: in any history no time has more than burst and rate allow, and who waits as told gets one`()
        throws
    {
        let first = SeededRandom().seed
        print("token bucket: TIDEMARK_TEST_SEED=\(first)")
        for seed in (0..<200 as Range<UInt64>).map({ first &+ $0 }) {
            var random = SeededRandom(seed: seed)
            let rate = Rate(
                perSecond: Int.random(in: 1...1_000, using: &random), burst: Int.random(in: 1...50, using: &random))
            var now = Duration.seconds(Int.random(in: 0...1_000, using: &random))
            var bucket = TokenBucket(now: now)
            var taken: [Duration] = []
            for _ in 0..<500 {
                let before = bucket
                if let wait = bucket.take(rate, now: now) {
                    try #require(bucket == before, "a refusal takes nothing, TIDEMARK_TEST_SEED=\(seed)")
                    try #require(wait > .zero && wait <= .seconds(1) / rate.perSecond, "TIDEMARK_TEST_SEED=\(seed)")
                    var waiting = bucket
                    try #require(waiting.take(rate, now: now + wait) == nil, "TIDEMARK_TEST_SEED=\(seed)")
                    let early = now + wait - .nanoseconds(1)
                    if early >= now { try #require(waiting != bucket && bucket.wait(rate, now: early) != nil) }
                } else {
                    taken.append(now)
                }
                now += .microseconds(Int.random(in: 0...(2_000_000 / rate.perSecond), using: &random))
            }
            for start in taken.indices {
                for end in taken.indices[start...] where end - start >= rate.burst {
                    // Between the two are more than the burst, so time must have passed for the rest.
                    let least = rate.step * (end - start + 1 - rate.burst)
                    try #require(taken[end] - taken[start] >= least, "TIDEMARK_TEST_SEED=\(seed)")
                }
            }
        }
    }
}
