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

    /// Removes tombstones of records and zones that are older than `before`. Older tokens are expired from then on
    ///
    ///
    /// Zones whose records have not been cleared yet stay until a later compaction.
    package func compact(before: Timestamp) async throws(StorageError) -> Compaction {
        var forgotten = Compaction()
        for (database, zone) in try await storage.read(sql.compaction.zonesWithTombstones(before)) {
            while true {
                let count = try await storage.forgetTombstones(of: database, in: zone, before: before)
                forgotten.records += count
                if count < PostgresStorage.forgottenAtOnce { break }
            }
        }
        for (database, zone) in try await storage.read(sql.compaction.zonesWithShareRecords()) {
            while try await storage.forgetShareRecords(of: database, in: zone) == PostgresStorage.shareRecordsAtOnce {}
        }
        for database in try await storage.read(sql.compaction.databasesWithEndedZones(before)) {
            forgotten.zones += try await storage.forgetZones(
                of: database, by: sql.compaction.forgetZones((database, before)))
        }
        return forgotten
    }
}

extension PostgresStorage {
    /// Tombstones that one transaction forgets. It bounds how long writers wait.
    fileprivate static let forgottenAtOnce = 1_000
    /// The same of rows of which no reader is told any more.
    fileprivate static let shareRecordsAtOnce = 10_000
    /// Such transactions of one call. The next request that finds too many goes on.
    private static let forgettingStepsMax = 20

    package func forgetTombstones(of database: DatabaseID) async throws(StorageError) {
        var bytesKept: Int64?
        for _ in 0..<Self.forgettingStepsMax {
            guard let (zone, byteCount) = try await read(sql.compaction.zoneWithMostTombstones(database)).first else {
                return
            }
            if let bytesKept, byteCount <= bytesKept { return }
            bytesKept = bytesKept ?? byteCount / 2
            guard try await forgetTombstones(of: database, in: zone, before: Self.afterAll) > 0 else { return }
        }
    }

    /// Later than any tombstone, also one that was written while the clock was wrong: the end of the year 9999.
    private static let afterAll = Timestamp(milliseconds: 253_402_300_799_999)

    /// Forgets the oldest tombstones of a zone.
    ///
    /// - Returns: how many; fewer than ``forgottenAtOnce`` if there are no more.
    fileprivate func forgetTombstones(
        of database: DatabaseID, in zone: ZoneID, before: Timestamp
    ) async throws(StorageError) -> Int {
        let (_, gone) = try await write(
            sql.compaction.lockZone((database, zone)),
            sql.compaction.forgetRecords((database, zone, before, Self.forgottenAtOnce)))
        return gone.rows.first ?? 0
    }

    /// Forgets what has left shares of hierarchies up to the zone's oldest token, and all of shares that have ended. Nobody can
    /// be told of it any more, so it needs no lock.
    ///
    /// - Returns: how many rows; fewer than ``shareRecordsAtOnce`` if there are no more.
    fileprivate func forgetShareRecords(of database: DatabaseID, in zone: ZoneID) async throws(StorageError) -> Int {
        try await write(sql.compaction.forgetShareRecords((database, zone, Self.shareRecordsAtOnce))).rows.first ?? 0
    }

    package func forgetEndedZones(of database: DatabaseID, keeping countMax: Int) async throws(StorageError) {
        try await forgetEndedZones(of: database, keeping: countMax, atOnce: 20_000)
    }

    /// - Parameter forgottenMax: how many one call forgets, because devices that fetch wait meanwhile. A server that did
    ///   not forget may have left very many.
    func forgetEndedZones(
        of database: DatabaseID, keeping countMax: Int, atOnce forgottenMax: Int
    ) async throws(StorageError) {
        _ = try await forgetZones(
            of: database, by: sql.compaction.forgetOldestZones((database, countMax, forgottenMax)))
    }

    /// Every end gets its number first, so that older tokens are known to be too old.
    ///
    /// - Returns: how many zones the call has forgotten.
    fileprivate func forgetZones(of database: DatabaseID, by call: Call<Int>) async throws(StorageError) -> Int {
        _ = try await advanceDatabaseFeed(of: database, after: nil, entriesMax: 0)
        let (_, gone) = try await write(sql.changes.lockFeed(database), call)
        return gone.rows.first ?? 0
    }
}

/// The SQL of ``AdminStore/compact(before:)``.
struct CompactionStatements: Sendable {
    let zonesWithTombstones = DeclaredStatement<Timestamp, (database: DatabaseID, zone: ZoneID)>(
        .read, "zones_with_tombstones",
        """
        SELECT z.database_id, z.id FROM zone z
         WHERE z.removal IS NULL
           AND (SELECT r.modified_at FROM record r
                 WHERE r.database_id = z.database_id AND r.zone_id = z.id AND r.is_deleted
                 ORDER BY r.modified_at LIMIT 1) < \(\.self)
         ORDER BY z.database_id, z.id
        """
    ) { row throws(PostgresError) in
        (try row["database_id"], try row["id"])
    }

    /// With the bytes of all tombstones of the database.
    let zoneWithMostTombstones = DeclaredStatement<DatabaseID, (zone: ZoneID, byteCount: Int64)>(
        .read, "zone_with_most_tombstones",
        """
        SELECT id, (sum(tombstone_byte_count) OVER ())::bigint AS byte_count
          FROM zone WHERE database_id = \(\.self) AND removal IS NULL AND tombstone_byte_count > 0
         ORDER BY tombstone_byte_count DESC LIMIT 1
        """
    ) { row throws(PostgresError) in (try row["id"], try row["byte_count"]) }

    let lockZone = DeclaredStatement<(database: DatabaseID, zone: ZoneID), Void>(
        .read, "lock_zone_for_compaction",
        "SELECT id FROM zone WHERE database_id = \(\.database) AND id = \(\.zone) FOR UPDATE")

    /// The only row has the number of removed tombstones, if there were any. What is stored of these records in shares of
    /// hierarchies goes with them: it is not newer than the tombstones, and tokens from before those are expired.
    let forgetRecords = DeclaredStatement<(database: DatabaseID, zone: ZoneID, before: Timestamp, countMax: Int), Int>(
        .write, "forget_records",
        """
        WITH gone AS (
            DELETE FROM record WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM record
                 WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND is_deleted AND modified_at < \(\.before)
                 ORDER BY modified_at LIMIT \(\.countMax)))
            RETURNING name, change_number, octet_length(name) + \(String(RecordState.overheadBytes)) AS byte_count),
        uncovered AS (
            DELETE FROM share_record WHERE ctid = ANY (ARRAY(
                SELECT e.ctid FROM gone
                 CROSS JOIN LATERAL (
                       SELECT ctid FROM share_record
                        WHERE database_id = \(\.database) AND zone_id = \(\.zone)
                          AND name BETWEEN gone.name AND gone.name
                        ORDER BY name OFFSET 0) AS e)))
        UPDATE zone SET oldest_token_number = greatest(oldest_token_number, (SELECT max(change_number) FROM gone)),
                        tombstone_byte_count = tombstone_byte_count - (SELECT sum(byte_count) FROM gone)::bigint,
                        write_number = write_number + 1
         WHERE database_id = \(\.database) AND id = \(\.zone) AND EXISTS (SELECT FROM gone)
        RETURNING (SELECT count(*) FROM gone)
        """)

    let zonesWithShareRecords = DeclaredStatement<Void, (database: DatabaseID, zone: ZoneID)>(
        .read, "zones_with_share_records",
        """
        SELECT z.database_id, z.id FROM zone z
         WHERE z.removal IS NULL
           AND (SELECT 1 FROM key_grant g WHERE g.database_id = z.database_id AND g.zone_id = z.id
            ORDER BY g.user_id LIMIT 1) IS NULL
         AND (SELECT 1 FROM share_record e WHERE e.database_id = z.database_id AND e.zone_id = z.id
                 ORDER BY e.name LIMIT 1) IS NOT NULL
         ORDER BY z.database_id, z.id
        """
    ) { row throws(PostgresError) in
        (try row["database_id"], try row["id"])
    }

    /// The shares are found one after another in the index. Of a living one the rows go that have left it, and that no token
    /// needs. The only row has their number.
    let forgetShareRecords = DeclaredStatement<(database: DatabaseID, zone: ZoneID, countMax: Int), Int>(
        .write, "forget_share_records",
        """
        WITH RECURSIVE k (share_number) AS (
            (SELECT share_number FROM share_record WHERE database_id = \(\.database) AND zone_id = \(\.zone)
              ORDER BY share_number LIMIT 1)
             UNION ALL
            SELECT (SELECT share_number FROM share_record
                     WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND share_number > k.share_number
                     ORDER BY share_number LIMIT 1)
              FROM k WHERE k.share_number IS NOT NULL),
        s AS MATERIALIZED (
            SELECT share_number,
                   (SELECT 1 FROM share
                     WHERE database_id = \(\.database) AND zone_id = \(\.zone)
                       AND number BETWEEN k.share_number AND k.share_number AND ended_number IS NULL
                     ORDER BY number LIMIT 1) IS NOT NULL AS is_living
              FROM k WHERE share_number IS NOT NULL),
        gone AS (
            DELETE FROM share_record WHERE ctid = ANY (ARRAY(
                SELECT e.ctid FROM s
                 CROSS JOIN LATERAL (
                       SELECT ctid FROM share_record
                        WHERE database_id = \(\.database) AND zone_id = \(\.zone)
                          AND share_number BETWEEN s.share_number AND s.share_number
                          AND (NOT s.is_living OR has_left AND number <= (
                              SELECT oldest_token_number FROM zone
                               WHERE database_id = \(\.database) AND id = \(\.zone)))
                        ORDER BY share_number, number LIMIT \(\.countMax)) AS e
                 LIMIT \(\.countMax)))
            RETURNING number)
        SELECT count(*) FROM gone
        """)

    let databasesWithEndedZones = DeclaredStatement<Timestamp, DatabaseID>(
        .read, "databases_with_ended_zones",
        """
        SELECT database_id FROM zone WHERE removal IS NOT NULL AND removed_at < \(\.self)
         GROUP BY database_id ORDER BY database_id
        """)

    let forgetZones: DeclaredStatement<(database: DatabaseID, before: Timestamp), Int> = forgetting(
        "forget_zones", \.database,
        among: "zone z WHERE z.database_id = \(\.database) AND z.removal IS NOT NULL AND z.removed_at < \(\.before)")

    let forgetOldestZones: DeclaredStatement<(database: DatabaseID, countMax: Int, forgottenMax: Int), Int> =
        forgetting(
            "forget_oldest_zones", \.database,
            among: """
                (SELECT database_id, id
                   FROM (SELECT database_id, zone_id AS id, number FROM feed_entry
                          WHERE database_id = \(\.database) AND removal IS NOT NULL
                          ORDER BY number DESC OFFSET \(\.countMax)) AS e
                  ORDER BY number LIMIT \(\.forgottenMax)) AS z WHERE true
                """)

    /// Of an ended zone `z`: nothing that it had is there any more. Otherwise nobody would find it later.
    static let nothingIsLeft = """
        ((SELECT 1 FROM record r WHERE r.database_id = z.database_id AND r.zone_id = z.id
            ORDER BY r.name LIMIT 1) IS NULL
         AND (SELECT 1 FROM record_reference f WHERE f.database_id = z.database_id AND f.zone_id = z.id
            ORDER BY f.holder LIMIT 1) IS NULL
         AND (SELECT 1 FROM asset_use u WHERE u.database_id = z.database_id AND u.zone_id = z.id
            ORDER BY u.record_name LIMIT 1) IS NULL
         AND (SELECT 1 FROM client_token t WHERE t.database_id = z.database_id AND t.zone_id = z.id
            ORDER BY t.device_id LIMIT 1) IS NULL
         AND (SELECT 1 FROM share_link_target t
            WHERE t.owner_database_id = z.database_id AND t.zone_id = z.id
            ORDER BY t.zone_id LIMIT 1) IS NULL
         AND (SELECT 1 FROM share_link l WHERE l.database_id = z.database_id AND l.zone_id = z.id
            ORDER BY l.zone_id LIMIT 1) IS NULL
         AND (SELECT 1 FROM share_participant p WHERE p.database_id = z.database_id AND p.zone_id = z.id
            ORDER BY p.share_number LIMIT 1) IS NULL
         AND (SELECT 1 FROM share_requester q WHERE q.database_id = z.database_id AND q.zone_id = z.id
            ORDER BY q.share_number LIMIT 1) IS NULL
         AND (SELECT 1 FROM key_grant g WHERE g.database_id = z.database_id AND g.zone_id = z.id
            ORDER BY g.user_id LIMIT 1) IS NULL
         AND (SELECT 1 FROM share_record e WHERE e.database_id = z.database_id AND e.zone_id = z.id
            ORDER BY e.name LIMIT 1) IS NULL
         AND (SELECT 1 FROM share s WHERE s.database_id = z.database_id AND s.zone_id = z.id
            ORDER BY s.number LIMIT 1) IS NULL)
        """

    /// The only row has the number of removed rows, if there were any. Zones of which something is left stay: nobody
    /// would find it later.
    ///
    /// NB: rows are removed by their places. PostgreSQL expects few zones of a database, and would compare each row with
    /// each.
    ///
    /// - Parameter some: ended zones `z` of the database; what follows FROM, with a condition.
    private static func forgetting<Input>(
        _ name: String, _ database: any KeyPath<Input, DatabaseID> & Sendable, among some: SQL<Input>
    ) -> DeclaredStatement<Input, Int> {
        DeclaredStatement(
            .write, name,
            """
            WITH ended AS (
                SELECT z.id FROM \(some) AND \(nothingIsLeft)),
            told AS (
                DELETE FROM feed_entry WHERE ctid = ANY (ARRAY(
                    SELECT e.ctid FROM ended
                     CROSS JOIN LATERAL (
                           SELECT ctid FROM feed_entry
                            WHERE database_id = \(database) AND zone_id BETWEEN ended.id AND ended.id
                              AND removal IS NOT NULL
                            ORDER BY zone_id LIMIT 1) AS e))
                RETURNING zone_id, number),
            gone AS (
                DELETE FROM zone WHERE ctid = ANY (ARRAY(
                    SELECT z.ctid FROM told
                     CROSS JOIN LATERAL (
                           SELECT ctid FROM zone
                            WHERE database_id = \(database) AND id BETWEEN told.zone_id AND told.zone_id
                            ORDER BY id LIMIT 1) AS z))
                RETURNING id)
            UPDATE feed SET oldest_token = greatest(oldest_token, (SELECT max(number) FROM told))
             WHERE database_id = \(database) AND EXISTS (SELECT FROM told)
            RETURNING (SELECT count(*) FROM gone)
            """)
    }
}
