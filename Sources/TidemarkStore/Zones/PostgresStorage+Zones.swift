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
            let rows = try await lease.connection.execute([
                .begin,
                ZoneStatements.lockDatabase(.int8(database.rawValue)),
                ZoneStatements.lockNamed(.int8(database.rawValue), .textArray(names)),
                ZoneStatements.count(.int8(database.rawValue)),
                ZoneStatements.readMemory(.int8(database.rawValue), .uuid(life.bytes)),
            ])
            var snapshot = ZonesSnapshot(zoneCount: Int(try rows[3][0].int64(0)))
            for row in rows[2] {
                let zone = try ZoneRow.decode(row, from: 0, in: database)
                snapshot.zones[zone.key.name] = zone
            }
            for row in rows[4] {
                snapshot.memoryEpoch = try row.int64(0)
                if try !row.isNull(1) { snapshot.memory = RequestMemory(decoding: try row.bytes(1)) }
            }
            return PostgresZonesTransaction(
                lease: lease, storage: self, database: database, snapshot: snapshot)
        } catch {
            release(lease)
            throw StorageError(error, duringCommit: false)
        }
    }

    package func zones(in database: DatabaseID) async throws(StorageError) -> [ZoneState] {
        let rows = try await read(ZoneStatements.all(.int8(database.rawValue)))
        return try decode { () throws(PostgresError) in
            var zones: [ZoneState] = []
            for row in rows { zones.append(try ZoneRow.decode(row, from: 0, in: database)) }
            return zones
        }
    }

    package func removals(
        ofZones names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [String: ZoneRemovalReason] {
        let rows = try await read(
            RecordStatements.readRemovals(.int8Array(names.map { _ in database.rawValue }), .textArray(names)))
        return try decode { () throws(PostgresError) in
            var removals: [String: ZoneRemovalReason] = [:]
            for row in rows { removals[try row.string(1)] = ZoneRemovalReason(rawValue: try row.int16(2)) }
            return removals
        }
    }

    /// Removes what ended zones have left (R-030: a deletion is visible at once, the work is done afterwards).
    ///
    /// - Returns: whether there may be more to remove.
    package func clearEndedZones(recordsMax: Int = 1_000) async throws(StorageError) -> Bool {
        let rows = try await write([
            ZoneStatements.clearRecords(.int8(Int64(recordsMax))),
            ZoneStatements.clearReferences(.int8(Int64(recordsMax))),
            ZoneStatements.clearClientTokens(),
        ])
        return rows[0].affectedCount == recordsMax || rows[1].affectedCount == recordsMax
    }
}

extension PostgresStorage {
    /// Looks at all memories, because an index by age would make every save slower.
    package func advanceMemoryEpoch(after age: Duration, keeping kept: Int64) async throws(StorageError) -> Bool {
        let rows = try await write([ZoneStatements.advanceMemoryEpoch(.float8(age / .seconds(1)))])
        guard rows[0].affectedCount > 0 else { return false }
        // After the epoch is known, so that nobody takes cleared memories for requests that were never remembered.
        _ = try await write([ZoneStatements.clearMemories(.int8(kept))])
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
            _ = try await lease.connection.execute(
                statements(for: changes, now: .timestamp(milliseconds: now.milliseconds)))
            storage.release(lease)
        } catch {
            storage.release(lease)
            throw StorageError(error, duringCommit: true)
        }
    }

    /// Ends before new zones: one request may delete a zone and create it again.
    private func statements(for changes: ZonesChanges, now: PostgresValue) -> [BoundStatement] {
        var statements: [BoundStatement] = []
        if !changes.removed.isEmpty {
            statements.append(
                ZoneStatements.end(
                    .int8(database.rawValue), .int8Array(changes.removed.map(\.rawValue)),
                    .int2(changes.removalReason.rawValue), now))
        }
        if !changes.created.isEmpty {
            statements.append(
                ZoneStatements.create(
                    .int8(database.rawValue), .textArray(changes.created),
                    .boolArray(changes.created.map(changes.createdPerZone.contains)), now))
        }
        statements.append(
            RecordStatements.writeMemories(
                .int8Array([database.rawValue]), .int8Array([0]), .uuidArray([changes.life.bytes]),
                .byteaArray([changes.memory.encoded])))
        statements.append(.commit)
        return statements
    }

    func rollback() async {
        storage.release(lease)
    }
}
