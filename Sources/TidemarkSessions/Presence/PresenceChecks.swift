// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Which places are to be looked at because somebody may have lost access: each once, however many notices came, and each in its turn.
/// A pure value.
struct PresenceChecks {
    private var waiting = WaitingPlaces()
    private var lastSweep: Duration?

    /// - Returns: whether the caller must look, until ``take(_:)`` returns nothing.
    mutating func add(_ places: [(place: PresencePlace, database: DatabaseID)]) -> Bool { waiting.add(places) }

    /// The next ones. Nothing: the look is over.
    mutating func take(_ countMax: Int) -> [PresencePlace] { waiting.take(countMax) }

    /// Whether a sweep begins. Hubs of one process sweep at the same time, and one is enough.
    mutating func sweeps(at now: Duration, each interval: Duration) -> Bool {
        if let lastSweep, now - lastSweep < interval / 2 { return false }
        lastSweep = now
        return true
    }
}
