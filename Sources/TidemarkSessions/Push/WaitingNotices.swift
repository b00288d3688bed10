// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkService

/// Notices that wait to be posted: a line for each database, and whose turn it is. A pure value.
///
/// One commit may change 64 zones, and a device may save in thousands. Such a database neither delays the notices of
/// others nor takes their room.
struct WaitingNotices {
    private let countMax: Int
    /// None is empty.
    private var lines: [DatabaseID: Deque<ZoneNotice>] = [:]
    /// The databases of ``lines``. The first is next.
    private var turns: Deque<DatabaseID> = []
    /// All notices of ``lines``: each is posted once.
    private var waiting: Set<ZoneNotice> = []

    /// - Parameter countMax: of all databases together. One may have a quarter, and never more than is still free. So those
    ///   that have most have equal parts, and there is always room for another.
    init(countMax: Int) {
        self.countMax = countMax
    }

    var count: Int { waiting.count }

    /// Adds a notice behind those of its database. It is dropped if there is no room for it.
    mutating func add(_ notice: ZoneNotice) {
        let database = notice.database
        let roomOfDatabase = min(countMax / 4, countMax - waiting.count)
        guard (lines[database]?.count ?? 0) < roomOfDatabase, waiting.insert(notice).inserted else { return }
        if lines[database] == nil { turns.append(database) }
        lines[database, default: []].append(notice)
    }

    /// Removes and returns so many notices at the most. Databases take turns, notice by notice.
    mutating func take(_ count: Int) -> [ZoneNotice] {
        var taken: [ZoneNotice] = []
        while taken.count < count, let database = turns.popFirst() {
            guard let notice = lines[database]?.popFirst() else { continue }
            taken.append(notice)
            waiting.remove(notice)
            if lines[database]?.isEmpty == true { lines[database] = nil } else { turns.append(database) }
        }
        return taken
    }
}
