// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func beginZonesWrite(
        in database: DatabaseID, names: [String], life: DeviceID
    ) async throws(StorageError) -> any ZonesTransaction {
        let lease = try await acquire()
        do {
            let (_, _, zones, count, memories) = try await lease.connection.run(
                Call.begin, sql.zones.lockDatabase(database), sql.zones.lockNamed((database, names)),
                sql.zones.count(database), sql.zones.readMemory((database, life)))
            let counts = count.rows.first
            var snapshot = ZonesSnapshot(zoneCount: counts?.living ?? 0, endedCount: counts?.ended ?? 0)
            for zone in zones.rows { snapshot.zones[zone.key.name] = zone }
            for row in memories.rows { (snapshot.memoryEpoch, snapshot.memory) = (row.epoch, row.memory) }
            return PostgresZonesTransaction(
                lease: lease, storage: self, database: database, snapshot: snapshot)
        } catch {
            release(lease)
            throw StorageError(error, duringCommit: false)
        }
    }

    package func zones(
        in database: DatabaseID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState] {
        try await read(sql.zones.page((database, after ?? ZoneID(0), zonesMax)))
    }

    package func zones(named names: [String], in database: DatabaseID) async throws(StorageError) -> [ZoneState] {
        try await read(sql.zones.named((database, names)))
    }

    package func removals(
        ofZones names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [String: ZoneRemovalReason] {
        let rows = try await read(sql.records.readRemovals(names.map { ZoneKey(database: database, name: $0) }))
        return Dictionary(rows.compactMap { row in row.reason.map { (row.zone.name, $0) } }) { $1 }
    }

    /// Removes what ended zones have left (R-030: a deletion is visible at once, the work is done afterwards).
    ///
    /// - Returns: whether there may be more to remove.
    package func clearEndedZones(recordsMax: Int = 1_000) async throws(StorageError) -> Bool {
        let (records, references, _) = try await write(
            sql.zones.clearRecords(recordsMax), sql.zones.clearReferences(recordsMax), sql.zones.clearClientTokens())
        return records.affectedCount == recordsMax || references.affectedCount == recordsMax
    }
}

extension PostgresStorage {
    /// Looks at all memories, because an index by age would make every save slower.
    package func advanceMemoryEpoch(after age: Duration, keeping kept: Int64) async throws(StorageError) -> Bool {
        let advanced = try await write(sql.zones.advanceMemoryEpoch(age / .seconds(1)))
        guard advanced.affectedCount > 0 else { return false }
        // After the epoch is known, so that nobody takes cleared memories for requests that were never remembered.
        _ = try await write(sql.zones.clearMemories(kept))
        return true
    }
}

/// A transaction that has locked a database's row and named zones, on a connection of its own.
final class PostgresZonesTransaction: ZonesTransaction {
    let snapshot: ZonesSnapshot
    private let lease: PostgresLease
    private let storage: PostgresStorage
    private let database: DatabaseID

    init(lease: PostgresLease, storage: PostgresStorage, database: DatabaseID, snapshot: ZonesSnapshot) {
        self.lease = lease
        self.storage = storage
        self.database = database
        self.snapshot = snapshot
    }

    func commit(_ changes: ZonesChanges, now: Timestamp) async throws(StorageError) {
        do {
            _ = try await lease.connection.execute(calls(for: changes, now: now).map(\.bound))
            storage.release(lease)
        } catch {
            storage.release(lease)
            throw StorageError(error, duringCommit: true)
        }
    }

    /// Ends before new zones: one request may delete a zone and create it again.
    private func calls(for changes: ZonesChanges, now: Timestamp) -> [Call<Void>] {
        var calls: [Call<Void>] = []
        if !changes.removed.isEmpty {
            calls.append(sql.zones.end((database, changes.removed, changes.removalReason, now)))
        }
        if !changes.created.isEmpty {
            let zones = changes.created.map { (name: $0, isPerZone: changes.createdPerZone.contains($0)) }
            calls.append(sql.zones.create((database, zones, now)))
        }
        let memory = MemoryRow(database: database, zone: ZoneID(0), life: changes.life, memory: changes.memory)
        return calls + [sql.records.writeMemories([memory]), .commit]
    }

    func rollback() async {
        storage.release(lease)
    }
}
