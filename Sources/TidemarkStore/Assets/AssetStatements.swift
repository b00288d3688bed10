// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of assets. A save without assets runs none of it.
enum AssetStatements {
    /// Locks the known assets of the list in the order of their keys, so that two groups never deadlock. `forget` waits
    /// for the locks, and then sees that the assets were touched. 1 databases, 2 hashes, 3 byte counts.
    static let lock = Statement(
        .read, "lock_assets",
        """
        SELECT k.ordinal
          FROM unnest($1::bigint[], $2::bytea[], $3::bigint[]) WITH ORDINALITY
               AS k (database_id, sha256, byte_count, ordinal)
          JOIN asset a ON a.database_id = k.database_id AND a.sha256 = k.sha256 AND a.byte_count = k.byte_count
         ORDER BY a.database_id, a.sha256
           FOR NO KEY UPDATE OF a
        """, [.int8Array, .byteaArray, .int8Array])

    /// 1 databases, 2 zones, 3 record names, 4 hashes.
    static let addUses = Statement(
        .write, "add_asset_uses",
        """
        INSERT INTO asset_use (database_id, zone_id, record_name, sha256)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[])
            ON CONFLICT DO NOTHING
        """, [.int8Array, .int8Array, .textArray, .byteaArray])

    /// As ``addUses``.
    static let removeUses = Statement(
        .write, "remove_asset_uses",
        """
        DELETE FROM asset_use u
         USING unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[])
               AS k (database_id, zone_id, record_name, sha256)
         WHERE u.database_id = k.database_id AND u.sha256 = k.sha256 AND u.zone_id = k.zone_id
           AND u.record_name = k.record_name
        """, [.int8Array, .int8Array, .textArray, .byteaArray])

    /// Removes all uses of these records, and touches the assets as ``touch`` does. 1 databases, 2 zones, 3 record
    /// names, 4 times.
    static let removeUnreadUses = Statement(
        .write, "remove_unread_asset_uses",
        """
        WITH gone AS (
            DELETE FROM asset_use u
             USING (SELECT h.ctid, k.at
                      FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::timestamptz[])
                           AS k (database_id, zone_id, record_name, at)
                     CROSS JOIN LATERAL (
                           SELECT ctid FROM asset_use
                            WHERE database_id = k.database_id AND zone_id = k.zone_id
                              AND record_name BETWEEN k.record_name AND k.record_name
                            ORDER BY record_name OFFSET 0) AS h) AS d
             WHERE u.ctid = d.ctid
            RETURNING u.database_id, u.sha256, d.at),
        k AS (
            SELECT a.database_id, a.sha256, g.at
              FROM (SELECT database_id, sha256, max(at) AS at FROM gone GROUP BY database_id, sha256) AS g
              JOIN asset a ON a.database_id = g.database_id AND a.sha256 = g.sha256
               FOR NO KEY UPDATE OF a SKIP LOCKED)
        UPDATE asset SET touched_at = greatest(touched_at, k.at)
          FROM k
         WHERE asset.database_id = k.database_id AND asset.sha256 = k.sha256
        """, [.int8Array, .int8Array, .textArray, .timestamptzArray])

    /// Touches assets. Those that are named now are locked already (``lock``). Those that are no longer named may be
    /// locked by a group that names them, which touches them itself; waiting for it could deadlock two groups that
    /// exchange assets. 1 databases, 2 hashes, 3 times.
    static let touch = Statement(
        .write, "touch_assets",
        """
        WITH k AS (
            SELECT a.database_id, a.sha256, k.at
              FROM unnest($1::bigint[], $2::bytea[], $3::timestamptz[]) AS k (database_id, sha256, at)
              JOIN asset a ON a.database_id = k.database_id AND a.sha256 = k.sha256
               FOR NO KEY UPDATE OF a SKIP LOCKED
        )
        UPDATE asset SET touched_at = greatest(touched_at, k.at)
          FROM k
         WHERE asset.database_id = k.database_id AND asset.sha256 = k.sha256
        """, [.int8Array, .byteaArray, .timestamptzArray])

    /// Counts the new assets, listed in `added`, as storage use.
    private static let counted = """
        INSERT INTO asset_total (database_id, byte_count)
        SELECT database_id, sum(byte_count) FROM added GROUP BY database_id ORDER BY database_id
            ON CONFLICT (database_id) DO UPDATE SET byte_count = asset_total.byte_count + excluded.byte_count
        """

    /// NB: `xmax` tells an old row from a new one. PostgreSQL sets it in a row that it locked for the update; in a new
    /// row it is 0. 1 database, 2 hash, 3 byte count, 4 now.
    static let keep = Statement(
        .write, "keep_asset",
        """
        WITH kept AS (
            INSERT INTO asset (database_id, sha256, byte_count, created_at, touched_at)
            VALUES ($1, $2, $3, $4, $4)
                ON CONFLICT (database_id, sha256) DO UPDATE SET touched_at = excluded.touched_at
         RETURNING database_id, byte_count, xmax),
        added AS (SELECT * FROM kept WHERE xmax = 0)
        \(counted)
        """, [.int8, .bytea, .int8, .timestamptz])

    /// One row for each asset that was unknown. 1 databases, 2 hashes, 3 byte counts, 4 now.
    static let adopt = Statement(
        .write, "adopt_assets",
        """
        WITH added AS (
            INSERT INTO asset (database_id, sha256, byte_count, created_at, touched_at)
            SELECT k.*, $4, $4 FROM unnest($1::bigint[], $2::bytea[], $3::bigint[]) AS k
                ON CONFLICT DO NOTHING RETURNING database_id, byte_count),
        counted AS (
            \(counted))
        SELECT database_id FROM added
        """, [.int8Array, .byteaArray, .int8Array, .timestamptz])

    private static let isUnused = """
        NOT EXISTS (
            SELECT FROM asset_use u
              JOIN zone z ON z.database_id = u.database_id AND z.id = u.zone_id AND z.removal IS NULL
             WHERE u.database_id = a.database_id AND u.sha256 = a.sha256)
        """

    /// 1 the time before which they were last touched, 2 and 3 the database and hash after which to begin, 4 the most
    /// rows.
    static let unused = Statement(
        .read, "unused_assets",
        """
        SELECT a.database_id, a.sha256, a.byte_count
          FROM asset a
         WHERE (a.database_id, a.sha256) > ($2, $3) AND a.touched_at < $1 AND \(isUnused)
         ORDER BY a.database_id, a.sha256
         LIMIT $4
        """, [.timestamptz, .int8, .bytea, .int8])

    /// Runs before ``isStillUnused``. A statement sees what was committed before it began, so a save must be able to
    /// end first. 1 database, 2 hash.
    static let lockOne = Statement(
        .read, "lock_asset", "SELECT byte_count FROM asset WHERE database_id = $1 AND sha256 = $2 FOR UPDATE",
        [.int8, .bytea])

    /// One row if it is. 1 database, 2 hash, 3 the time before which it was last touched.
    static let isStillUnused = Statement(
        .read, "is_asset_unused",
        """
        SELECT a.byte_count FROM asset a
         WHERE a.database_id = $1 AND a.sha256 = $2 AND a.touched_at < $3 AND \(isUnused)
        """, [.int8, .bytea, .timestamptz])

    /// 1 database, 2 hash.
    static let forget = Statement(
        .write, "forget_asset",
        """
        WITH gone AS (DELETE FROM asset WHERE database_id = $1 AND sha256 = $2 RETURNING database_id, byte_count)
        UPDATE asset_total t SET byte_count = t.byte_count - gone.byte_count
          FROM gone WHERE t.database_id = gone.database_id
        """, [.int8, .bytea])

    /// Removes uses that records of ended zones have left. 1 database, 2 hash.
    static let forgetUses = Statement(
        .write, "forget_asset_uses", "DELETE FROM asset_use WHERE database_id = $1 AND sha256 = $2", [.int8, .bytea])
}
