// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of keys. A save without encrypted values runs none of it.
struct KeyStatements: Sendable {
    /// The ids of zones' keys with which values may be saved. The first column is the index in the list.
    let readZoneKeyIDs = DeclaredStatement<[ZoneKey], (ordinal: Int, id: [UInt8])>(
        .read, "read_zone_key_ids",
        """
        SELECT k.ordinal, y.id
          FROM unnest(\(\.self, \.database), \(\.self, \.name)) WITH ORDINALITY AS k (database_id, zone_name, ordinal)
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         CROSS JOIN LATERAL (
               SELECT id FROM zone_key
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id AND NOT is_retired
                ORDER BY database_id, zone_id, number) AS y
        """
    ) { row throws(PostgresError) in
        (try row["ordinal"], try row["id"])
    }

    /// The keys of zones, in the order of the list. A zone without keys has a row of nulls. `rowsMax` is nil for all.
    ///
    /// NB: `unnest … WITH ORDINALITY` is known to be in order, so nothing is sorted, and nothing is read beyond the limit.
    let readZoneKeys = DeclaredStatement<
        (zones: [ZoneKey], rowsMax: Int?), (ordinal: Int, key: WrappedZoneKey?)
    >(
        .read, "read_zone_keys",
        """
        SELECT k.ordinal, y.id, y.account_key_id, y.wrapped
          FROM unnest(\(\.zones, \.database), \(\.zones, \.name)) WITH ORDINALITY AS k (database_id, zone_name, ordinal)
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
          LEFT JOIN LATERAL (
               SELECT id, account_key_id, wrapped, number FROM zone_key
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                ORDER BY database_id, zone_id, number) AS y ON true
         ORDER BY k.ordinal LIMIT \(\.rowsMax)
        """
    ) { row throws(PostgresError) in
        guard let id: [UInt8] = try row["id"] else { return (try row["ordinal"], nil) }
        let key = WrappedZoneKey(id: id, accountKeyID: try row["account_key_id"], wrapped: try row["wrapped"])
        return (try row["ordinal"], key)
    }

    let saveZoneKey = DeclaredStatement<
        (zone: ZoneKey, newest: [UInt8]?, key: WrappedZoneKey, now: Timestamp, countMax: Int, rowsMax: Int), Void
    >(
        .write, "save_zone_key",
        """
        INSERT INTO zone_key (database_id, zone_id, number, id, account_key_id, wrapped, created_at)
        SELECT k.database_id, z.id, coalesce(y.number, 0) + 1, \(\.key.id), \(\.key.accountKeyID), \(\.key.wrapped), \(\.now)
          FROM (SELECT \(\.zone.database) AS database_id, \(\.zone.name) AS zone_name) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
          LEFT JOIN LATERAL (
               SELECT number, id FROM zone_key
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                ORDER BY database_id DESC, zone_id DESC, number DESC LIMIT 1) AS y ON true
          LEFT JOIN LATERAL (\(oldestNumber)) AS w ON true
         WHERE y.id IS NOT DISTINCT FROM \(\.newest)
           AND coalesce(y.number - w.number + 1, 0) < \(\.countMax)::bigint
           AND (y.number IS NULL OR \(SharingStatements.rowCount(ofOwnerOf: "k.database_id")) < \(\.rowsMax)::bigint)
            ON CONFLICT DO NOTHING
        """)

    /// Retires the keys of a zone that are older than one of them. The zone's write number goes on, so no server decides by keys
    /// that it knew before. The number is changed first: a save that has the zone's lock is waited for.
    let retireZoneKeys = DeclaredStatement<(zone: ZoneKey, id: [UInt8]), Void>(
        .write, "retire_zone_keys",
        """
        WITH moved AS (
            UPDATE zone SET write_number = zone.write_number + 1
              FROM (SELECT k.database_id, z.id, y.number
                      FROM (SELECT \(\.zone.database) AS database_id, \(\.zone.name) AS zone_name) AS k
                     CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
                     CROSS JOIN LATERAL (
                           SELECT number FROM zone_key
                            WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id AND id = \(\.id)
                            ORDER BY database_id, zone_id, number LIMIT 1) AS y) AS i
             WHERE zone.database_id = i.database_id AND zone.id = i.id
            RETURNING i.database_id, i.id, i.number)
        UPDATE zone_key AS o SET is_retired = true
          FROM moved
         WHERE o.database_id = moved.database_id AND o.zone_id = moved.id AND o.number < moved.number
           AND NOT o.is_retired
        """)

    /// Saves a key as the oldest of a zone that has keys. The numbers of keys go on below 1, without a gap.
    let saveOldestZoneKey = DeclaredStatement<
        (zone: ZoneKey, key: WrappedZoneKey, now: Timestamp, countMax: Int, rowsMax: Int), Void
    >(
        .write, "save_oldest_zone_key",
        """
        INSERT INTO zone_key (database_id, zone_id, number, id, account_key_id, wrapped, created_at)
        SELECT k.database_id, z.id, w.number - 1, \(\.key.id), \(\.key.accountKeyID), \(\.key.wrapped), \(\.now)
          FROM (SELECT \(\.zone.database) AS database_id, \(\.zone.name) AS zone_name) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         CROSS JOIN LATERAL (\(oldestNumber)) AS w
         WHERE NOT EXISTS (SELECT FROM zone_key
                            WHERE database_id = k.database_id AND zone_id = z.id AND id = \(\.key.id))
           AND (SELECT count(*) FROM zone_key WHERE database_id = k.database_id AND zone_id = z.id)
               < \(\.countMax)::bigint
           AND \(SharingStatements.rowCount(ofOwnerOf: "k.database_id")) < \(\.rowsMax)::bigint
            ON CONFLICT DO NOTHING
        """)

    private static let oldestNumber = """
        SELECT number FROM zone_key
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                ORDER BY database_id, zone_id, number LIMIT 1
        """

    let readAccountKey = DeclaredStatement<UserID, StoredAccountKey>(
        .read, "read_account_key",
        """
        SELECT a.encryption_mode, k.id, k.escrow, k.public_key
          FROM container_user u
          JOIN account a ON a.id = u.account_id
          LEFT JOIN account_key k ON k.user_id = u.id
         WHERE u.id = \(\.self)
        """
    ) { row throws(PostgresError) in
        guard let mode = EncryptionMode(rawValue: try row["encryption_mode"]) else {
            throw PostgresError(.unexpectedResult, detail: "read_account_key")
        }
        return StoredAccountKey(
            mode: mode, id: try row["id"], escrow: try row["escrow"], publicKey: try row["public_key"])
    }

    /// Locks the account's row against a change of its mode, and the store's against a change of its master key.
    let saveAccountKey = DeclaredStatement<
        (user: UserID, key: StoredAccountKey, masterKeyCheck: [UInt8], now: Timestamp), Void
    >(
        .write, "save_account_key",
        """
        INSERT INTO account_key (user_id, id, escrow, created_at, public_key)
        SELECT f.id, \(\.key.id), \(\.key.escrow), \(\.now), \(\.key.publicKey)
          FROM (SELECT u.id
                  FROM container_user u
                  JOIN account a ON a.id = u.account_id
                 CROSS JOIN store s
                 WHERE u.id = \(\.user) AND a.encryption_mode = \(\.key.mode) AND (\(\.key.escrow) IS NULL OR s.master_key_check = \(\.masterKeyCheck))
                   FOR SHARE OF a, s) AS f
            ON CONFLICT DO NOTHING
        """)

    /// Keeps the public half of the key's pair, if there is none yet. The first one counts: only whoever has the account's key knows
    /// which is right (R-268).
    let publishAccountKey = DeclaredStatement<(user: UserID, key: StoredAccountKey), Void>(
        .write, "publish_account_key",
        """
        UPDATE account_key SET public_key = \(\.key.publicKey)
         WHERE user_id = \(\.user) AND id = \(\.key.id) AND public_key IS NULL
        """)

    let claimMasterKey = DeclaredStatement<[UInt8], Void>(
        .write, "claim_master_key",
        "UPDATE store SET master_key_check = \(\.self) WHERE master_key_check IS NULL")

    let readMasterKeyCheck = DeclaredStatement<Void, [UInt8]?>(
        .read, "read_master_key_check",
        "SELECT master_key_check FROM store")

    // MARK: For operators

    let lockMasterKeyCheck = DeclaredStatement<Void, [UInt8]?>(
        .read, "lock_master_key_check",
        "SELECT master_key_check FROM store FOR UPDATE")

    let setMasterKeyCheck = DeclaredStatement<[UInt8], Void>(
        .write, "set_master_key_check",
        "UPDATE store SET master_key_check = \(\.self)")

    let escrows = DeclaredStatement<(after: Int64, countMax: Int), (user: UserID, escrow: [UInt8])>(
        .read, "escrows",
        """
        SELECT user_id, escrow FROM account_key WHERE user_id > \(\.after) AND escrow IS NOT NULL
         ORDER BY user_id LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        (try row["user_id"], try row["escrow"])
    }

    let replaceEscrows = DeclaredStatement<[(user: UserID, escrow: [UInt8])], Void>(
        .write, "replace_escrows",
        """
        UPDATE account_key SET escrow = k.escrow
          FROM unnest(\(\.self, \.user), \(\.self, \.escrow)) AS k (user_id, escrow)
         WHERE account_key.user_id = k.user_id
        """)

    /// The private databases of an account, in the order in which everybody locks them.
    let lockDatabases = DeclaredStatement<AccountID, DatabaseID>(
        .read, "lock_account_databases",
        """
        SELECT id FROM database
         WHERE id = ANY (ARRAY(SELECT d.id FROM container_user u JOIN database d ON d.user_id = u.id
                                                                         AND d.scope = 2
                                WHERE u.account_id = \(\.self)))
         ORDER BY id FOR UPDATE
        """)

    /// Ends the zones that have keys, because the keys are lost (R-107).
    let endKeyedZones = DeclaredStatement<[DatabaseID], DatabaseID>(
        .write, "end_keyed_zones",
        """
        WITH ended AS (
            UPDATE zone SET removal = 2, removed_at = now()
             WHERE database_id = ANY (\(\.self)) AND removal IS NULL
               AND EXISTS (SELECT FROM zone_key k WHERE k.database_id = zone.database_id AND k.zone_id = zone.id)
         RETURNING database_id, id),
        forgotten AS (
            DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id),
        taken AS (
            DELETE FROM key_grant g USING ended WHERE g.database_id = ended.database_id AND g.zone_id = ended.id)
        SELECT database_id FROM ended
        """)

    let createDefaultZones = DeclaredStatement<[DatabaseID], Void>(
        .write, "create_default_zones",
        ZoneStatements.createDefault(in: "unnest(\(\.self)) AS d (id)", now: "now()"))

    let lockEncryptionMode = DeclaredStatement<AccountID, Void>(
        .read, "lock_encryption_mode",
        "SELECT encryption_mode FROM account WHERE id = \(\.self) FOR UPDATE")

    /// One row if any of the account's users has a key.
    let accountKeys = DeclaredStatement<AccountID, Void>(
        .read, "account_keys",
        """
        SELECT k.user_id FROM container_user u JOIN account_key k ON k.user_id = u.id WHERE u.account_id = \(\.self)
        """)

    let setEncryptionMode = DeclaredStatement<(account: AccountID, mode: EncryptionMode), Void>(
        .write, "set_encryption_mode",
        "UPDATE account SET encryption_mode = \(\.mode) WHERE id = \(\.account)")

    let forgetAccountKeys = DeclaredStatement<AccountID, Void>(
        .write, "forget_account_keys",
        """
        DELETE FROM account_key USING container_user u WHERE u.id = account_key.user_id AND u.account_id = \(\.self)
        """)
}
