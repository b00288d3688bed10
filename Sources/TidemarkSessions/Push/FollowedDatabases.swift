// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The databases whose notices a hub needs, as it has told the bus. A pure value.
///
/// What may have changed is noted where it happens, which is often and under a lock. What really has is told once, afterwards.
struct FollowedDatabases {
    private var followed: Set<DatabaseID> = []
    private var touched: Set<DatabaseID> = []

    /// Whether it is needed may have changed.
    mutating func touch(_ database: DatabaseID) { touched.insert(database) }

    /// What to tell the bus, each ascending. It is told only once.
    mutating func takeChanges(
        where isNeeded: (DatabaseID) -> Bool
    ) -> (follow: [DatabaseID], leave: [DatabaseID]) {
        guard !touched.isEmpty else { return ([], []) }
        var (new, gone): ([DatabaseID], [DatabaseID]) = ([], [])
        for database in touched {
            if isNeeded(database) {
                if followed.insert(database).inserted { new.append(database) }
            } else if followed.remove(database) != nil {
                gone.append(database)
            }
        }
        touched = []
        return (new.sorted(), gone.sorted())
    }
}
