// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkService

/// A notice of something in one database.
protocol DatabaseNotice: Hashable {
    var database: DatabaseID { get }
}

extension ZoneNotice: DatabaseNotice {}
extension QueryNotice: DatabaseNotice {}

typealias WaitingNotices = WaitingLines<ZoneNotice>

/// Notices that wait to be posted: a line for each database, and whose turn it is. A pure value.
///
/// One commit may change 64 zones, and a device may save in thousands. Such a database neither delays the notices of
/// others nor takes their room.
struct WaitingLines<Notice: DatabaseNotice> {
    private let countMax: Int
    private var lines = FairLines<DatabaseID, Notice>()
    /// All notices of ``lines``: each is posted once.
    private var waiting: Set<Notice> = []

    /// - Parameter countMax: of all databases together. One may have a quarter, and never more than is still free. So those
    ///   that have most have equal parts, and there is always room for another.
    init(countMax: Int) {
        self.countMax = countMax
    }

    var count: Int { waiting.count }

    /// Adds a notice behind those of its database. It is dropped if there is no room for it.
    ///
    /// - Returns: whether it waits.
    @discardableResult
    mutating func add(_ notice: Notice) -> Bool {
        let database = notice.database
        let roomOfDatabase = min(countMax / 4, countMax - waiting.count)
        if waiting.contains(notice) { return true }
        guard lines.count(of: database) < roomOfDatabase else { return false }
        waiting.insert(notice)
        lines.append(notice, of: database)
        return true
    }

    /// Removes and returns so many notices at the most. Databases take turns, notice by notice.
    mutating func take(_ count: Int) -> [Notice] {
        var taken: [Notice] = []
        while taken.count < count, let notice = lines.popFirst() {
            taken.append(notice)
            waiting.remove(notice)
        }
        return taken
    }
}
