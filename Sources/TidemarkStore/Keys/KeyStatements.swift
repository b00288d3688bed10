// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of keys. A save without encrypted values runs none of it.
enum KeyStatements {
    /// The ids of zones' keys. 1 databases, 2 zone names. The first column is the index in the list.
    static let readZoneKeyIDs = Statement(
        .read, "read_zone_key_ids",
        """
        SELECT k.ordinal, y.id
          FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS k (database_id, zone_name, ordinal)
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         CROSS JOIN LATERAL (
               SELECT id FROM zone_key WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                ORDER BY database_id, zone_id, number) AS y
        """, [.int8Array, .textArray])

    /// The keys of zones. A zone without keys has a row of nulls. 1 database, 2 zone names.
    static let readZoneKeys = Statement(
        .read, "read_zone_keys",
        """
        SELECT k.ordinal, y.id, y.account_key_id, y.wrapped
          FROM (SELECT $1::bigint AS database_id, n.zone_name, n.ordinal
                  FROM unnest($2::text[]) WITH ORDINALITY AS n (zone_name, ordinal)) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
          LEFT JOIN LATERAL (
               SELECT id, account_key_id, wrapped, number FROM zone_key
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                ORDER BY database_id, zone_id, number) AS y ON true
        """, [.int8, .textArray])

    /// 1 database, 2 zone name, 3 the newest key's id or null, 4 id, 5 account key's id, 6 wrapped key, 7 now, 8 the
    /// most keys.
    static let saveZoneKey = Statement(
        .write, "save_zone_key",
        """
        INSERT INTO zone_key (database_id, zone_id, number, id, account_key_id, wrapped, created_at)
        SELECT k.database_id, z.id, coalesce(y.number, 0) + 1, $4, $5, $6, $7
          FROM (SELECT $1::bigint AS database_id, $2::text AS zone_name) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
          LEFT JOIN LATERAL (
               SELECT number, id FROM zone_key
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                ORDER BY database_id DESC, zone_id DESC, number DESC LIMIT 1) AS y ON true
         WHERE y.id IS NOT DISTINCT FROM $3 AND coalesce(y.number, 0) < $8
            ON CONFLICT DO NOTHING
        """, [.int8, .text, .bytea, .bytea, .bytea, .bytea, .timestamptz, .int8])

    /// 1 user.
    static let readAccountKey = Statement(
        .read, "read_account_key",
        """
        SELECT a.encryption_mode, k.id, k.escrow
          FROM container_user u
          JOIN account a ON a.id = u.account_id
          LEFT JOIN account_key k ON k.user_id = u.id
         WHERE u.id = $1
        """, [.int8])

    /// Locks the account's row against a change of its mode, and the store's against a change of its master key. 1
    /// user, 2 mode, 3 id, 4 escrow, 5 the master key's check, 6 now.
    static let saveAccountKey = Statement(
        .write, "save_account_key",
        """
        INSERT INTO account_key (user_id, id, escrow, created_at)
        SELECT f.id, $3, $4, $6
          FROM (SELECT u.id
                  FROM container_user u
                  JOIN account a ON a.id = u.account_id
                 CROSS JOIN store s
                 WHERE u.id = $1 AND a.encryption_mode = $2 AND ($4::bytea IS NULL OR s.master_key_check = $5)
                   FOR SHARE OF a, s) AS f
            ON CONFLICT DO NOTHING
        """, [.int8, .int2, .bytea, .bytea, .bytea, .timestamptz])

    /// 1 check.
    static let claimMasterKey = Statement(
        .write, "claim_master_key", "UPDATE store SET master_key_check = $1 WHERE master_key_check IS NULL", [.bytea])

    static let readMasterKeyCheck = Statement(.read, "read_master_key_check", "SELECT master_key_check FROM store", [])

    // MARK: For operators

    static let lockMasterKeyCheck = Statement(
        .read, "lock_master_key_check", "SELECT master_key_check FROM store FOR UPDATE", [])

    static let setMasterKeyCheck = Statement(
        .write, "set_master_key_check", "UPDATE store SET master_key_check = $1", [.bytea])

    /// 1 the user after whom to go on, 2 the most rows.
    static let escrows = Statement(
        .read, "escrows",
        """
        SELECT user_id, escrow FROM account_key WHERE user_id > $1 AND escrow IS NOT NULL
         ORDER BY user_id LIMIT $2
        """, [.int8, .int8])

    /// 1 users, 2 escrows.
    static let replaceEscrows = Statement(
        .write, "replace_escrows",
        """
        UPDATE account_key SET escrow = k.escrow
          FROM unnest($1::bigint[], $2::bytea[]) AS k (user_id, escrow)
         WHERE account_key.user_id = k.user_id
        """, [.int8Array, .byteaArray])

    /// The private databases of an account, in the order in which everybody locks them. 1 account.
    static let lockDatabases = Statement(
        .read, "lock_account_databases",
        """
        SELECT id FROM database
         WHERE id = ANY (ARRAY(SELECT d.id FROM container_user u JOIN database d ON d.user_id = u.id
                                                                         AND d.scope = 2
                                WHERE u.account_id = $1))
         ORDER BY id FOR UPDATE
        """, [.int8])

    /// Ends the zones that have keys, because the keys are lost. 1 databases.
    static let endKeyedZones = Statement(
        .write, "end_keyed_zones",
        """
        WITH ended AS (
            UPDATE zone SET removal = 2, removed_at = now()
             WHERE database_id = ANY ($1) AND removal IS NULL
               AND EXISTS (SELECT FROM zone_key k WHERE k.database_id = zone.database_id AND k.zone_id = zone.id)
         RETURNING database_id, id),
        forgotten AS (
            DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id)
        SELECT database_id FROM ended
        """, [.int8Array])

    /// the default zone always exists. 1 databases.
    static let createDefaultZones = Statement(
        .write, "create_default_zones",
        """
        INSERT INTO zone (database_id, name, created_at)
        SELECT database_id, '_defaultZone', now() FROM unnest($1::bigint[]) AS d (database_id)
            ON CONFLICT DO NOTHING
        """, [.int8Array])

    /// 1 account.
    static let lockEncryptionMode = Statement(
        .read, "lock_encryption_mode", "SELECT encryption_mode FROM account WHERE id = $1 FOR UPDATE", [.int8])

    /// One row if any of the account's users has a key. 1 account.
    static let accountKeys = Statement(
        .read, "account_keys",
        """
        SELECT k.user_id FROM container_user u JOIN account_key k ON k.user_id = u.id WHERE u.account_id = $1
        """, [.int8])

    /// 1 account, 2 mode.
    static let setEncryptionMode = Statement(
        .write, "set_encryption_mode", "UPDATE account SET encryption_mode = $2 WHERE id = $1", [.int8, .int2])

    /// 1 account.
    static let forgetAccountKeys = Statement(
        .write, "forget_account_keys",
        """
        DELETE FROM account_key USING container_user u WHERE u.id = account_key.user_id AND u.account_id = $1
        """, [.int8])
}
