// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// A transaction that has locked zones, on a connection of its own.
final class PostgresWriteTransaction: WriteTransaction {
    let snapshots: [ZoneSnapshot]
    let store: StoreIncarnation
    private let lease: PostgresLease
    private let storage: PostgresStorage

    init(lease: PostgresLease, storage: PostgresStorage, snapshots: [ZoneSnapshot], store: StoreIncarnation) {
        self.lease = lease
        self.storage = storage
        self.snapshots = snapshots
        self.store = store
    }

    func commit(_ changes: [ZoneChanges]) async throws(StorageError) {
        do {
            _ = try await lease.connection.execute(ZoneWrites(changes).calls.map(\.bound))
            storage.release(lease)
        } catch {
            storage.release(lease)
            throw StorageError(error, duringCommit: true)
        }
    }

    func rollback() async {
        storage.release(lease)
    }
}
