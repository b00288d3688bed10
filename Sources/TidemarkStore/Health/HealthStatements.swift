// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// The SQL with which operators see how the store is.
struct HealthStatements: Sendable {
    let containers = DeclaredStatement<Void, ContainerCounts>(
        .read, "stats_containers",
        """
        SELECT c.identifier, c.environment,
               (SELECT count(*) FROM container_user u WHERE u.container_id = c.id) AS users,
               coalesce(sum(z.living), 0)::bigint AS zones, coalesce(sum(z.ended), 0)::bigint AS ended_zones,
               coalesce(sum(z.record_bytes), 0)::bigint AS record_bytes,
               coalesce(sum(z.tombstone_bytes), 0)::bigint AS tombstone_bytes,
               coalesce(sum(a.assets), 0)::bigint AS assets, coalesce(sum(t.byte_count), 0)::bigint AS asset_bytes,
               coalesce(sum(h.shares), 0)::bigint AS shares,
               (SELECT count(*) FROM subscription s JOIN container_user u ON u.id = s.user_id
                 WHERE u.container_id = c.id
                   AND s.fired_at IS NULL) AS subscriptions
          FROM container c
          LEFT JOIN database d ON d.container_id = c.id AND d.scope IN (1, 2)
          LEFT JOIN LATERAL (
               SELECT count(*) FILTER (WHERE removal IS NULL) AS living,
                      count(*) FILTER (WHERE removal IS NOT NULL) AS ended,
                      sum(byte_count) FILTER (WHERE removal IS NULL) AS record_bytes,
                      sum(tombstone_byte_count) FILTER (WHERE removal IS NULL) AS tombstone_bytes
                 FROM zone WHERE database_id = d.id) AS z ON true
          LEFT JOIN LATERAL (SELECT count(*) AS assets FROM asset WHERE database_id = d.id) AS a ON true
          LEFT JOIN asset_total t ON t.database_id = d.id
          LEFT JOIN LATERAL (
               SELECT count(*) AS shares FROM share WHERE database_id = d.id AND ended_number IS NULL) AS h ON true
         WHERE c.deleted_identifier IS NULL
         GROUP BY c.id ORDER BY c.identifier, c.environment
        """
    ) { row throws(PostgresError) in
        ContainerCounts(
            container: ContainerKey(
                identifier: try row["identifier"],
                environment: ContainerEnvironment(rawValue: try row["environment"]) ?? .development),
            userCount: try row["users"], zoneCount: try row["zones"], endedZoneCount: try row["ended_zones"],
            recordBytes: try row["record_bytes"], tombstoneBytes: try row["tombstone_bytes"],
            assetCount: try row["assets"], assetBytes: try row["asset_bytes"], shareCount: try row["shares"],
            subscriptionCount: try row["subscriptions"])
    }

    /// The accounts that hold the most bytes.
    let accounts = DeclaredStatement<Int, AccountUseRow>(
        .read, "stats_accounts",
        """
        SELECT a.name, n.records, n.assets
          FROM account a
         CROSS JOIN LATERAL (
               SELECT coalesce(sum((SELECT sum(byte_count) FROM zone
                                     WHERE database_id = d.id AND removal IS NULL)), 0)::bigint AS records,
                      coalesce(sum((SELECT byte_count FROM asset_total WHERE database_id = d.id)), 0)::bigint AS assets
                 FROM container_user u JOIN database d ON d.user_id = u.id AND d.scope = 2
                WHERE u.account_id = a.id) AS n
         WHERE a.deleted_at IS NULL
         ORDER BY n.records + n.assets DESC, a.name LIMIT \(\.self)
        """
    ) { row throws(PostgresError) in
        AccountUseRow(account: try row["name"], recordBytes: try row["records"], assetBytes: try row["assets"])
    }

    let relations = DeclaredStatement<Void, RelationSize>(
        .read, "stats_relations",
        """
        SELECT c.relname::text AS name, CASE WHEN i.indexrelid IS NOT NULL THEN t.relname::text END AS of_table,
               pg_relation_size(c.oid) AS byte_count, coalesce(s.n_live_tup, 0) AS live_rows,
               coalesce(s.n_dead_tup, 0) AS dead_rows, coalesce(x.idx_scan, 0) AS use_count,
               coalesce(i.indisvalid AND i.indisready, true) AS is_valid
          FROM pg_class c
          LEFT JOIN pg_index i ON i.indexrelid = c.oid
          LEFT JOIN pg_class t ON t.oid = i.indrelid
          LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
          LEFT JOIN pg_stat_user_indexes x ON x.indexrelid = c.oid
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i')
         ORDER BY pg_relation_size(c.oid) DESC, c.relname
        """
    ) { row throws(PostgresError) in
        RelationSize(
            name: try row["name"], table: try row["of_table"], byteCount: try row["byte_count"],
            liveRows: try row["live_rows"], deadRows: try row["dead_rows"], useCount: try row["use_count"],
            isValid: try row["is_valid"])
    }

    let server = DeclaredStatement<
        Void, (version: Int, now: Timestamp, byteCount: Int64, connections: Int, oldest: Double?)
    >(
        .read, "database_facts",
        """
        SELECT current_setting('server_version_num')::bigint AS version, clock_timestamp() AS now,
               pg_database_size(current_database()) AS byte_count,
               (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
               (SELECT extract(epoch FROM max(clock_timestamp() - xact_start))::float8 FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()) AS oldest
        """
    ) { row throws(PostgresError) in
        (
            try row["version"], try row["now"], try row["byte_count"], try row["connections"], try row["oldest"]
        )
    }

    let settings = DeclaredStatement<[String], (name: String, value: String)>(
        .read, "database_settings",
        "SELECT name, current_setting(name) AS value FROM unnest(\(\.self)) AS k (name)"
    ) { row throws(PostgresError) in (try row["name"], try row["value"]) }

    // MARK: What is counted, against what is there

    /// Zones that follow a place, with what their rows say and what their records sum up to.
    let zoneSums = DeclaredStatement<(database: DatabaseID, after: ZoneID, zonesMax: Int), ZoneSums>(
        .read, "zone_sums",
        """
        SELECT z.database_id, z.id, z.name, z.change_number, z.byte_count, z.tombstone_byte_count,
               coalesce(r.newest, 0) AS newest, coalesce(r.byte_sum, 0)::bigint AS byte_sum,
               coalesce(r.tombstone_sum, 0)::bigint AS tombstone_sum
          FROM (SELECT * FROM zone
                 WHERE (database_id, id) > (\(\.database), \(\.after)) AND removal IS NULL
                 ORDER BY database_id, id LIMIT \(\.zonesMax)) AS z
         CROSS JOIN LATERAL (
               SELECT max(change_number) AS newest,
                      sum(byte_count + octet_length(name) + octet_length(type) + coalesce(octet_length(parent), 0)
                          + \(String(RecordState.overheadBytes))) FILTER (WHERE NOT is_deleted) AS byte_sum,
                      sum(octet_length(name) + \(String(RecordState.overheadBytes))) FILTER (WHERE is_deleted)
                          AS tombstone_sum
                 FROM record WHERE database_id = z.database_id AND zone_id = z.id) AS r
         ORDER BY z.database_id, z.id
        """
    ) { row throws(PostgresError) in
        ZoneSums(
            key: ZoneKey(database: try row["database_id"], name: try row["name"]), id: try row["id"],
            head: try row["change_number"], newestChange: try row["newest"], byteCount: try row["byte_count"],
            byteSum: try row["byte_sum"], tombstoneBytes: try row["tombstone_byte_count"],
            tombstoneSum: try row["tombstone_sum"])
    }

    /// Databases whose assets sum up to something else than is counted.
    let assetTotals = DeclaredStatement<Int, (database: DatabaseID, counted: Int64, sum: Int64)>(
        .read, "asset_totals",
        """
        SELECT database_id, counted, byte_sum
          FROM (SELECT coalesce(t.database_id, a.database_id) AS database_id, coalesce(t.byte_count, 0) AS counted,
                       coalesce(a.byte_sum, 0)::bigint AS byte_sum
                  FROM asset_total t
                  FULL JOIN (SELECT database_id, sum(byte_count) AS byte_sum FROM asset GROUP BY database_id) AS a
                    ON a.database_id = t.database_id) AS k
         WHERE counted <> byte_sum ORDER BY database_id LIMIT \(\.self)
        """
    ) { row throws(PostgresError) in (try row["database_id"], try row["counted"], try row["byte_sum"]) }

    /// Assets that follow a place.
    let assets = DeclaredStatement<(database: DatabaseID, sha256: [UInt8], countMax: Int), AssetKey>(
        .read, "stored_assets",
        """
        SELECT database_id, sha256, byte_count FROM asset
         WHERE (database_id, sha256) > (\(\.database), \(\.sha256))
         ORDER BY database_id, sha256 LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        AssetKey(
            database: try row["database_id"],
            content: FieldAsset(sha256: try row["sha256"], byteCount: try row["byte_count"]))
    }

    let knownAssets = DeclaredStatement<[AssetKey], AssetKey>(
        .read, "known_assets",
        """
        SELECT a.database_id, a.sha256, a.byte_count
          FROM unnest(\(\.self, \.database), \(\.self, \.content.sha256)) AS k (database_id, sha256)
          JOIN asset a ON a.database_id = k.database_id AND a.sha256 = k.sha256
        """
    ) { row throws(PostgresError) in
        AssetKey(
            database: try row["database_id"],
            content: FieldAsset(sha256: try row["sha256"], byteCount: try row["byte_count"]))
    }

    let credentials = DeclaredStatement<Void, (expired: Int, soon: Int)>(
        .read, "expiring_credentials",
        """
        SELECT count(*) FILTER (WHERE expires_at <= now()) AS expired,
               count(*) FILTER (WHERE expires_at > now() AND expires_at <= now() + interval '7 days') AS soon
          FROM credential WHERE revoked_at IS NULL AND expires_at IS NOT NULL
        """
    ) { row throws(PostgresError) in (try row["expired"], try row["soon"]) }
}
