// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of keys that owners' devices give to other accounts.
struct KeyGrantStatements: Sendable {
    /// A row of `readers`. A zone without readers has one of nulls.
    struct ReaderRow: Sendable {
        let keys: ZoneKeyCount
        let user: UserID?
        /// Nil if the account was deleted.
        let reader: KeyReader?
    }

    /// A part of the readers of a living zone, in the order of their users, with what says whether each lacks keys.
    let readers = DeclaredStatement<(zone: ZoneKey, after: UserID, countMax: Int), ReaderRow>(
        .read, "key_readers",
        """
        SELECT y.key_count, y.newest_id, r.user_id, r.record_name, r.encryption_mode, r.public_key,
               g.public_key AS granted_to, g.newest_id AS granted_id, g.key_count AS granted_count
          FROM (SELECT \(\.zone.database) AS database_id, \(\.zone.name) AS zone_name) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         CROSS JOIN LATERAL (
               SELECT count(*) AS key_count, (array_agg(id ORDER BY number DESC))[1] AS newest_id
                 FROM zone_key WHERE database_id = k.database_id AND zone_id = z.id) AS y
          LEFT JOIN LATERAL (
               SELECT w.user_id, u.record_name, a.encryption_mode, c.public_key
                 FROM (SELECT DISTINCT p.user_id FROM \(reading)
                          AND p.user_id > \(\.after) ORDER BY p.user_id LIMIT \(\.countMax)) AS w
                 JOIN container_user u ON u.id = w.user_id
                 LEFT JOIN account a ON a.id = u.account_id
                 LEFT JOIN account_key c ON c.user_id = u.id) AS r ON true
          LEFT JOIN key_grant g ON g.database_id = k.database_id AND g.zone_id = z.id AND g.user_id = r.user_id
         ORDER BY r.user_id
        """
    ) { row throws(PostgresError) in
        let keys = ZoneKeyCount(count: try row["key_count"], newestID: try row["newest_id"])
        guard let user: UserID = try row["user_id"] else { return ReaderRow(keys: keys, user: nil, reader: nil) }
        guard let mode = (try row["encryption_mode"] as Int16?).flatMap(EncryptionMode.init(rawValue:)) else {
            return ReaderRow(keys: keys, user: user, reader: nil)
        }
        var granted: KeyReader.Granted?
        if let publicKey: [UInt8] = try row["granted_to"] {
            granted = KeyReader.Granted(
                publicKey: publicKey, newestID: try row["granted_id"], keyCount: try row["granted_count"])
        }
        let reader = KeyReader(
            user: user, recordName: try row["record_name"], mode: mode, publicKey: try row["public_key"],
            granted: granted)
        return ReaderRow(keys: keys, user: user, reader: reader)
    }

    /// Takes back what was given to those with whom the zone is not shared any more.
    let drop = DeclaredStatement<ZoneKey, Void>(
        .write, "drop_key_grants",
        """
        DELETE FROM key_grant AS g
         USING (SELECT \(\.database) AS database_id, \(\.name) AS zone_name) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         WHERE g.database_id = k.database_id AND g.zone_id = z.id
           AND NOT EXISTS (SELECT FROM \(reading) AND p.user_id = g.user_id)
        """)

    /// Keeps those that fit what is stored now (``KeyGrant/fits(_:of:)``). The transaction has the zone's lock: otherwise the statement
    /// could have begun before the zone got its newest key, and replace what was given with that.
    let save = DeclaredStatement<(zone: ZoneKey, grants: [KeyGrant], now: Timestamp), Void>(
        .write, "save_key_grants",
        """
        INSERT INTO key_grant (database_id, zone_id, user_id, granted_at, public_key, newest_id, key_count, sealed)
        SELECT k.database_id, z.id, f.user_id, \(\.now), f.public_key, f.newest_id, f.key_count, f.sealed
          FROM (SELECT \(\.zone.database) AS database_id, \(\.zone.name) AS zone_name) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         CROSS JOIN LATERAL (
               SELECT id FROM zone_key
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                ORDER BY database_id DESC, zone_id DESC, number DESC LIMIT 1) AS y
          JOIN unnest(\(\.grants, \.user), \(\.grants, \.publicKey), \(\.grants, \.newestID), \(\.grants, \.keyCount),
                      \(\.grants, \.sealed)) AS f (user_id, public_key, newest_id, key_count, sealed)
            ON f.newest_id = y.id
          JOIN account_key c ON c.user_id = f.user_id AND c.public_key = f.public_key
         WHERE EXISTS (SELECT FROM \(reading) AND p.user_id = f.user_id)
            ON CONFLICT (database_id, zone_id, user_id) DO UPDATE
           SET granted_at = excluded.granted_at, public_key = excluded.public_key, newest_id = excluded.newest_id,
               key_count = excluded.key_count, sealed = excluded.sealed
         WHERE key_grant.public_key <> excluded.public_key OR key_grant.newest_id <> excluded.newest_id
            OR key_grant.key_count <= excluded.key_count
        """)

    /// What a user was given, of zones in which the user takes part now. The first column is the index in the list.
    let given = DeclaredStatement<(zones: [ZoneKey], user: UserID), (ordinal: Int, keys: GivenKeys)>(
        .read, "given_keys",
        """
        SELECT k.ordinal, g.sealed, c.public_key, a.encryption_mode
          FROM unnest(\(\.zones, \.database), \(\.zones, \.name)) WITH ORDINALITY AS k (database_id, zone_name, ordinal)
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
          JOIN key_grant g ON g.database_id = k.database_id AND g.zone_id = z.id AND g.user_id = \(\.user)
          JOIN database d ON d.id = k.database_id
          JOIN container_user u ON u.id = d.user_id
          JOIN account a ON a.id = u.account_id
          JOIN account_key c ON c.user_id = u.id AND c.public_key IS NOT NULL
         WHERE EXISTS (SELECT FROM \(reading) AND p.user_id = \(\.user) AND p.status = 2)
        """
    ) { row throws(PostgresError) in
        guard let mode = EncryptionMode(rawValue: try row["encryption_mode"]) else {
            throw PostgresError(.unexpectedResult, detail: "given_keys")
        }
        let keys = GivenKeys(sealed: try row["sealed"], ownerPublicKey: try row["public_key"], ownerMode: mode)
        return (try row["ordinal"], keys)
    }

    /// The rows `p` of those who are given the keys of the zone `z` of `k.database_id` (`Participant.isKeyReader`). More conditions may
    /// follow.
    private static let reading = """
        share s JOIN share_participant p
                   ON p.database_id = s.database_id AND p.zone_id = s.zone_id AND p.share_number = s.number
                WHERE s.database_id = k.database_id AND s.zone_id = z.id AND s.ended_number IS NULL
                  AND p.user_id IS NOT NULL AND p.role <> 4 AND p.status <> 3 AND p.permission > 1
        """
}
