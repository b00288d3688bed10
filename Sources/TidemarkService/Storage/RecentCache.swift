// SPDX-License-Identifier: Apache-2.0

/// What a ``RecentCache`` keeps.
protocol CachedValue {
    /// Its approximate memory. It changes only while the value is not in the cache.
    var byteCount: Int { get }
}

/// A cache of two generations: values in use, and those in use before. When the recent ones fill half of the room, the
/// earlier ones are dropped and the recent ones take their place. So unused values go, without a list of uses.
struct RecentCache<Key: Hashable, Value: CachedValue> {
    private var recent: [Key: Value] = [:]
    private var earlier: [Key: Value] = [:]
    private var recentByteCount = 0
    let bytesMax: Int

    /// - Parameter bytesMax: the approximate memory of all values. A single one that is larger is kept all the same.
    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// The value, which moves to the recent generation.
    mutating func use(_ key: Key) -> Value? {
        if let value = recent[key] { return value }
        guard let value = earlier.removeValue(forKey: key) else { return nil }
        keep(value, as: key)
        return value
    }

    /// NB: taken out of the dictionary, so that it is changed in place.
    mutating func take(_ key: Key) -> Value? {
        guard let value = recent.removeValue(forKey: key) else { return earlier.removeValue(forKey: key) }
        recentByteCount -= value.byteCount
        return value
    }

    /// Adds a value whose key is not in the cache.
    mutating func keep(_ value: consuming Value, as key: Key) {
        if recentByteCount + value.byteCount > bytesMax / 2 {
            earlier = recent
            recent = [:]
            recentByteCount = 0
        }
        recentByteCount += value.byteCount
        recent[key] = value
    }

    mutating func removeAll() {
        recent = [:]
        earlier = [:]
        recentByteCount = 0
    }
}
