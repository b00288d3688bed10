// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Which places are to be looked at because somebody may have lost access: each once, however many notices came. A pure value.
struct PresenceChecks {
    private var waiting: Set<PresencePlace> = []
    private var isLooking = false
    private var lastSweep: Duration?

    /// - Returns: whether the caller must look, until ``take(_:)`` returns nothing.
    mutating func add(_ places: [PresencePlace]) -> Bool {
        waiting.formUnion(places)
        guard !waiting.isEmpty, !isLooking else { return false }
        isLooking = true
        return true
    }

    /// The next ones. Nothing: the look is over.
    mutating func take(_ countMax: Int) -> [PresencePlace] {
        let sorted = waiting.sorted { ($0.zone, $0.share?.rawValue ?? 0) < ($1.zone, $1.share?.rawValue ?? 0) }
        let taken = Array(sorted.prefix(countMax))
        waiting.subtract(taken)
        if taken.isEmpty { isLooking = false }
        return taken
    }

    /// Whether a sweep begins. Hubs of one process sweep at the same time, and one is enough.
    mutating func sweeps(at now: Duration, each interval: Duration) -> Bool {
        if let lastSweep, now - lastSweep < interval / 2 { return false }
        lastSweep = now
        return true
    }
}
