// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Users who were found to have a right in zones of others. Each is trusted for a while, without another look.
struct RecentSights {
    private struct Sight: CachedValue {
        let end: Duration
        /// With the name of the zone, which is short as a rule.
        var byteCount: Int { 200 }
    }

    private let trust: Duration
    private var sights: RecentCache<AccessLooks.Place, Sight>

    /// - Parameters:
    ///   - trust: how long one look counts.
    ///   - bytesMax: the approximate memory.
    init(trust: Duration, bytesMax: Int) {
        self.trust = trust
        sights = RecentCache(bytesMax: bytesMax)
    }

    mutating func isTrusted(_ place: AccessLooks.Place, now: Duration) -> Bool {
        sights.use(place).map { now < $0.end } ?? false
    }

    /// Takes in what a look has found.
    mutating func note(_ hasRight: Bool, at place: AccessLooks.Place, now: Duration) {
        _ = sights.take(place)
        if hasRight { sights.keep(Sight(end: now + trust), as: place) }
    }
}
