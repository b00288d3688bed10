// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func beginWrite(_ reads: [ZoneRead]) async throws(StorageError) -> any WriteTransaction {
        for _ in 0..<Self.beginningsMax {
            if let transaction = try await begin(reads) { return transaction }
        }
        throw StorageError(.unavailable, detail: "the quotas do not come to rest")
    }

    /// One attempt to notice that an operator changed something, one to learn that there is a quota, one to lock it;
    /// and the same again.
    private static let beginningsMax = 6

    /// Nil if the remembered facts of the databases were missing or out of date. They are up to date now.
    private func begin(_ reads: [ZoneRead]) async throws(StorageError) -> PostgresWriteTransaction? {
        let lease = try await acquire()
        do {
            let known = containers.remembered(of: reads.lazy.map(\.key.database))
            let reads = ZoneReads(reads, homes: known)
            let rows = try await lease.connection.execute(reads.statements)
            let found = try reads.newHomes(from: rows)
            containers.remember(found)
            let version = try reads.schemaVersion(from: rows)
            let isOutdated = known.values.contains { $0.version < version }
            if isOutdated { containers.forget(before: version) }
            // A database with a quota is locked before its zones.
            if isOutdated || found.values.contains(where: { $0.bytesMax != nil }) {
                release(lease)
                return nil
            }
            let snapshots = try await withRemovals(try reads.snapshots(from: rows), on: lease.connection)
            return PostgresWriteTransaction(
                lease: lease, storage: self, snapshots: snapshots, store: try reads.store(from: rows))
        } catch {
            release(lease)
            throw StorageError(error, duringCommit: false)
        }
    }

    package func commit(_ changes: [ZoneChanges], at moments: [ZoneMoment]) async throws(StorageError) {
        // The version is that of all containers' schemas. If two moments have different ones, one of them is out of
        // date.
        let isOneMoment = moments.allSatisfy { moment in
            moment.store == moments[0].store && moment.schema.version == moments[0].schema.version
        }
        guard isOneMoment else { throw StorageError(.outdated) }
        let lease = try await acquire()
        defer { release(lease) }
        do throws(PostgresError) {
            let rows = try await lease.connection.execute([ZoneWrites(changes).ifStill(at: moments)])
            if try rows[0][0].int64(0) > 0 { return }
        } catch {
            throw StorageError(error, duringCommit: true)
        }
        throw StorageError(.outdated)
    }

    package func records(named names: [String], in key: ZoneKey) async throws(StorageError) -> ZoneSnapshot {
        let rows = try await read(Self.lookUp(names, in: key))
        var snapshot = ZoneSnapshot(key: key)
        try decode { () throws(PostgresError) in
            for row in rows {
                if try row.isNull(0) {
                    snapshot.zone = try PageZoneRow.decode(row, key: key)
                } else {
                    let record = try RecordRow.decode(row, from: 0)
                    snapshot.records[record.name] = record
                }
            }
        }
        guard snapshot.zone == nil else { return snapshot }
        do {
            return try await withRemovals([snapshot], on: nil)[0]
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    static func lookUp(_ names: [String], in key: ZoneKey) -> BoundStatement {
        RecordStatements.lookUpRecords(.int8(key.database.rawValue), .text(key.name), .textArray(names))
    }

    /// Adds why zones are missing, if any are: the rare case needs the further read.
    private func withRemovals(
        _ snapshots: [ZoneSnapshot], on connection: PostgresConnection?
    ) async throws(PostgresError) -> [ZoneSnapshot] {
        let missing = snapshots.filter { $0.zone == nil }.map(\.key)
        guard !missing.isEmpty else { return snapshots }
        let statement = RecordStatements.readRemovals(
            .int8Array(missing.map(\.database.rawValue)), .textArray(missing.map(\.name)))
        let rows: PostgresRows
        if let connection {
            rows = try await connection.execute([statement])[0]
        } else {
            rows = try await pool.execute([statement])[0]
        }
        var removals: [ZoneKey: ZoneRemovalReason] = [:]
        for row in rows {
            let key = ZoneKey(database: DatabaseID(try row.int64(0)), name: try row.string(1))
            removals[key] = ZoneRemovalReason(rawValue: try row.int16(2))
        }
        return snapshots.map { snapshot in
            var snapshot = snapshot
            if snapshot.zone == nil { snapshot.lastRemoval = removals[snapshot.key] }
            return snapshot
        }
    }
}
