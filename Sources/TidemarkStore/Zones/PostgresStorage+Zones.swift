// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func beginZonesWrite(
        in database: DatabaseID, names: [String], life: DeviceID
    ) async throws(StorageError) -> any ZonesTransaction {
        let lease = try await acquire()
        var snapshot: ZonesSnapshot
        let isClosed: Bool
        do {
            let (_, _, closed, zones, count, ofAccount, memories) = try await lease.connection.run(
                Call.begin, sql.zones.lockDatabase(database), sql.zones.isClosed(database),
                sql.zones.lockNamed((database, names)),
                sql.zones.count(database), sql.zones.countOfAccount(database),
                sql.zones.readMemory((database, life)))
            isClosed = !closed.isEmpty
            let counts = count.rows.first
            snapshot = ZonesSnapshot(
                zoneCount: counts?.living ?? 0, accountZoneCount: ofAccount.rows.first ?? 0,
                endedCount: counts?.ended ?? 0)
            for zone in zones.rows { snapshot.zones[zone.key.name] = zone }
            for row in memories.rows { (snapshot.memoryEpoch, snapshot.memory) = (row.epoch, row.memory) }
        } catch {
            release(lease)
            throw StorageError(error, duringCommit: false)
        }
        guard !isClosed else {
            release(lease)
            throw StorageError(.containerClosed)
        }
        return PostgresZonesTransaction(lease: lease, storage: self, database: database, snapshot: snapshot)
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

    /// Removes what some ended zones have left (R-030: a deletion is visible at once, the work is done afterwards).
    ///
    /// - Parameters:
    ///   - place: where the step before has ended.
    ///   - zonesMax: how many zones are looked at.
    ///   - rowsMax: how many rows of each kind are removed.
    /// - Returns: where the next step begins; nil if no zone is left to look at.
    package func clearEndedZones(
        after place: EndedZone, zonesMax: Int = 1_000, rowsMax: Int = 1_000
    ) async throws(StorageError) -> EndedZone? {
        let zones = try await read(sql.zones.ended((place, zonesMax)))
        guard let last = zones.last else { return nil }
        let some = EndedZones(zones: zones, rowsMax: rowsMax)
        let (records, references, uses, tokens, targets, links, participants, requests, shares, covers, grants) =
            try await write(
                sql.zones.clearRecords(some), sql.zones.clearReferences(some), sql.zones.clearAssetUses(some),
                sql.zones.clearClientTokens(some), sql.zones.clearShareLinkTargets(some),
                sql.zones.clearShareLinks(some),
                sql.zones.clearParticipants(some), sql.zones.clearAccessRequests(some), sql.zones.clearShares(some),
                sql.zones.clearShareRecords(some), sql.zones.clearKeyGrants(some))
        let all = [records, references, uses, tokens, targets, links, participants, requests, shares, covers, grants]
        let removed = all.map(\.affectedCount)
        if removed.contains(rowsMax) { return place }
        return zones.count == zonesMax ? last : nil
    }
}

extension PostgresStorage {
    package func advanceMemoryEpoch(after age: Duration, keeping kept: Int64) async throws(StorageError) -> Bool {
        let advanced = try await write(sql.zones.advanceMemoryEpoch(age / .seconds(1)))
        guard advanced.affectedCount > 0 else { return false }
        // After the epoch is known, so that nobody takes cleared memories for requests that were never remembered.
        try await clearMemories(keeping: kept)
        return true
    }

    /// Looks at all memories, because an index by age would make every save slower. In steps: there may be very many,
    /// and a statement has its time.
    func clearMemories(keeping kept: Int64, rowsMax: Int = 1_000) async throws(StorageError) {
        var position: MemoryPosition? = MemoryPosition()
        while let last = position {
            position = try await write(sql.zones.clearMemories((last, kept, rowsMax))).rows.first
        }
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
