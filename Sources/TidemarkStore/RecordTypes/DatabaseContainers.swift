// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Which container each database belongs to. That never changes, so that a server asks once, and no transaction again.
final class DatabaseContainers: Sendable {
    /// When there are more, all are forgotten: a few megabytes.
    private static let countMax = 100_000

    private let known = Mutex<[DatabaseID: ContainerID]>([:])

    /// Those of the databases that are remembered.
    func remembered(of databases: some Sequence<DatabaseID>) -> [DatabaseID: ContainerID] {
        known.withLock { known in
            var found: [DatabaseID: ContainerID] = [:]
            for database in databases { found[database] = known[database] }
            return found
        }
    }

    func remember(_ more: [DatabaseID: ContainerID]) {
        known.withLock { known in
            if known.count + more.count > Self.countMax { known = [:] }
            known.merge(more) { old, _ in old }
        }
    }
}
