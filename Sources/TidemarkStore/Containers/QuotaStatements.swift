// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of quotas. A write transaction runs it only for databases that have one.
struct QuotaStatements: Sendable {
    /// The quota of database `d` of container `c`; null if there is none.
    static let bytesMax = "CASE d.scope WHEN 1 THEN c.public_quota_bytes ELSE c.private_quota_bytes END"

    /// The quota of account `a`; null if there is none.
    static let accountBytesMax = "coalesce(a.quota_bytes, (SELECT account_quota_bytes FROM store))"

    /// The bytes of the records in database `d`, without reading the records.
    private static let recordBytes = sum(of: "byte_count")

    /// The bytes of its tombstones.
    private static let tombstoneBytes = sum(of: "tombstone_byte_count")

    /// - Parameter column: a number of the living zones of database `d`.
    private static func sum(of column: String) -> String {
        "coalesce((SELECT sum(z.\(column)) FROM zone z WHERE z.database_id = d.id AND z.removal IS NULL), 0)::bigint"
    }

    /// The bytes of its assets.
    private static let assetBytes =
        "coalesce((SELECT t.byte_count FROM asset_total t WHERE t.database_id = d.id), 0)"

    /// The bytes of database `d` that count in a quota.
    static let heldBytes = "\(recordBytes) + \(assetBytes)"

    /// Bytes in all private databases of account `a`.
    private static let accountBytes = """
        (SELECT coalesce(sum(\(heldBytes)), 0)::bigint
                   FROM \(accountDatabases) WHERE u.account_id = a.id)
        """

    // MARK: For who signs in

    /// The quotas of private database `d` of account `a` in container `k`, and what is used of each (``QuotaStanding``).
    /// Others wait behind this read, so it ends at ``QuotaStanding/zonesMax`` zones. Without a quota it reads none.
    static let standingColumns = """
        k.private_quota_bytes AS quota_bytes, \(accountBytesMax) AS account_quota_bytes,
               CASE WHEN k.private_quota_bytes IS NOT NULL AND d.id IS NOT NULL THEN
                   \(countedBytes(livingZones, assets: assetBytes)) END AS used_bytes,
               CASE WHEN \(accountBytesMax) IS NOT NULL AND d.id IS NOT NULL THEN
                   \(countedBytes(accountZones, assets: accountAssetBytes)) END AS account_used_bytes
        """

    /// Null if there are more zones than are counted.
    private static func countedBytes(_ zones: String, assets: String) -> String {
        """
        (SELECT CASE WHEN count(*) <= \(QuotaStanding.zonesMax) THEN coalesce(sum(n.byte_count), 0)::bigint + \(assets) END
                      FROM (\(zones)) AS n)
        """
    }

    /// By name: the index has no zones that have ended.
    private static let livingZones = """
        SELECT z.byte_count FROM zone z WHERE z.database_id = d.id AND z.removal IS NULL
                             ORDER BY z.name LIMIT \(QuotaStanding.zonesMax + 1)
        """

    private static let accountZones = """
        SELECT l.byte_count FROM \(accountDatabases) CROSS JOIN LATERAL (\(livingZones)) AS l
                             WHERE u.account_id = a.id LIMIT \(QuotaStanding.zonesMax + 1)
        """

    private static let accountAssetBytes =
        "(SELECT coalesce(sum(\(assetBytes)), 0)::bigint FROM \(accountDatabases) WHERE u.account_id = a.id)"

    private static let accountDatabases = "container_user u JOIN database d ON d.user_id = u.id AND d.scope = 2"

    // MARK: Statements

    /// Before databases, in the order of the list.
    let lockAccounts = DeclaredStatement<[AccountID], Void>(
        .read, "quota_lock_accounts",
        """
        SELECT a.id FROM unnest(\(\.self)) AS k (id)
         CROSS JOIN LATERAL (
               SELECT id FROM account WHERE id BETWEEN k.id AND k.id ORDER BY id LIMIT 1 FOR NO KEY UPDATE) AS a
        """)

    /// Runs after the locks: one row for each account that has a quota.
    let accountUses = DeclaredStatement<[AccountID], AccountUse>(
        .read, "quota_account_uses",
        """
        SELECT a.id, \(accountBytesMax) AS bytes_max, \(accountBytes) AS byte_count
          FROM unnest(\(\.self)) AS k (id)
          JOIN account a ON a.id = k.id
         WHERE \(accountBytesMax) IS NOT NULL
        """
    ) { row throws(PostgresError) in
        let use = StorageUse(byteCount: try row["byte_count"], bytesMax: try row["bytes_max"], isOfAccount: true)
        return AccountUse(account: try row["id"], use: use)
    }

    /// The account that owns a private database.
    let owner = DeclaredStatement<DatabaseID, AccountID>(
        .read, "quota_owner",
        "SELECT u.account_id FROM database d JOIN container_user u ON u.id = d.user_id WHERE d.id = \(\.self) AND d.scope = 2"
    )

    let setOfAccount = DeclaredStatement<(account: AccountID, bytesMax: Int64?), Void>(
        .write, "quota_set_of_account",
        "UPDATE account SET quota_bytes = \(\.bytesMax) WHERE id = \(\.account) RETURNING id")

    let setOfAccounts = DeclaredStatement<Int64?, Void>(
        .write, "quota_set_of_accounts",
        "UPDATE store SET account_quota_bytes = \(\.self) RETURNING 1")

    /// An account's own quota, or that of all accounts that have none of their own.
    let ofAccount = DeclaredStatement<AccountID, Int64?>(
        .read, "admin_account_quota",
        "SELECT quota_bytes FROM account WHERE id = \(\.self)"
    ) { row throws(PostgresError) in try row["quota_bytes"] }

    let ofAccounts = DeclaredStatement<Void, Int64?>(
        .read, "admin_accounts_quota",
        "SELECT account_quota_bytes FROM store"
    ) { row throws(PostgresError) in try row["account_quota_bytes"] }

    /// Locks in the order of the list. Everybody who locks several databases orders them by id.
    let lock = DeclaredStatement<[DatabaseID], Void>(
        .read, "quota_lock_databases",
        """
        SELECT d.id FROM unnest(\(\.self)) AS k (id)
         CROSS JOIN LATERAL (
               SELECT id FROM database WHERE id BETWEEN k.id AND k.id ORDER BY id LIMIT 1 FOR NO KEY UPDATE) AS d
        """)

    /// Runs after the locks.
    let byteCounts = DeclaredStatement<
        [DatabaseID], (database: DatabaseID, byteCount: Int64, tombstoneBytes: Int64)
    >(
        .read, "quota_byte_counts",
        """
        SELECT d.id, \(recordBytes) + \(assetBytes) AS byte_count, \(tombstoneBytes) AS tombstone_bytes
          FROM unnest(\(\.self)) AS d (id)
        """
    ) { row throws(PostgresError) in
        (try row["id"], try row["byte_count"], try row["tombstone_bytes"])
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
        UPDATE container SET private_quota_bytes = \(\.quota.privateBytes), public_quota_bytes = \(\.quota.publicBytes),
                             public_share_bytes = \(\.quota.publicShare.stored)
         WHERE identifier = \(\.container.identifier) AND environment = \(\.container.environment) RETURNING id
        """)

    let find = DeclaredStatement<ContainerKey, StorageQuota>(
        .read, "admin_quota",
        """
        SELECT private_quota_bytes, public_quota_bytes, public_share_bytes FROM container
         WHERE identifier = \(\.identifier) AND environment = \(\.environment)
        """
    ) { row throws(PostgresError) in
        StorageQuota(
            privateBytes: try row["private_quota_bytes"], publicBytes: try row["public_quota_bytes"],
            publicShare: PublicShare(stored: try row["public_share_bytes"]))
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
