// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkService

/// Changes of zones of which viewers (those who have the zones in their lists) are still to be told. A pure value.
///
/// A zone may have thousands of viewers. So a commit only adds its notice here, which takes the same time whatever the number
/// of viewers. The viewers are told in steps, and owners take turns. While a change waits, further changes of the same
/// zone join it.
struct SharedMoves {
    /// What is told to some viewers in one step.
    struct Step {
        /// An empty name stands for the set of the owner's zones.
        let zone: ZoneKey
        /// Who made the changes; of many, two (I-7).
        let lives: Set<DeviceID>
        /// Whether the lists of the viewers may have changed.
        let changesLists: Bool
        /// Of the records that changed. Any, if lists may have changed: then records come and go with the access to them.
        let types: ChangedTypes
        let viewers: ArraySlice<DatabaseID>
    }

    private struct Move {
        let zone: ZoneKey
        var lives: Set<DeviceID>
        var changesLists: Bool
        var types: ChangedTypes
        var viewers: ArraySlice<DatabaseID>
    }

    /// The changes of one owner's zones.
    private struct Line {
        /// Some of its viewers have been told.
        var begun: Move?
        /// By name of the zone.
        var waiting: [String: Move] = [:]
        /// The keys of ``waiting``.
        var order: Deque<String> = []
    }

    private var lines: [DatabaseID: Line] = [:]
    /// The databases of ``lines``. The first is next.
    private var turns: Deque<DatabaseID> = []

    var isEmpty: Bool { turns.isEmpty }

    /// - Parameters:
    ///   - types: of the records that changed.
    ///   - viewers: those who have the zone now. Not empty.
    mutating func add(_ notice: ZoneNotice, types: ChangedTypes = .any, to viewers: [DatabaseID]) {
        let database = notice.database
        if lines[database] == nil {
            lines[database] = Line()
            turns.append(database)
        }
        let changesLists = notice.changesShares || notice.zoneName.isEmpty
        guard var move = lines[database]?.waiting.removeValue(forKey: notice.zoneName) else {
            let zone = ZoneKey(database: database, name: notice.zoneName)
            lines[database]?.waiting[zone.name] = Move(
                zone: zone, lives: [notice.life], changesLists: changesLists, types: types, viewers: viewers[...])
            lines[database]?.order.append(zone.name)
            return
        }
        if move.lives.count < 2 { move.lives.insert(notice.life) }
        if changesLists { move.changesLists = true }
        move.types.formUnion(types)
        move.viewers = viewers[...]
        lines[database]?.waiting[notice.zoneName] = move
    }

    /// Removes and returns what is to be told next, to at most so many viewers. The next call is for another owner, if
    /// another has something.
    mutating func take(_ viewersMax: Int) -> Step? {
        guard let database = turns.popFirst(), var line = lines.removeValue(forKey: database) else { return nil }
        if line.begun == nil, let name = line.order.popFirst() { line.begun = line.waiting.removeValue(forKey: name) }
        guard var move = line.begun else { return nil }
        let step = Step(
            zone: move.zone, lives: move.lives, changesLists: move.changesLists,
            types: move.changesLists ? .any : move.types, viewers: move.viewers.prefix(viewersMax))
        move.viewers = move.viewers.dropFirst(viewersMax)
        line.begun = move.viewers.isEmpty ? nil : move
        if line.begun != nil || !line.order.isEmpty {
            lines[database] = line
            turns.append(database)
        }
        return step
    }
}
