// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkService

/// A bounded cache from which goes what is not used (I-7).
@Suite struct RecentCacheTests {
    private struct Value: CachedValue {
        var number: Int
        var byteCount = 10
    }

    @Test func `I-7: what is used stays, what is not used goes, and all together are bounded`() {
        var cache = RecentCache<Int, Value>(bytesMax: 100)
        cache.keep(Value(number: 0), as: 0)
        for number in 1...1_000 {
            cache.keep(Value(number: number), as: number)
            #expect(cache.use(0)?.number == 0)
        }
        let left = (1...1_000).filter { cache.take($0) != nil }
        #expect(left.first == 1_001 - left.count && left.last == 1_000, "the last ones")
        #expect((3...9).contains(left.count))
        #expect(cache.take(0) != nil)
        #expect(cache.use(0) == nil)
    }

    @Test func `a value that grows while it is out counts with its new size`() {
        var cache = RecentCache<Int, Value>(bytesMax: 100)
        for number in 0..<4 { cache.keep(Value(number: number), as: number) }
        if var value = cache.take(0) {
            value.byteCount = 50
            cache.keep(value, as: 0)
        }
        // It fills a generation by itself, so the others are in the one before, and go with the next value.
        for number in 4..<8 { cache.keep(Value(number: number), as: number) }
        #expect((1...3).allSatisfy { cache.use($0) == nil } && cache.use(0)?.byteCount == 50)
        cache.removeAll()
        #expect((0..<10).allSatisfy { cache.use($0) == nil })
    }

    @Test func `a value that is larger than the room is kept until the next ones come`() {
        var cache = RecentCache<Int, Value>(bytesMax: 100)
        cache.keep(Value(number: 1, byteCount: 1_000), as: 1)
        #expect(cache.use(1) != nil)
        for number in 2...20 { cache.keep(Value(number: number), as: number) }
        #expect(cache.use(1) == nil)
    }
}
