// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

/// Which changes of public databases have fired the query subscriptions of devices that are here. A pure value.
///
/// The server of a commit says of which change numbers it has posted all that they fire. What a sweep finds in the store, and
/// nobody has said that of by the next sweep, may be lost. Such notices may come late, twice or in any order.
struct PublicQueryWatches {
    private struct Watch {
        /// Each change up to this number has fired what it fires, or all devices were told after it.
        var covered: ChangeNumber
        /// What has fired beyond it.
        var ahead = ChangeRanges()
        /// The zone's number at the last sweep. By the next one all until here is to be covered.
        var due: ChangeNumber

        init(at number: ChangeNumber) {
            (covered, due) = (number, number)
        }

        mutating func cover(_ number: ChangeNumber) {
            covered = ahead.takeAll(after: max(covered, number))
        }
    }

    private var watches: [DatabaseID: Watch] = [:]

    func watches(_ database: DatabaseID) -> Bool { watches[database] != nil }

    /// Takes in the mark that is read before the first device is told that something may have changed.
    mutating func starts(_ database: DatabaseID, at mark: ChangeMark) {
        if watches[database] == nil { watches[database] = Watch(at: Self.number(of: mark)) }
    }

    /// No device that is here looks at other databases.
    mutating func keep(_ databases: Set<DatabaseID>) {
        guard watches.keys.contains(where: { !databases.contains($0) }) else { return }
        watches = watches.filter { databases.contains($0.key) }
    }

    /// A server has posted all that these changes fire.
    mutating func evaluated(_ changes: EvaluatedChanges) {
        guard var watch = watches[changes.database] else { return }
        watch.ahead.insert(changes.part)
        watch.cover(watch.covered)
        watches[changes.database] = watch
    }

    /// Takes in what a sweep found.
    ///
    /// - Parameter isAfterGap: whether notices may have been lost. Then all are told at once.
    /// - Returns: whether the devices are to be told that something may have changed. What was found is part of that.
    mutating func swept(_ database: DatabaseID, _ mark: ChangeMark, isAfterGap: Bool = false) -> Bool {
        let number = Self.number(of: mark)
        // Of what came before nothing is known. A number that is lower is that of another store, which was restored.
        guard var watch = watches[database], number >= watch.due else {
            watches[database] = Watch(at: number)
            return true
        }
        let isLost = isAfterGap || watch.covered < watch.due
        if isLost { watch.cover(number) }
        watch.due = number
        watches[database] = watch
        return isLost
    }

    /// A public database has one zone. If it ever had others, this is more than the number of any, and each change is
    /// one that may be lost.
    private static func number(of mark: ChangeMark) -> ChangeNumber { mark.value - Int64(mark.zoneCount) }
}
