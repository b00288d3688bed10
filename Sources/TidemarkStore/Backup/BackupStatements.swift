// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// The SQL of backups, restores and `store verify`. It runs on a ``LongConnection``.
struct BackupStatements: Sendable {
    /// Waits for removals under way. Others wait no longer: they look whether they may remove (`may_remove_assets`).
    let holdAssets = DeclaredStatement<Void, Void>(
        .read, "hold_assets", "SELECT pg_advisory_lock(1953064037, 2)")

    /// One restore of a database at a time.
    let holdDatabase = DeclaredStatement<Void, Bool>(
        .read, "hold_database", "SELECT pg_try_advisory_lock(1953064037, 3)")

    let releaseAssets = DeclaredStatement<Void, Bool>(
        .read, "release_assets", "SELECT pg_advisory_unlock(1953064037, 2)")

    let releaseDatabase = DeclaredStatement<Void, Bool>(
        .read, "release_database", "SELECT pg_advisory_unlock(1953064037, 3)")

    let exportSnapshot = DeclaredStatement<Void, String>(.read, "export_snapshot", "SELECT pg_export_snapshot()")

    /// So that PostgreSQL does not take the transaction for one that was left open.
    let keepAlive = DeclaredStatement<Void, Void>(.read, "keep_backup", "SELECT 1")

    let facts = DeclaredStatement<Void, BackupFacts>(
        .read, "backup_facts",
        """
        SELECT now() AS time, incarnation, master_key_check, current_setting('server_version_num')::bigint AS version,
               current_database()::text AS name,
               (SELECT coalesce(sum(pg_table_size(oid)), 0)::bigint FROM pg_class
                 WHERE relnamespace = 'public'::regnamespace AND relkind = 'r') AS table_bytes,
               (SELECT count(*) FROM asset) AS asset_count,
               (SELECT coalesce(sum(byte_count), 0)::bigint FROM asset) AS asset_bytes
          FROM store
        """
    ) { row throws(PostgresError) in
        BackupFacts(
            time: try row["time"], incarnation: try row["incarnation"], masterKeyCheck: try row["master_key_check"],
            postgres: PostgresVersion(try row["version"]), databaseName: try row["name"],
            tableBytes: try row["table_bytes"], assetCount: try row["asset_count"], assetBytes: try row["asset_bytes"])
    }

    let migrations = DeclaredStatement<Void, AppliedMigration>(
        .read, "applied_migrations",
        "SELECT number::bigint AS number, name, checksum FROM schema_migration ORDER BY schema_migration.number"
    ) { row throws(PostgresError) in
        AppliedMigration(number: try row["number"], name: try row["name"], checksum: try row["checksum"])
    }

    let contents = DeclaredStatement<Void, BackedUpContainer>(
        .read, "container_contents",
        """
        SELECT c.identifier, c.environment, (SELECT count(*) FROM container_user WHERE container_id = c.id) AS users,
               coalesce(n.zones, 0) AS zones, coalesce(n.records, 0)::bigint AS records
          FROM container c
          LEFT JOIN (SELECT d.container_id, count(*) AS zones, sum(r.records) AS records
                       FROM database d JOIN zone z ON z.database_id = d.id AND z.removal IS NULL
                       LEFT JOIN (SELECT database_id, zone_id, count(*) AS records FROM record
                                   WHERE NOT is_deleted GROUP BY database_id, zone_id) AS r
                         ON r.database_id = z.database_id AND r.zone_id = z.id
                      GROUP BY d.container_id) AS n ON n.container_id = c.id
         ORDER BY c.identifier, c.environment
        """
    ) { row throws(PostgresError) in
        BackedUpContainer(
            container: ContainerKey(
                identifier: try row["identifier"],
                environment: ContainerEnvironment(rawValue: try row["environment"]) ?? .development),
            users: try row["users"], zones: try row["zones"], records: try row["records"])
    }

    /// Assets that follow a place, and whether a living zone's record names each.
    let assets = DeclaredStatement<(database: DatabaseID, sha256: [UInt8], countMax: Int), BackedUpAsset>(
        .read, "assets_of_records",
        """
        SELECT a.database_id, a.sha256, a.byte_count, a.touched_at, NOT \(AssetStatements.isUnused) AS is_named,
               CASE WHEN a.loss_accepted_at >= a.touched_at THEN a.loss_accepted_at END AS accepted_at, a.loss_accepted_by
          FROM (SELECT database_id, sha256, byte_count, touched_at, loss_accepted_at, loss_accepted_by FROM asset
                 WHERE (database_id, sha256) > (\(\.database), \(\.sha256))
                 ORDER BY database_id, sha256 LIMIT \(\.countMax)) AS a
         ORDER BY a.database_id, a.sha256
        """
    ) { row throws(PostgresError) in
        let asset = AssetKey(
            database: try row["database_id"],
            content: FieldAsset(sha256: try row["sha256"], byteCount: try row["byte_count"]))
        let acceptedAt: Timestamp? = try row["accepted_at"]
        let acceptedBy: String? = try row["loss_accepted_by"]
        return BackedUpAsset(
            asset: asset, isNamed: try row["is_named"], touchedAt: try row["touched_at"],
            loss: acceptedAt.map { AcceptedLoss(at: $0, by: acceptedBy ?? "") })
    }

    let acceptLoss = DeclaredStatement<(assets: [AssetKey], who: String, seenAt: Timestamp), Void>(
        .write, "accept_loss",
        """
        UPDATE asset a SET loss_accepted_at = greatest(now(), a.touched_at), loss_accepted_by = \(\.who)
          FROM unnest(\(\.assets, \.database), \(\.assets, \.content.sha256)) AS k (database_id, sha256)
         WHERE a.database_id = k.database_id AND a.sha256 = k.sha256 AND a.touched_at <= \(\.seenAt)
           AND (a.loss_accepted_at >= a.touched_at) IS NOT TRUE
        """)

    let forgetLoss = DeclaredStatement<[AssetKey], Void>(
        .write, "forget_loss",
        """
        UPDATE asset a SET loss_accepted_at = NULL, loss_accepted_by = NULL
          FROM unnest(\(\.self, \.database), \(\.self, \.content.sha256)) AS k (database_id, sha256)
         WHERE a.database_id = k.database_id AND a.sha256 = k.sha256
        """)

    let isNamed = DeclaredStatement<AssetKey, Bool>(
        .read, "is_asset_named",
        """
        SELECT NOT \(AssetStatements.isUnused) FROM asset a
         WHERE a.database_id = \(\.database) AND a.sha256 = \(\.content.sha256)
        """)

    // MARK: Zones and their records

    let zones = DeclaredStatement<(database: DatabaseID, after: ZoneID, zonesMax: Int), CheckedZoneRow>(
        .read, "zones_to_check",
        """
        SELECT database_id, id, name, change_number, byte_count, tombstone_byte_count, record_count,
               digest_number = change_number AS has_digest, digest_high, digest_low
          FROM zone
         WHERE (database_id, id) > (\(\.database), \(\.after)) AND removal IS NULL
         ORDER BY database_id, id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in
        CheckedZoneRow(
            key: ZoneKey(database: try row["database_id"], name: try row["name"]), id: try row["id"],
            head: try row["change_number"], byteCount: try row["byte_count"],
            tombstoneBytes: try row["tombstone_byte_count"], recordCount: try row["record_count"],
            hasDigest: try row["has_digest"],
            digest: ZoneDigestBits(high: try row["digest_high"], low: try row["digest_low"]))
    }

    /// Sums over records of a zone that follow a name. The digest is that of `mend_digest`, in parts.
    let zonePart = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, after: String, recordsMax: Int), CheckedPartRow
    >(
        .read, "zone_part_sums",
        """
        SELECT count(*) AS rows, max(name) AS last, count(*) FILTER (WHERE NOT is_deleted) AS living,
               coalesce(max(change_number), 0) AS newest,
               coalesce(sum(byte_count + octet_length(name) + octet_length(type) + coalesce(octet_length(parent), 0)
                            + \(String(RecordState.overheadBytes))) FILTER (WHERE NOT is_deleted), 0)::bigint AS byte_sum,
               coalesce(sum(octet_length(name) + \(String(RecordState.overheadBytes))) FILTER (WHERE is_deleted), 0)::bigint
                   AS tombstone_sum,
               coalesce(bit_xor(('x' || substr(hash, 1, 16))::bit(64)::bigint) FILTER (WHERE NOT is_deleted), 0) AS high,
               coalesce(bit_xor(('x' || substr(hash, 17, 16))::bit(64)::bigint) FILTER (WHERE NOT is_deleted), 0) AS low
          FROM (SELECT name, type, parent, byte_count, is_deleted, change_number,
                       encode(sha256(int8send(change_number) || convert_to(name, 'UTF8')), 'hex') AS hash
                  FROM record
                 WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND name > \(\.after)
                 ORDER BY name LIMIT \(\.recordsMax)) AS r
        """
    ) { row throws(PostgresError) in
        CheckedPartRow(
            rows: try row["rows"], last: try row["last"], living: try row["living"], newest: try row["newest"],
            byteSum: try row["byte_sum"], tombstoneSum: try row["tombstone_sum"],
            digest: ZoneDigestBits(high: try row["high"], low: try row["low"]))
    }

    // MARK: The database of a restore

    /// What is there beside what belongs to an extension: tables, views and sequences.
    let relations = DeclaredStatement<Int, (schema: String, name: String, isTable: Bool)>(
        .read, "relations_there",
        """
        SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind IN ('r', 'p') AS is_table
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND n.nspname <> 'information_schema'
           AND n.nspname !~ '^pg_'
           AND NOT EXISTS (SELECT 1 FROM pg_depend d
                            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
         ORDER BY n.nspname, c.relname LIMIT \(\.self)
        """
    ) { row throws(PostgresError) in (try row["schema"], try row["name"], try row["is_table"]) }

    let postgres = DeclaredStatement<Void, (version: Int, database: String)>(
        .read, "restore_server",
        "SELECT current_setting('server_version_num')::bigint AS version, current_database()::text AS database"
    ) { row throws(PostgresError) in (try row["version"], try row["database"]) }
}

/// A zone's row.
struct CheckedZoneRow: Sendable {
    let key: ZoneKey
    let id: ZoneID
    let head: ChangeNumber
    let byteCount: Int64
    let tombstoneBytes: Int64
    let recordCount: Int
    let hasDigest: Bool
    let digest: ZoneDigestBits
}

/// Sums over some records of a zone.
struct CheckedPartRow: Sendable {
    let rows: Int
    /// The name of the last one; nil: there are none.
    let last: String?
    let living: Int
    let newest: ChangeNumber
    let byteSum: Int64
    let tombstoneSum: Int64
    let digest: ZoneDigestBits
}
