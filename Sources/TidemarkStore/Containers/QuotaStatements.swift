// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of quotas. A write transaction runs it only for databases that have one.
enum QuotaStatements {
    /// The quota of database `d` of container `c`; null if there is none.
    static let bytesMax = "CASE d.scope WHEN 1 THEN c.public_quota_bytes ELSE c.private_quota_bytes END"

    /// The bytes of the records in database `d`, without reading the records.
    private static let recordBytes =
        "coalesce((SELECT sum(z.byte_count) FROM zone z WHERE z.database_id = d.id AND z.removal IS NULL), 0)::bigint"

    /// The bytes of its assets.
    private static let assetBytes =
        "coalesce((SELECT t.byte_count FROM asset_total t WHERE t.database_id = d.id), 0)"

    /// Locks in the order of the list. Everybody who locks several databases orders them by id. 1 databases.
    static let lock = Statement(
        .read, "quota_lock_databases",
        """
        SELECT d.id FROM unnest($1::bigint[]) AS k (id)
         CROSS JOIN LATERAL (
               SELECT id FROM database WHERE id BETWEEN k.id AND k.id ORDER BY id LIMIT 1 FOR NO KEY UPDATE) AS d
        """, [.int8Array])

    /// Runs after the locks. 1 databases.
    static let byteCounts = Statement(
        .read, "quota_byte_counts", "SELECT d.id, \(recordBytes) + \(assetBytes) FROM unnest($1::bigint[]) AS d (id)",
        [.int8Array])

    /// 1 database.
    static let use = Statement(
        .read, "quota_use",
        """
        SELECT \(bytesMax), \(recordBytes) + \(assetBytes)
          FROM database d JOIN container c ON c.id = d.container_id WHERE d.id = $1
        """, [.int8])

    /// 1 identifier, 2 environment, 3 bytes of each private database, 4 bytes of the public one; null for no quota.
    static let set = Statement(
        .write, "quota_set",
        """
        UPDATE container SET private_quota_bytes = $3, public_quota_bytes = $4
         WHERE identifier = $1 AND environment = $2 RETURNING id
        """, [.text, .int2, .int8, .int8])

    /// 1 identifier, 2 environment.
    static let find = Statement(
        .read, "admin_quota",
        "SELECT private_quota_bytes, public_quota_bytes FROM container WHERE identifier = $1 AND environment = $2",
        [.text, .int2])

    /// The databases that hold the most bytes. 1 identifier, 2 environment, 3 the most rows.
    static let largest = Statement(
        .read, "admin_largest_databases",
        """
        SELECT a.name, n.records, n.assets
          FROM container c
          JOIN database d ON d.container_id = c.id AND d.scope IN (1, 2)
          LEFT JOIN container_user u ON u.id = d.user_id
          LEFT JOIN account a ON a.id = u.account_id
         CROSS JOIN LATERAL (SELECT \(recordBytes) AS records, \(assetBytes) AS assets) AS n
         WHERE c.identifier = $1 AND c.environment = $2
         ORDER BY n.records + n.assets DESC, a.name NULLS FIRST
         LIMIT $3
        """, [.text, .int2, .int8])
}
