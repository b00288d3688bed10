// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness

/// Places that wait for some work, each once. Those of one database stand in a line, and databases take turns: however many places
/// wait, each gets its turn, and many of one database delay no other's. A pure value.
struct WaitingPlaces {
    private var lines = FairLines<DatabaseID, PresencePlace>()
    private var waiting: Set<PresencePlace> = []
    private var isWorking = false

    /// - Returns: whether the caller must begin the work, and go on until ``take(_:)`` returns nothing.
    mutating func add(_ places: [(place: PresencePlace, database: DatabaseID)]) -> Bool {
        for (place, database) in places where waiting.insert(place).inserted { lines.append(place, of: database) }
        guard !waiting.isEmpty, !isWorking else { return false }
        isWorking = true
        return true
    }

    /// The next ones. Nothing: the work is over.
    mutating func take(_ countMax: Int) -> [PresencePlace] {
        var taken: [PresencePlace] = []
        while taken.count < countMax, let place = lines.popFirst() {
            waiting.remove(place)
            taken.append(place)
        }
        if taken.isEmpty { isWorking = false }
        return taken
    }
}
