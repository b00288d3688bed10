// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// What a compaction removed.
    package struct Compaction: Sendable, Equatable {
        package var records = 0
        package var zones = 0

        package init() {}
    }

    /// Rows of one transaction. It bounds how long writers wait.
    private static let rowsMax: Int64 = 1_000

    /// Removes tombstones of records and zones that are older than `before`. Older tokens are expired from then on
    ///
    ///
    /// Zones whose records have not been cleared yet stay until a later compaction.
    package func compact(before: Timestamp) async throws(StorageError) -> Compaction {
        var forgotten = Compaction()
        let time = PostgresValue.timestamp(milliseconds: before.milliseconds)
        for (database, zone) in try await pairs(CompactionStatements.zonesWithTombstones(time)) {
            while true {
                let rows = try await storage.write([
                    CompactionStatements.lockZone(.int8(database), .int8(zone)),
                    CompactionStatements.forgetRecords(.int8(database), .int8(zone), time, .int8(Self.rowsMax)),
                ])
                let count = try first(rows[1]) { row throws(PostgresError) in try row.int64(0) } ?? 0
                forgotten.records += Int(count)
                if count < Self.rowsMax { break }
            }
        }
        for (database, _) in try await pairs(CompactionStatements.databasesWithEndedZones(time)) {
            // Every end gets its number first, so that older tokens are known to be too old.
            _ = try await storage.advanceDatabaseFeed(of: DatabaseID(database), after: nil, entriesMax: 0)
            let rows = try await storage.write([
                ChangeStatements.lockFeed(.int8(database)), CompactionStatements.forgetZones(.int8(database), time),
            ])
            forgotten.zones += Int(try first(rows[1]) { row throws(PostgresError) in try row.int64(0) } ?? 0)
        }
        return forgotten
    }

    private func pairs(_ statement: BoundStatement) async throws(StorageError) -> [(Int64, Int64)] {
        try all(try await storage.read(statement)) { row throws(PostgresError) in
            (try row.int64(0), try row.int64(1))
        }
    }
}

/// The SQL of ``AdminStore/compact(before:)``.
private enum CompactionStatements {
    /// 1 time.
    static let zonesWithTombstones = Statement(
        .read, "zones_with_tombstones",
        """
        SELECT z.database_id, z.id FROM zone z
         WHERE z.removal IS NULL
           AND (SELECT r.modified_at FROM record r
                 WHERE r.database_id = z.database_id AND r.zone_id = z.id AND r.is_deleted
                 ORDER BY r.modified_at LIMIT 1) < $1
         ORDER BY z.database_id, z.id
        """, [.timestamptz])

    /// 1 database, 2 zone.
    static let lockZone = Statement(
        .read, "lock_zone_for_compaction", "SELECT id FROM zone WHERE database_id = $1 AND id = $2 FOR UPDATE",
        [.int8, .int8])

    /// 1 database, 2 zone, 3 time, 4 the most rows. The only row has the number of removed rows, if there were any.
    static let forgetRecords = Statement(
        .write, "forget_records",
        """
        WITH gone AS (
            DELETE FROM record WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM record
                 WHERE database_id = $1 AND zone_id = $2 AND is_deleted AND modified_at < $3
                 ORDER BY modified_at LIMIT $4))
            RETURNING change_number)
        UPDATE zone SET oldest_token_number = greatest(oldest_token_number, (SELECT max(change_number) FROM gone)),
                        write_number = write_number + 1
         WHERE database_id = $1 AND id = $2 AND EXISTS (SELECT FROM gone)
        RETURNING (SELECT count(*) FROM gone)
        """, [.int8, .int8, .timestamptz, .int8])

    /// 1 time.
    static let databasesWithEndedZones = Statement(
        .read, "databases_with_ended_zones",
        """
        SELECT database_id, count(*) FROM zone WHERE removal IS NOT NULL AND removed_at < $1
         GROUP BY database_id ORDER BY database_id
        """, [.timestamptz])

    /// 1 database, 2 time. The only row has the number of removed rows, if there were any.
    static let forgetZones = Statement(
        .write, "forget_zones",
        """
        WITH ended AS (
            SELECT z.id FROM zone z
             WHERE z.database_id = $1 AND z.removal IS NOT NULL AND z.removed_at < $2
               AND (SELECT 1 FROM record r WHERE r.database_id = z.database_id AND r.zone_id = z.id
                     ORDER BY r.name LIMIT 1) IS NULL
               AND (SELECT 1 FROM record_reference f WHERE f.database_id = z.database_id AND f.zone_id = z.id
                     ORDER BY f.holder LIMIT 1) IS NULL),
        told AS (
            DELETE FROM feed_entry e USING ended
             WHERE e.database_id = $1 AND e.zone_id = ended.id AND e.removal IS NOT NULL
            RETURNING e.zone_id, e.number),
        gone AS (
            DELETE FROM zone z USING told WHERE z.database_id = $1 AND z.id = told.zone_id RETURNING z.id)
        UPDATE feed SET oldest_token = greatest(oldest_token, (SELECT max(number) FROM told))
         WHERE database_id = $1 AND EXISTS (SELECT FROM told)
        RETURNING (SELECT count(*) FROM gone)
        """, [.int8, .timestamptz])
}
