// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkService

/// A notice of something in one database.
protocol DatabaseNotice: Hashable, Sendable {
    associatedtype Subject: Hashable, Sendable

    var database: DatabaseID { get }
    /// What it is about. Of notices of one subject that wait, an equal one behind the last says nothing new.
    var subject: Subject { get }
}

extension ZoneNotice: DatabaseNotice {
    /// Nobody asks in which order zones have changed.
    var subject: ZoneNotice { self }
}

extension QueryNotice: DatabaseNotice {}

typealias WaitingNotices = WaitingLines<ZoneNotice>

/// Notices that wait to be posted: a line for each database, and whose turn it is. A pure value.
///
/// One commit may change 64 zones, and a device may save in thousands. Such a database neither delays the notices of
/// others nor takes their room.
struct WaitingLines<Notice: DatabaseNotice>: Sendable {
    private let countMax: Int
    private var lines = FairLines<DatabaseID, Notice>()
    /// The last notice of each subject in ``lines``, and how many there are of it.
    private var subjects: [Notice.Subject: (last: Notice, count: Int)] = [:]
    private(set) var count = 0

    /// - Parameter countMax: of all databases together. One may have a quarter, and never more than is still free. So those
    ///   that have most have equal parts, and there is always room for another.
    init(countMax: Int) {
        self.countMax = countMax
    }

    var isEmpty: Bool { count == 0 }

    func count(of database: DatabaseID) -> Int { lines.count(of: database) }

    /// Adds a notice behind those of its database. It is dropped if there is no room for it.
    ///
    /// - Returns: whether it waits.
    @discardableResult
    mutating func add(_ notice: Notice) -> Bool {
        let (database, subject) = (notice.database, notice.subject)
        let before = subjects[subject]
        if before?.last == notice { return true }
        guard lines.count(of: database) < min(countMax / 4, countMax - count) else { return false }
        subjects[subject] = (notice, (before?.count ?? 0) + 1)
        lines.append(notice, of: database)
        count += 1
        return true
    }

    /// Removes and returns so many notices at the most. Databases take turns, notice by notice. Those of one database keep their
    /// order.
    mutating func take(_ countMax: Int) -> [Notice] {
        var taken: [Notice] = []
        while taken.count < countMax, let notice = lines.popFirst() {
            taken.append(notice)
            let subject = notice.subject
            if let known = subjects[subject] {
                subjects[subject] = known.count > 1 ? (known.last, known.count - 1) : nil
            }
        }
        count -= taken.count
        return taken
    }
}
