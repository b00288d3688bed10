// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of quotas. A write transaction runs it only for databases that have one.
struct QuotaStatements: Sendable {
    /// The quota of database `d` of container `c`; null if there is none.
    static let bytesMax = "CASE d.scope WHEN 1 THEN c.public_quota_bytes ELSE c.private_quota_bytes END"

    /// The bytes of the records in database `d`, without reading the records.
    private static let recordBytes =
        "coalesce((SELECT sum(z.byte_count) FROM zone z WHERE z.database_id = d.id AND z.removal IS NULL), 0)::bigint"

    /// The bytes of its assets.
    private static let assetBytes =
        "coalesce((SELECT t.byte_count FROM asset_total t WHERE t.database_id = d.id), 0)"

    /// Locks in the order of the list. Everybody who locks several databases orders them by id.
    let lock = DeclaredStatement<[DatabaseID], Void>(
        .read, "quota_lock_databases",
        """
        SELECT d.id FROM unnest(\(\.self)) AS k (id)
         CROSS JOIN LATERAL (
               SELECT id FROM database WHERE id BETWEEN k.id AND k.id ORDER BY id LIMIT 1 FOR NO KEY UPDATE) AS d
        """)

    /// Runs after the locks.
    let byteCounts = DeclaredStatement<[DatabaseID], (database: DatabaseID, byteCount: Int64)>(
        .read, "quota_byte_counts",
        "SELECT d.id, \(recordBytes) + \(assetBytes) AS byte_count FROM unnest(\(\.self)) AS d (id)"
    ) { row throws(PostgresError) in
        (try row["id"], try row["byte_count"])
    }

    let use = DeclaredStatement<DatabaseID, StorageUse?>(
        .read, "quota_use",
        """
        SELECT \(bytesMax) AS bytes_max, \(recordBytes) + \(assetBytes) AS byte_count
          FROM database d JOIN container c ON c.id = d.container_id WHERE d.id = \(\.self)
        """
    ) { row throws(PostgresError) in
        guard let bytesMax: Int64 = try row["bytes_max"] else { return nil }
        return StorageUse(byteCount: try row["byte_count"], bytesMax: bytesMax)
    }

    let set = DeclaredStatement<(container: ContainerKey, quota: StorageQuota), Void>(
        .write, "quota_set",
        """
        UPDATE container SET private_quota_bytes = \(\.quota.privateBytes), public_quota_bytes = \(\.quota.publicBytes)
         WHERE identifier = \(\.container.identifier) AND environment = \(\.container.environment) RETURNING id
        """)

    let find = DeclaredStatement<ContainerKey, StorageQuota>(
        .read, "admin_quota",
        "SELECT private_quota_bytes, public_quota_bytes FROM container WHERE identifier = \(\.identifier) AND environment = \(\.environment)"
    ) { row throws(PostgresError) in
        StorageQuota(privateBytes: try row["private_quota_bytes"], publicBytes: try row["public_quota_bytes"])
    }

    /// The databases that hold the most bytes.
    let largest = DeclaredStatement<(container: ContainerKey, countMax: Int), AdminStore.DatabaseUse>(
        .read, "admin_largest_databases",
        """
        SELECT a.name, n.records, n.assets
          FROM container c
          JOIN database d ON d.container_id = c.id AND d.scope IN (1, 2)
          LEFT JOIN container_user u ON u.id = d.user_id
          LEFT JOIN account a ON a.id = u.account_id
         CROSS JOIN LATERAL (SELECT \(recordBytes) AS records, \(assetBytes) AS assets) AS n
         WHERE c.identifier = \(\.container.identifier) AND c.environment = \(\.container.environment)
         ORDER BY n.records + n.assets DESC, a.name NULLS FIRST
         LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        AdminStore.DatabaseUse(
            account: try row["name"], recordBytes: try row["records"], assetBytes: try row["assets"])
    }
}
