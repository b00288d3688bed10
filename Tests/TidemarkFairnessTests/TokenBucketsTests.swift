// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkFairness

@Suite struct TokenBucketsTests {
    private typealias Buckets = TokenBuckets<Int>
    private let rate = TokenBucket.Rate(perSecond: 1, burst: 2)

    @Test func `R-934: of several buckets each gives a token, or none does, and the one that lasts longest is told`() {
        var buckets = Buckets()
        let slow = TokenBucket.Rate(perSecond: 1, burst: 1)
        #expect(buckets.take([.init(1, rate), .init(2, slow)], now: .zero) == nil)
        // The second one is empty. The first one keeps what it has.
        for _ in 0..<5 {
            #expect(buckets.take([.init(1, rate), .init(2, slow)], now: .zero) == .init(key: 2, wait: .seconds(1)))
        }
        #expect(buckets.take([.init(1, rate)], now: .zero) == nil)
        #expect(buckets.take([.init(1, rate)], now: .zero) == .init(key: 1, wait: .seconds(1)))
        let slower = TokenBucket.Rate(perSecond: 1, burst: 1)
        #expect(
            buckets.take([.init(1, rate), .init(2, slower)], now: .milliseconds(500))
                == .init(key: 1, wait: .milliseconds(500)))
    }

    @Test func `R-934: whoever sends nothing is forgotten, and never more are kept than may be`() {
        var buckets = Buckets(countMax: 3_000)
        for key in 0..<2_000 { #expect(buckets.take([.init(key, rate)], now: .zero) == nil) }
        #expect(buckets.count == 2_000)
        // All of them are full again.
        for key in 10_000..<13_000 { #expect(buckets.take([.init(key, rate)], now: .seconds(10)) == nil) }
        #expect(buckets.count == 3_000)
        // No place is left. Whoever comes is let through, and those who are counted stay counted.
        for _ in 0..<5 { #expect(buckets.take([.init(1, rate)], now: .seconds(10)) == nil) }
        #expect(buckets.count == 3_000)
        #expect(buckets.take([.init(12_999, rate)], now: .seconds(10)) == nil)
        #expect(buckets.take([.init(12_999, rate)], now: .seconds(10)) != nil)
        // Later there is place again.
        #expect(buckets.take([.init(1, rate)], now: .seconds(20)) == nil)
        #expect(buckets.count < 3_000)
        #expect(buckets.take([.init(1, rate)], now: .seconds(20)) == nil)
        #expect(buckets.take([.init(1, rate)], now: .seconds(20)) != nil)
    }
}
