// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling
package import TidemarkService

extension MemoryStore {
    package func beginWrite(_ reads: [ZoneRead]) async throws(StorageError) -> any WriteTransaction {
        try await reach(.beginSent)
        let transaction = MemoryTransaction(self)
        try await transaction.lock(database.withTables { $0.quotaRows(of: reads.map(\.key.database)) })
        // The locking statement sees the zones that live when it begins. A zone that ends while it waits is not locked
        // in the end, and one that is created meanwhile is not seen.
        let found = database.withTables { tables in reads.map { tables.livingZone($0.key) } }
        try await transaction.lock(Set(found.compactMap(\.self)).sorted().map { .zone($0) })
        let named = Set(
            reads.flatMap { read in read.assets.map { AssetKey(database: read.key.database, content: $0) } })
        try await transaction.lock(named.sorted().map { .asset($0) })
        try await transaction.reach(.beginLocked)
        let (snapshots, store) = database.withTables { tables in
            (tables.snapshots(reads, zones: found), tables.incarnation)
        }
        transaction.beginIdling()
        try await transaction.reach(.beginAnswered)
        return MemoryWriteTransaction(transaction, snapshots: snapshots, store: store, rejects: faults.rejects)
    }

    package func commit(_ changes: [ZoneChanges], at moments: [ZoneMoment]) async throws(StorageError) {
        if isCrashed { throw StorageError(.unavailable, detail: "the server is dead") }
        if faults.rejects(changes) { throw StorageError(.rejected, detail: "as planned") }
        switch faults.at(.commitSent) {
        case .none: await scheduler.pass(.zero)
        case .delay(let delay): await scheduler.pass(delay)
        case .reject: throw StorageError(.rejected)
        case .disconnect: throw StorageError(.commitUnknown, detail: "lost before the commit")
        case .commitLate(let delay):
            // The whole statement comes late, with its locks and its reads.
            _ = scheduler.schedule(after: delay) { [self] in
                scheduler.run { [self] in _ = try? await write(changes, ifStillAt: moments) }
            }
            throw StorageError(.commitUnknown, detail: "lost during the commit")
        case .crash:
            crash()
            faults.onCrash()
            // A commit under way when its server dies may take place or not.
            if scheduler.randomBits() & 1 == 0 { throw StorageError(.unavailable, detail: "the server is dead") }
        }
        guard try await write(changes, ifStillAt: moments) else { throw StorageError(.outdated) }
        do {
            try await reach(.commitAnswered)
        } catch {
            throw StorageError(.commitUnknown, detail: "lost after the commit")
        }
    }

    /// Does the work of PostgreSQL once it has the statement, even if the server is gone.
    ///
    /// - Returns: whether nothing had changed.
    private func write(
        _ changes: [ZoneChanges], ifStillAt moments: [ZoneMoment]
    ) async throws(StorageError) -> Bool {
        let transaction = MemoryTransaction(self)
        try await transaction.lock(changes.map(\.zone).sorted().map { .zone($0) })
        return transaction.finish { tables in
            guard moments.allSatisfy({ tables.isStill(at: $0) }) else { return false }
            if changes.contains(where: { !$0.sharing.isEmpty }) {
                tables.complaints.append("shares change without a transaction that read them")
            }
            for change in changes { tables.write(change) }
            return true
        }
    }

    package func beginZonesWrite(
        in database: DatabaseID, names: [String], life: DeviceID
    ) async throws(StorageError) -> any ZonesTransaction {
        try await reach(.beginSent)
        let transaction = MemoryTransaction(self)
        try await transaction.lock([.database(database)])
        let found = self.database.withTables { tables in
            names.compactMap { tables.livingZone(ZoneKey(database: database, name: $0)) }
        }
        try await transaction.lock(found.sorted().map { .zone($0) })
        try await transaction.reach(.beginLocked)
        let snapshot = self.database.withTables { tables in
            let zones = found.compactMap { tables.zones[$0]?.state }.filter { $0.removal == nil }
            return ZonesSnapshot(
                zones: Dictionary(zones.map { ($0.key.name, $0) }) { first, _ in first },
                zoneCount: tables.livingZones(in: database).count,
                accountZoneCount: tables.accountZoneCount(of: database),
                endedCount: tables.endedZoneCount(in: database),
                memory: tables.databases[database]?.memories[life], memoryEpoch: tables.memoryEpoch)
        }
        transaction.beginIdling()
        try await transaction.reach(.beginAnswered)
        let isClosed = self.database.withTables { tables in
            tables.databases[database]?.container.map { tables.closedContainers[$0] != nil } ?? false
        }
        guard !isClosed else {
            transaction.rollBack()
            throw StorageError(.containerClosed)
        }
        return MemoryZonesTransaction(transaction, database: database, snapshot: snapshot)
    }

    package func advanceDatabaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> StoreRead<DatabaseFeedRead> {
        try await reach(.advanceSent)
        let transaction = MemoryTransaction(self)
        try await transaction.lock([.feed(viewer)])
        try await transaction.reach(.advanceLocked)
        try await transaction.commit { $0.advanceFeed(of: viewer) }
        let read = database.withTables { $0.databaseFeed(of: viewer, after: after, entriesMax: entriesMax) }
        try await reach(.advanceAnswered)
        return read
    }
}

/// See `MemoryStore.beginWrite`.
private final class MemoryWriteTransaction: WriteTransaction {
    let snapshots: [ZoneSnapshot]
    let store: StoreIncarnation
    private let transaction: MemoryTransaction
    private let rejects: @Sendable ([ZoneChanges]) -> Bool

    init(
        _ transaction: MemoryTransaction, snapshots: [ZoneSnapshot], store: StoreIncarnation,
        rejects: @escaping @Sendable ([ZoneChanges]) -> Bool
    ) {
        self.transaction = transaction
        self.snapshots = snapshots
        self.store = store
        self.rejects = rejects
    }

    func commit(_ changes: [ZoneChanges]) async throws(StorageError) {
        if rejects(changes) {
            transaction.rollBack()
            throw StorageError(.rejected, detail: "as planned")
        }
        try await transaction.commit { tables in
            for change in changes { tables.write(change) }
        }
    }

    func rollback() async {
        transaction.rollBack()
    }
}

/// See `MemoryStore.beginZonesWrite`.
private final class MemoryZonesTransaction: ZonesTransaction {
    let snapshot: ZonesSnapshot
    private let database: DatabaseID
    private let transaction: MemoryTransaction

    init(_ transaction: MemoryTransaction, database: DatabaseID, snapshot: ZonesSnapshot) {
        self.transaction = transaction
        self.database = database
        self.snapshot = snapshot
    }

    func commit(_ changes: ZonesChanges, now: Timestamp) async throws(StorageError) {
        let database = database
        try await transaction.commit { $0.write(changes, in: database, now: now) }
    }

    func rollback() async {
        transaction.rollBack()
    }
}
