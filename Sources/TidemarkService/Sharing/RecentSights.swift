// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness

/// Users who were found to have a right in zones of others. Each is trusted for a while, without another look. Accounts
/// share the room.
struct RecentSights {
    private let trust: Duration
    /// When each ceases to count.
    private var ends: FairCache<AccessLooks.Place, Duration>

    /// - Parameters:
    ///   - trust: how long one look counts.
    ///   - countMax: how many are remembered. One takes some 300 bytes, with the name of its zone.
    init(trust: Duration, countMax: Int) {
        self.trust = trust
        ends = FairCache(roomMax: countMax)
    }

    mutating func isTrusted(_ place: AccessLooks.Place, now: Duration) -> Bool {
        ends.use(place).map { now < $0 } ?? false
    }

    /// Takes in what a look has found.
    ///
    /// - Parameter owner: whose request made the server look.
    mutating func note(_ hasRight: Bool, at place: AccessLooks.Place, of owner: WorkOwner, now: Duration) {
        if hasRight {
            ends.keep(now + trust, as: place, room: 1, of: owner)
        } else {
            _ = ends.take(place)
        }
    }
}
