// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain

/// Whose devices here are to be told that records may have changed, when nobody knows which subscriptions have fired. By private
/// databases: each user of a device here has one. A pure value.
///
/// Who is found is told in groups, so that not all devices fetch in the same instant. Who waits to be told waits once.
struct QueryAudience {
    /// By public database, whose queries look there.
    private var watchers: [DatabaseID: Set<DatabaseID>] = [:]
    /// The other way round.
    private var watched: [DatabaseID: Set<DatabaseID>] = [:]
    /// Whose subscriptions are not known. They may look at any public database.
    private var unread: Set<DatabaseID> = []
    private var turns: Deque<DatabaseID> = []
    private var waiting: Set<DatabaseID> = []

    /// Takes in the subscriptions of a user.
    ///
    /// - Parameters:
    ///   - subscriptions: nil: they are not known, or were forgotten.
    ///   - own: the user's private database.
    mutating func knows(_ subscriptions: [Subscription]?, of own: DatabaseID) {
        guard let subscriptions else {
            // Where they looked before is still compared with the store.
            unread.insert(own)
            return
        }
        unread.remove(own)
        let new = Set(subscriptions.lazy.filter { $0.scope == .public }.compactMap { $0.query?.database })
        let old = watched[own] ?? []
        guard new != old else { return }
        for database in old.subtracting(new) {
            watchers[database]?.remove(own)
            if watchers[database]?.isEmpty == true { watchers[database] = nil }
        }
        for database in new.subtracting(old) { watchers[database, default: []].insert(own) }
        watched[own] = new.isEmpty ? nil : new
    }

    /// No device of the user is here any more.
    mutating func leave(_ own: DatabaseID) { knows([], of: own) }

    /// The public databases at which queries are known to look: those of a user, or of all.
    func publicDatabases(of own: DatabaseID? = nil) -> Set<DatabaseID> {
        own.map { watched[$0] ?? [] } ?? Set(watchers.keys)
    }

    /// Those whose queries look, or may look, at a public database. Nil: at any.
    func watchers(of database: DatabaseID?) -> [DatabaseID] {
        let known = database.map { watchers[$0] ?? [] } ?? Set(watched.keys)
        return known.union(unread).sorted()
    }

    /// - Returns: whether nobody waited before.
    mutating func add(_ databases: [DatabaseID]) -> Bool {
        let wasEmpty = turns.isEmpty
        for database in databases where waiting.insert(database).inserted { turns.append(database) }
        return wasEmpty && !turns.isEmpty
    }

    /// Removes and returns the next group.
    mutating func take(_ countMax: Int) -> [DatabaseID] {
        let group = Array(turns.prefix(countMax))
        turns.removeFirst(group.count)
        waiting.subtract(group)
        return group
    }
}
