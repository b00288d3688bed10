// SPDX-License-Identifier: Apache-2.0

/// The token buckets of many keys. A full bucket is forgotten, so an idle key takes no memory.
package struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    /// A token of one bucket.
    package struct Want: Sendable {
        package let key: Key
        package let rate: TokenBucket.Rate

        package init(_ key: Key, _ rate: TokenBucket.Rate) {
            self.key = key
            self.rate = rate
        }
    }

    /// There is no token left.
    package struct Shortage: Sendable, Equatable {
        package let key: Key
        /// How long it takes until there is one.
        package let wait: Duration
    }

    private var buckets: [Key: TokenBucket] = [:]
    private let countMax: Int
    /// How many there are when full ones are next looked for.
    private var lookAt: Int
    /// Not before.
    private var nextLook = Duration.zero

    /// Fewer buckets are not looked through.
    private static var lookMin: Int { 1_024 }

    /// - Parameter countMax: the most buckets. A new key that comes when all are in use is not counted. Only that many keys can use theirs
    ///   at the same time, so nobody can crowd out others whom the server knows.
    package init(countMax: Int = 1_000_000) {
        self.countMax = countMax
        lookAt = min(countMax, Self.lookMin)
    }

    package var count: Int { buckets.count }

    /// Takes one token of each of these buckets, or none of any.
    ///
    /// - Returns: the one that needs longest to have a token; nil: all were taken.
    package mutating func take(_ wants: [Want], now: Duration) -> Shortage? {
        var refusal: Shortage?
        for want in wants {
            guard let wait = buckets[want.key]?.wait(want.rate, now: now), wait > refusal?.wait ?? .zero else {
                continue
            }
            refusal = Shortage(key: want.key, wait: wait)
        }
        guard refusal == nil else { return refusal }
        for want in wants {
            if buckets[want.key] == nil, !hasRoom(now) { continue }
            // There is one, or it is full.
            _ = buckets[want.key, default: TokenBucket(now: now)].take(want.rate, now: now)
        }
        return nil
    }

    private mutating func hasRoom(_ now: Duration) -> Bool {
        guard buckets.count >= lookAt else { return true }
        guard now >= nextLook || buckets.count < countMax else { return false }
        buckets = buckets.filter { !$0.value.isFull(at: now) }
        lookAt = min(countMax, max(Self.lookMin, 2 * buckets.count))
        nextLook = now + .seconds(1)
        return buckets.count < countMax
    }
}
