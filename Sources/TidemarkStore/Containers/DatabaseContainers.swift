// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Remembers the container of each database, which never changes, and whether it has a quota. A server reads
/// them once and then again only after an operator changes something. Such a change increments the version of the
/// schemas, which every write transaction reads in any case.
final class DatabaseContainers: Sendable {
    struct Entry {
        let container: ContainerID
        /// The database's quota, if it has one.
        let bytesMax: Int64?
        /// The owner's account, if that has a quota.
        let limitedAccount: AccountID?
        /// Whether it is a public database, in which the bytes of creators are counted.
        var isPublic = false
        /// What one account may have in a public database, if that is bounded.
        var shareMax: Int64?
        /// Whether writes must count bytes.
        var hasQuota: Bool { bytesMax != nil || limitedAccount != nil || shareMax != nil }
        /// The version of the schemas that was read before the quota.
        let version: Int64
    }

    /// The most entries, which take a few megabytes. Past it all are dropped.
    private static let countMax = 100_000

    private let known = Mutex<[DatabaseID: Entry]>([:])

    /// The remembered ones of these databases.
    func remembered(of databases: some Sequence<DatabaseID>) -> [DatabaseID: Entry] {
        known.withLock { known in
            var found: [DatabaseID: Entry] = [:]
            for database in databases { found[database] = known[database] }
            return found
        }
    }

    func remember(_ more: [DatabaseID: Entry]) {
        known.withLock { known in
            if known.count + more.count > Self.countMax { known = [:] }
            known.merge(more) { old, new in old.version < new.version ? new : old }
        }
    }

    /// Drops what was read before the schemas had this version.
    func forget(before version: Int64) {
        known.withLock { known in known = known.filter { $0.value.version >= version } }
    }
}
