// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// A user of a public database, and an asset that the user has sent or wants to name.
struct AssetSender: Sendable, Hashable {
    let asset: AssetKey
    let user: UserID
}

/// The SQL of assets. A save without assets runs none of it.
struct AssetStatements: Sendable {
    /// Locks the known assets of the list in the order of their keys, so that two groups never deadlock. `forget` waits
    /// for the locks, and then sees that the assets were touched.
    let lock = DeclaredStatement<[WantedKey<FieldAsset>], Int>(
        .read, "lock_assets",
        """
        SELECT k.ordinal
          FROM unnest(\(\.self, \.database), \(\.self, \.key.sha256), \(\.self, \.key.byteCount)) WITH ORDINALITY
               AS k (database_id, sha256, byte_count, ordinal)
          JOIN asset a ON a.database_id = k.database_id AND a.sha256 = k.sha256 AND a.byte_count = k.byte_count
         ORDER BY a.database_id, a.sha256
           FOR NO KEY UPDATE OF a
        """)

    /// Which of these users have sent which assets: the places in the list of those who have.
    let senders = DeclaredStatement<[AssetSender], Int>(
        .read, "asset_senders",
        """
        SELECT k.ordinal
          FROM unnest(\(\.self, \.asset.database), \(\.self, \.user), \(\.self, \.asset.content.sha256)) WITH ORDINALITY
               AS k (database_id, user_id, sha256, ordinal)
         CROSS JOIN LATERAL (
               SELECT user_id FROM asset_sender
                WHERE database_id = k.database_id AND user_id = k.user_id AND sha256 BETWEEN k.sha256 AND k.sha256
                ORDER BY sha256 LIMIT 1) AS s
        """)

    /// Some living records that name each asset. There may be very many of them, and of the assets: whoever may read
    /// only others sends the asset.
    let holders = DeclaredStatement<
        (assets: [AssetKey], ofAssetMax: Int, countMax: Int), (ordinal: Int, holder: AssetClaims.Holder)
    >(
        .read, "asset_holders",
        """
        SELECT k.ordinal, u.zone_id, r.name, r.type, r.created_by
          FROM unnest(\(\.assets, \.database), \(\.assets, \.content.sha256)) WITH ORDINALITY
               AS k (database_id, sha256, ordinal)
         CROSS JOIN LATERAL (
               SELECT zone_id, record_name FROM asset_use
                WHERE database_id = k.database_id AND sha256 BETWEEN k.sha256 AND k.sha256
                ORDER BY sha256 LIMIT \(\.ofAssetMax)) AS u
         CROSS JOIN LATERAL (
               SELECT name, type, created_by FROM record
                WHERE database_id = k.database_id AND zone_id = u.zone_id
                  AND name BETWEEN u.record_name AND u.record_name AND NOT is_deleted
                ORDER BY name LIMIT 1) AS r
         LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        let holder = AssetClaims.Holder(
            name: try row["name"], type: try row["type"], createdBy: try row["created_by"], zone: try row["zone_id"])
        return (try row["ordinal"], holder)
    }

    let isKnown = DeclaredStatement<AssetKey, Void>(
        .read, "is_asset_known",
        "SELECT byte_count FROM asset WHERE database_id = \(\.database) AND sha256 = \(\.content.sha256)")

    let keepSender = DeclaredStatement<(senders: [AssetSender], now: Timestamp), Void>(
        .write, "keep_asset_sender",
        """
        INSERT INTO asset_sender (database_id, user_id, sha256, sent_at, is_named)
        SELECT k.*, \(\.now), false
          FROM unnest(\(\.senders, \.asset.database), \(\.senders, \.user), \(\.senders, \.asset.content.sha256)) AS k
            ON CONFLICT (database_id, user_id, sha256) DO UPDATE SET sent_at = excluded.sent_at
        """)

    /// One row for each that is forgotten. A save may mark several of them: whoever waited for it here could keep it waiting.
    let forgetSenders = DeclaredStatement<(deadline: Timestamp, countMax: Int), Void>(
        .write, "forget_asset_senders",
        """
        DELETE FROM asset_sender
         WHERE ctid = ANY (ARRAY(SELECT ctid FROM asset_sender WHERE sent_at < \(\.deadline) LIMIT \(\.countMax) FOR UPDATE SKIP LOCKED))
        RETURNING 1
        """)

    let addUses = DeclaredStatement<[AssetUseWrites.Row], Void>(
        .write, "add_asset_uses",
        """
        INSERT INTO asset_use (database_id, zone_id, record_name, sha256)
        SELECT * FROM unnest(\(\.self, \.database), \(\.self, \.zone), \(\.self, \.recordName), \(\.self, \.sha256))
            ON CONFLICT DO NOTHING
        """)

    /// As ``addUses``.
    let removeUses = DeclaredStatement<[AssetUseWrites.Row], Void>(
        .write, "remove_asset_uses",
        """
        DELETE FROM asset_use u
         USING unnest(\(\.self, \.database), \(\.self, \.zone), \(\.self, \.recordName), \(\.self, \.sha256))
               AS k (database_id, zone_id, record_name, sha256)
         WHERE u.database_id = k.database_id AND u.sha256 = k.sha256 AND u.zone_id = k.zone_id
           AND u.record_name = k.record_name
        """)

    /// Removes all uses of these records, and touches the assets as ``touch`` does.
    let removeUnreadUses = DeclaredStatement<[AssetUseWrites.UnreadRow], Void>(
        .write, "remove_unread_asset_uses",
        """
        WITH gone AS (
            DELETE FROM asset_use u
             USING (SELECT h.ctid, k.at
                      FROM unnest(\(\.self, \.database), \(\.self, \.zone), \(\.self, \.recordName), \(\.self, \.at))
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
        """)

    /// Touches assets. Those that are named now are locked already (``lock``). Those that are no longer named may be
    /// locked by a group that names them, which touches them itself. Waiting for it could deadlock two groups that
    /// exchange assets.
    let touch = DeclaredStatement<[AssetUseWrites.Touch], Void>(
        .write, "touch_assets",
        """
        WITH k AS (
            SELECT a.database_id, a.sha256, k.at
              FROM unnest(\(\.self, \.asset.database), \(\.self, \.asset.content.sha256), \(\.self, \.at)) AS k (database_id, sha256, at)
              JOIN asset a ON a.database_id = k.database_id AND a.sha256 = k.sha256
               FOR NO KEY UPDATE OF a SKIP LOCKED
        )
        UPDATE asset SET touched_at = greatest(touched_at, k.at)
          FROM k
         WHERE asset.database_id = k.database_id AND asset.sha256 = k.sha256
        """)

    /// Counts the new assets, listed in `added`, as storage use.
    private static let counted = """
        INSERT INTO asset_total (database_id, byte_count)
        SELECT database_id, sum(byte_count) FROM added GROUP BY database_id ORDER BY database_id
            ON CONFLICT (database_id) DO UPDATE SET byte_count = asset_total.byte_count + excluded.byte_count
        """

    /// One row if the asset was unknown.
    ///
    /// NB: `xmax` tells an old row from a new one. PostgreSQL sets it in a row that it locked for the update; in a new
    /// row it is 0.
    let keep = DeclaredStatement<(asset: AssetKey, now: Timestamp), Void>(
        .write, "keep_asset",
        """
        WITH kept AS (
            INSERT INTO asset (database_id, sha256, byte_count, created_at, touched_at)
            VALUES (\(\.asset.database), \(\.asset.content.sha256), \(\.asset.content.byteCount), \(\.now), \(\.now))
                ON CONFLICT (database_id, sha256) DO UPDATE SET touched_at = excluded.touched_at
         RETURNING database_id, byte_count, xmax),
        added AS (SELECT * FROM kept WHERE xmax = 0)
        \(counted) RETURNING 1
        """)

    /// One row for each asset that was unknown.
    let adopt = DeclaredStatement<(assets: [AssetKey], now: Timestamp), Void>(
        .write, "adopt_assets",
        """
        WITH added AS (
            INSERT INTO asset (database_id, sha256, byte_count, created_at, touched_at)
            SELECT k.*, \(\.now), \(\.now) FROM unnest(\(\.assets, \.database), \(\.assets, \.content.sha256), \(\.assets, \.content.byteCount)) AS k
                ON CONFLICT DO NOTHING RETURNING database_id, byte_count),
        counted AS (
            \(counted))
        SELECT database_id FROM added
        """)

    /// NB: with `NOT EXISTS`, PostgreSQL may read all uses of the store instead, for whatever number of assets.
    static let isUnused = """
        (SELECT 1 FROM asset_use u
          CROSS JOIN LATERAL (
                SELECT FROM zone
                 WHERE database_id = u.database_id AND id BETWEEN u.zone_id AND u.zone_id AND removal IS NULL
                 ORDER BY id LIMIT 1) AS z
          WHERE u.database_id = a.database_id AND u.sha256 BETWEEN a.sha256 AND a.sha256
          ORDER BY u.sha256 LIMIT 1) IS NULL
        """

    /// Some assets after a place, and which of them are unused and old.
    let unused = DeclaredStatement<
        (touchedBefore: Timestamp, database: DatabaseID, sha256: [UInt8], countMax: Int),
        (asset: AssetKey, isUnused: Bool)
    >(
        .read, "unused_assets",
        """
        SELECT a.database_id, a.sha256, a.byte_count, a.touched_at < \(\.touchedBefore) AND \(isUnused) AS is_unused
          FROM (SELECT database_id, sha256, byte_count, touched_at FROM asset
                 WHERE (database_id, sha256) > (\(\.database), \(\.sha256))
                 ORDER BY database_id, sha256 LIMIT \(\.countMax)) AS a
         ORDER BY a.database_id, a.sha256
        """
    ) { row throws(PostgresError) in
        let content = FieldAsset(sha256: try row["sha256"], byteCount: try row["byte_count"])
        return (AssetKey(database: try row["database_id"], content: content), try row["is_unused"])
    }

    /// Runs before ``isStillUnused``. A statement sees what was committed before it began, so a save must be able to
    /// end first.
    let lockOne = DeclaredStatement<AssetKey, Void>(
        .read, "lock_asset",
        "SELECT byte_count FROM asset WHERE database_id = \(\.database) AND sha256 = \(\.content.sha256) FOR UPDATE")

    /// One row if it is.
    let isStillUnused = DeclaredStatement<(asset: AssetKey, touchedBefore: Timestamp), Void>(
        .read, "is_asset_unused",
        """
        SELECT a.byte_count FROM asset a
         WHERE a.database_id = \(\.asset.database) AND a.sha256 = \(\.asset.content.sha256) AND a.touched_at < \(\.touchedBefore) AND \(isUnused)
        """)

    /// False while a backup copies assets: then nothing is removed. It holds until the transaction ends, and a
    /// backup waits for it.
    let mayRemove = DeclaredStatement<Void, Bool>(
        .read, "may_remove_assets", "SELECT pg_try_advisory_xact_lock_shared(1953064037, 2)")

    let forget = DeclaredStatement<AssetKey, Void>(
        .write, "forget_asset",
        """
        WITH gone AS (DELETE FROM asset WHERE database_id = \(\.database) AND sha256 = \(\.content.sha256) RETURNING database_id, byte_count)
        UPDATE asset_total t SET byte_count = t.byte_count - gone.byte_count
          FROM gone WHERE t.database_id = gone.database_id
        """)

    /// Removes uses that records of ended zones have left.
    let forgetUses = DeclaredStatement<AssetKey, Void>(
        .write, "forget_asset_uses",
        "DELETE FROM asset_use WHERE database_id = \(\.database) AND sha256 = \(\.content.sha256)")
}
