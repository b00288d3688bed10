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
            let found = try await ZoneReads(reads, containers: known).run(on: lease.connection)
            containers.remember(found.containers)
            let isOutdated = known.values.contains { $0.version < found.schemaVersion }
            if isOutdated { containers.forget(before: found.schemaVersion) }
            // A database with a quota is locked before its zones, and an account before that.
            if isOutdated || found.containers.values.contains(where: \.hasQuota) {
                release(lease)
                return nil
            }
            let whole = try await HierarchyReads(reads).complete(found.snapshots, on: lease.connection)
            let snapshots = try await withRemovals(whole, on: lease.connection)
            return PostgresWriteTransaction(lease: lease, storage: self, snapshots: snapshots, store: found.store)
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
            let write = ZoneWrites(changes, ifStill: moments).callIfStill
            if try await lease.connection.run(write).rows == [true] { return }
        } catch {
            throw StorageError(error, duringCommit: true)
        }
        throw StorageError(.outdated)
    }

    /// How many records a look-up may name that takes PostgreSQL no long time, however large they are.
    private static let fewNames = 16

    package func records(
        named names: [String], in key: ZoneKey, bytesMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> ZoneSnapshot {
        var snapshot = ZoneSnapshot(key: key)
        if let refused = try await refusedRead(of: key, sharing) {
            snapshot.sharing = refused.sharing
            return snapshot
        }
        let query = LookUpQuery(zone: key, names: names, bytesMax: bytesMax)
        // Many large records take PostgreSQL many milliseconds. Small reads of others do not wait behind them.
        var found = try await read(
            sql.records.lookUpRecords(query), and: sharing, of: [key], isLong: names.count > Self.fewNames)
        snapshot.sharing = found.sharing[0]
        // Where hierarchies are shared, the access to each record depends on its place, of the same snapshot (I-5).
        // NB: a zone's own CKShare record is in no hierarchy, and is read alone for who opens a link: they get the same reads
        // whatever the link leads to.
        if sharing != .nothing, found.sharing[0]?.hasHierarchies == true,
            names.contains(where: { !Share.isZoneWide(named: $0) }),
            let covered = try await coveredRecords(query, sharing)
        {
            found.rows = covered.rows
            snapshot.sharing = covered.sharing
            snapshot.hierarchies = covered.hierarchies
        }
        for (row, unread) in found.rows {
            switch row {
            case .zone(let zone): snapshot.zone = zone.state(key)
            case .record(let record):
                snapshot.records[record.name] = record
                if let unread { snapshot.unread[record.name] = Int(unread) }
            case .scanEnd: break
            }
        }
        snapshot.cover()
        // I-5: a zone of another is not there, whatever became of it. Nor does the time tell it to who opens a link.
        guard snapshot.zone == nil, sharing.asker == nil else { return snapshot }
        do {
            return try await withRemovals([snapshot], on: nil)[0]
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// Adds why zones are missing, if any are: the rare case needs the further read.
    private func withRemovals(
        _ snapshots: [ZoneSnapshot], on connection: PostgresConnection?
    ) async throws(PostgresError) -> [ZoneSnapshot] {
        let missing = snapshots.filter { $0.zone == nil }.map(\.key)
        guard !missing.isEmpty else { return snapshots }
        let call = sql.records.readRemovals(missing)
        let rows = if let connection { try await connection.run(call).rows } else { try await pool.run(call).rows }
        let removals = Dictionary(rows.map { ($0.zone, $0.reason) }) { $1 }
        return snapshots.map { snapshot in
            var snapshot = snapshot
            if snapshot.zone == nil { snapshot.lastRemoval = removals[snapshot.key] ?? nil }
            return snapshot
        }
    }
}
