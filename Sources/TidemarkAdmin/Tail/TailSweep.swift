// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

/// What a sweep of `tail` compares, because a notice may be lost (I-4): the mark of each database, as the sweeps of servers do.
struct TailSweep: Sendable {
    private var marks: [DatabaseID: ChangeMark] = [:]

    /// The most databases of one read. All zones of a database are read for its mark.
    static let databasesOfStep = 50
    /// The most zones of one read, unless one database has more. Then nobody else's read waits long behind it.
    static let zonesOfStep = 30_000
    /// For a database whose zones were not counted yet.
    private static let usualZoneCount = zonesOfStep / databasesOfStep

    /// Each is one read.
    func steps(of databases: [DatabaseID]) -> [[DatabaseID]] {
        var (steps, zoneCount) = ([[DatabaseID]](), 0)
        for database in databases {
            let count = marks[database]?.zoneCount ?? Self.usualZoneCount
            let hasRoom = steps.last.map { $0.count < Self.databasesOfStep } ?? false
            if hasRoom, zoneCount + count <= Self.zonesOfStep {
                steps[steps.count - 1].append(database)
                zoneCount += count
            } else {
                steps.append([database])
                zoneCount = count
            }
        }
        return steps
    }

    /// Takes in the marks that all databases have now. They must have been read before the databases are looked at.
    ///
    /// - Returns: the databases that have changed since, and those of which no mark was known.
    mutating func compare(_ new: [DatabaseID: ChangeMark]) -> Set<DatabaseID> {
        let old = marks
        marks = new
        return Set(new.filter { old[$0.key]?.value != $0.value.value }.keys)
    }
}
