// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Databases of which somebody was told a moment ago that they have moved, so that their feeds are behind: whoever reads
/// such a feed next may have numbers assigned without a look first, which is a round trip less between a push and what it
/// announces. A hint: a feed that has caught up meanwhile is only locked in vain.
final class MovedFeeds: Sendable {
    /// More than that are forgotten: they are looked at first then.
    private static let countMax = 10_000

    private let databases = Mutex<Set<DatabaseID>>([])

    func note(_ database: DatabaseID) {
        databases.withLock { databases in
            if databases.count >= Self.countMax { databases = [] }
            databases.insert(database)
        }
    }

    /// Whether it was noted, and forgets it.
    func take(_ database: DatabaseID) -> Bool {
        databases.withLock { $0.remove(database) != nil }
    }
}
