// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// How much more a creator's records take in a public database.
struct CreatorGrowthRow: Sendable {
    let database: DatabaseID
    let creator: UserID
    let byteCount: Int64
}

/// Whether a record of the user names the asset that the user has sent.
struct SenderMark: Sendable, Hashable {
    let asset: AssetKey
    let user: UserID
    let isNamed: Bool
}

/// The SQL of what accounts have created in public databases, and of their shares.
///
/// The default zone is the only one of a public database, and its lock is taken by whoever writes there. So nobody waits
/// for a row of `public_use` that another transaction has changed.
struct PublicUseStatements: Sendable {
    /// What one account may have in database `d` of container `c`, as `PublicShare` says; null: there is no bound.
    static let bytesMax = """
        CASE WHEN d.scope <> 1 THEN NULL
                    WHEN c.public_share_bytes IS NULL THEN c.public_quota_bytes / \(PublicShare.standardPart)
                    WHEN c.public_share_bytes >= 0 THEN c.public_share_bytes END
        """

    /// Files that a user has sent, and that no record of the user names, beyond which the share counts as full. They are summed
    /// under the lock of the database.
    static let unnamedMax = 10_000

    /// What those of user `u` in database `d` have together. They are there for the grace time of assets.
    private static let unnamedBytes = """
        (SELECT CASE WHEN count(*) > \(unnamedMax) THEN 1::bigint << 60 ELSE coalesce(sum(n.byte_count), 0)::bigint END
                  FROM (SELECT a.byte_count FROM asset_sender s
                         CROSS JOIN LATERAL (
                               SELECT byte_count FROM asset
                                WHERE database_id = s.database_id AND sha256 BETWEEN s.sha256 AND s.sha256
                                ORDER BY sha256 LIMIT 1) AS a
                         WHERE s.database_id = d.id AND s.user_id = u.id AND NOT s.is_named
                         LIMIT \(unnamedMax + 1)) AS n)
        """

    /// What the users have, and the creators of the named records.
    let ofCreators = DeclaredStatement<
        (zone: ZoneKey, users: [UserID], names: [String]), (user: UserID, byteCount: Int64)
    >(
        .read, "public_uses_of_creators",
        """
        WITH z AS MATERIALIZED (
            SELECT id FROM zone
             WHERE database_id = \(\.zone.database) AND name BETWEEN \(\.zone.name) AND \(\.zone.name)
               AND removal IS NULL ORDER BY name LIMIT 1)
        SELECT p.user_id, p.byte_count
          FROM (SELECT k.user_id FROM unnest(\(\.users)) AS k (user_id)
                 UNION
                SELECT r.created_by FROM unnest(\(\.names)) AS k (name)
                 CROSS JOIN LATERAL (
                       SELECT created_by FROM record
                        WHERE database_id = \(\.zone.database) AND zone_id = (SELECT id FROM z)
                          AND name BETWEEN k.name AND k.name AND NOT is_deleted ORDER BY name LIMIT 1) AS r) AS u
         CROSS JOIN LATERAL (
               SELECT user_id, byte_count FROM public_use
                WHERE database_id = \(\.zone.database) AND user_id BETWEEN u.user_id AND u.user_id
                ORDER BY user_id LIMIT 1) AS p
        """
    ) { row throws(PostgresError) in (try row["user_id"], try row["byte_count"]) }

    let count = DeclaredStatement<[CreatorGrowthRow], Void>(
        .write, "count_public_use",
        """
        INSERT INTO public_use (database_id, user_id, byte_count)
        SELECT * FROM unnest(\(\.self, \.database), \(\.self, \.creator), \(\.self, \.byteCount))
            ON CONFLICT (database_id, user_id) DO UPDATE SET byte_count = public_use.byte_count + excluded.byte_count
        """)

    /// Takes the assets of records that were deleted unread from those who created these. It runs before the uses are removed.
    let giveBack = DeclaredStatement<[AssetUseWrites.UnreadRow], Void>(
        .write, "give_back_public_use",
        """
        WITH gone AS MATERIALIZED (
            SELECT k.database_id, k.user_id, u.sha256, a.byte_count
              FROM unnest(\(\.self, \.database), \(\.self, \.zone), \(\.self, \.recordName), \(\.self, \.creator))
                   AS k (database_id, zone_id, record_name, user_id)
             CROSS JOIN LATERAL (
                   SELECT sha256 FROM asset_use
                    WHERE database_id = k.database_id AND zone_id = k.zone_id
                      AND record_name BETWEEN k.record_name AND k.record_name
                    ORDER BY record_name OFFSET 0) AS u
             CROSS JOIN LATERAL (
                   SELECT byte_count FROM asset
                    WHERE database_id = k.database_id AND sha256 BETWEEN u.sha256 AND u.sha256
                    ORDER BY sha256 LIMIT 1) AS a),
        unnamed AS (
            UPDATE asset_sender s SET is_named = false
              FROM gone WHERE s.database_id = gone.database_id AND s.user_id = gone.user_id AND s.sha256 = gone.sha256)
        UPDATE public_use p SET byte_count = p.byte_count - g.byte_count
          FROM (SELECT database_id, user_id, sum(byte_count)::bigint AS byte_count FROM gone
                 GROUP BY database_id, user_id) AS g
         WHERE p.database_id = g.database_id AND p.user_id = g.user_id
        """)

    /// Only what a user has sent lately has a row.
    let markSenders = DeclaredStatement<[SenderMark], Void>(
        .write, "mark_asset_senders",
        """
        UPDATE asset_sender s SET is_named = k.is_named
          FROM unnest(\(\.self, \.asset.database), \(\.self, \.user), \(\.self, \.asset.content.sha256), \(\.self, \.isNamed))
               AS k (database_id, user_id, sha256, is_named)
         WHERE s.database_id = k.database_id AND s.user_id = k.user_id AND s.sha256 = k.sha256
           AND s.is_named <> k.is_named
        """)

    /// How full a user's share is, with what the user has sent and not named; nil: there is no bound.
    let use = DeclaredStatement<(database: DatabaseID, user: UserID), StorageUse?>(
        .read, "public_use",
        """
        SELECT \(bytesMax) AS bytes_max,
               coalesce((SELECT byte_count FROM public_use WHERE database_id = d.id AND user_id = u.id), 0)
               + \(unnamedBytes) AS byte_count
          FROM (SELECT \(\.user)::bigint AS id) AS u
         CROSS JOIN database d JOIN container c ON c.id = d.container_id
         WHERE d.id = \(\.database)
        """
    ) { row throws(PostgresError) in
        guard let bytesMax: Int64 = try row["bytes_max"] else { return nil }
        return StorageUse(byteCount: try row["byte_count"], bytesMax: bytesMax)
    }

    /// One row if no record of the user names the asset, so that it counts in ``use``.
    let isUnnamed = DeclaredStatement<AssetSender, Void>(
        .read, "is_asset_unnamed",
        """
        SELECT user_id FROM asset_sender
         WHERE database_id = \(\.asset.database) AND user_id = \(\.user) AND sha256 = \(\.asset.content.sha256)
           AND NOT is_named
        """)

    // MARK: Comparing and mending

    /// Public databases by their ids, each with its zone.
    let databases = DeclaredStatement<(after: DatabaseID, countMax: Int), DigestPlace>(
        .read, "public_databases",
        """
        SELECT d.id AS database_id, z.id
          FROM database d JOIN zone z ON z.database_id = d.id AND z.removal IS NULL
         WHERE d.scope = 1 AND d.id > \(\.after) ORDER BY d.id LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in DigestPlace(database: try row["database_id"], zone: try row["id"]) }

    /// What the living records of a zone have, by creator, with the assets that they name.
    private static let sums: SQL<DigestPlace> = """
        SELECT user_id, sum(byte_count)::bigint AS byte_sum
                  FROM (SELECT created_by AS user_id,
                               byte_count + octet_length(name) + octet_length(type) + coalesce(octet_length(parent), 0)
                               + \(String(RecordState.overheadBytes))::bigint AS byte_count
                          FROM record
                         WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND NOT is_deleted
                         UNION ALL
                        SELECT r.created_by, a.byte_count
                          FROM asset_use n
                          JOIN record r ON r.database_id = n.database_id AND r.zone_id = n.zone_id
                                       AND r.name = n.record_name AND NOT r.is_deleted
                          JOIN asset a ON a.database_id = n.database_id AND a.sha256 = n.sha256
                         WHERE n.database_id = \(\.database) AND n.zone_id = \(\.zone)) AS s
                 GROUP BY user_id
        """

    /// Creators of whom something else is counted, and how many there are.
    let wrong = DeclaredStatement<DigestPlace, (user: UserID, counted: Int64, sum: Int64, count: Int)>(
        .read, "wrong_public_uses",
        """
        SELECT user_id, counted, byte_sum, count(*) OVER () AS wrong_count
          FROM (SELECT coalesce(p.user_id, r.user_id) AS user_id, coalesce(p.byte_count, 0) AS counted,
                       coalesce(r.byte_sum, 0) AS byte_sum
                  FROM (SELECT user_id, byte_count FROM public_use WHERE database_id = \(\.database)) AS p
                  FULL JOIN (\(sums)) AS r ON r.user_id = p.user_id) AS k
         WHERE counted <> byte_sum ORDER BY user_id LIMIT 1
        """
    ) { row throws(PostgresError) in
        (try row["user_id"], try row["counted"], try row["byte_sum"], try row["wrong_count"])
    }

    /// Under the lock of the zone. It touches rows that are wrong, and no others.
    let mend = DeclaredStatement<DigestPlace, Void>(
        .write, "mend_public_uses",
        """
        INSERT INTO public_use (database_id, user_id, byte_count)
        SELECT \(\.database)::bigint, k.user_id, sum(k.byte_sum)::bigint
          FROM (\(sums)
                 UNION ALL
                SELECT user_id, 0 FROM public_use WHERE database_id = \(\.database)) AS k
         GROUP BY k.user_id
            ON CONFLICT (database_id, user_id) DO UPDATE SET byte_count = excluded.byte_count
         WHERE public_use.byte_count <> excluded.byte_count
        """)
}
