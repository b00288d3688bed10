// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of accounts that end: the work that is left of each, and what others' shares have of them.
struct AccountEndStatements: Sendable {
    // MARK: Work

    /// How long ago a session of the account may have been open. Servers look at credentials once a minute (R-354), and what
    /// was begun by then ends. Whoever works on an end gives a sign of life more often.
    private static let patience = "interval '5 minutes'"
    private static let work = "account_id, deletes_public, begun_at < now() - \(patience) AS is_last"

    /// NB: what was chosen once holds, also if the command is repeated without it.
    let begin = DeclaredStatement<(account: AccountID, deletesPublic: Bool), AccountEndWork>(
        .write, "begin_account_end",
        """
        INSERT INTO account_end (account_id, deletes_public) VALUES (\(\.account), \(\.deletesPublic))
            ON CONFLICT (account_id) DO UPDATE
           SET worked_at = now(), deletes_public = account_end.deletes_public OR excluded.deletes_public
        RETURNING \(work)
        """
    ) { row throws(PostgresError) in try AccountEndWork(row) }

    /// Takes over the work that nobody has touched for the longest time.
    let claim = DeclaredStatement<Void, AccountEndWork>(
        .write, "claim_account_end",
        """
        UPDATE account_end SET worked_at = now()
         WHERE account_id = (SELECT account_id FROM account_end WHERE worked_at < now() - \(patience)
                              ORDER BY worked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING \(work)
        """
    ) { row throws(PostgresError) in try AccountEndWork(row) }

    let touch = DeclaredStatement<AccountID, Void>(
        .write, "touch_account_end", "UPDATE account_end SET worked_at = now() WHERE account_id = \(\.self)")

    let finish = DeclaredStatement<AccountID, Void>(
        .write, "finish_account_end", "DELETE FROM account_end WHERE account_id = \(\.self)")

    let isBegun = DeclaredStatement<AccountID, Void>(
        .read, "account_end_is_begun", "SELECT 1 FROM account_end WHERE account_id = \(\.self)")

    /// What changes with everything that is saved, deleted or made in private databases.
    let changeMark = DeclaredStatement<[DatabaseID], AccountChangeMark>(
        .read, "account_change_mark",
        """
        SELECT count(*) AS zone_count, coalesce(sum(change_number), 0)::bigint AS change_count, max(id) AS newest
          FROM zone WHERE database_id = ANY (\(\.self)) AND removal IS NULL
        """
    ) { row throws(PostgresError) in
        AccountChangeMark(
            zoneCount: try row["zone_count"], changeCount: try row["change_count"], newest: try row["newest"])
    }

    // MARK: In others' shares

    /// Living zones that follow a place, in whose living shares somebody takes part, is invited, has asked for access or is
    /// blocked. Each kind is found by an index of its own.
    let zonesOfPerson = DeclaredStatement<PersonZonesQuery, (zone: ZoneID, key: ZoneKey)>(
        .read, "zones_of_person",
        """
        SELECT k.database_id, k.zone_id, z.name
          FROM (SELECT database_id, zone_id
                  FROM ((\(zones("share_participant", where: "p.user_id = ANY (\(\.users)) AND p.status <> 3")))
                         UNION
                        (\(zones("share_participant", where: "\(address) = ANY (\(\.addresses)) AND p.status <> 3")))
                         UNION
                        (\(zones("share_requester", where: "p.user_id = ANY (\(\.users))")))) AS u
                 ORDER BY database_id, zone_id LIMIT \(\.zonesMax)) AS k
          JOIN zone z ON z.database_id = k.database_id AND z.id = k.zone_id
         ORDER BY k.database_id, k.zone_id
        """
    ) { row throws(PostgresError) in
        (try row["zone_id"], ZoneKey(database: try row["database_id"], name: try row["name"]))
    }

    /// Of an invitation that nobody has accepted.
    private static let address = "p.user_id IS NULL AND p.address"

    private static func zones(_ table: String, where condition: SQL<PersonZonesQuery>) -> SQL<PersonZonesQuery> {
        """
        SELECT DISTINCT p.database_id, p.zone_id
          FROM \(table) p
         WHERE \(condition) AND (p.database_id, p.zone_id) > (\(\.database), \(\.zone)) AND \(isLiving)
         ORDER BY p.database_id, p.zone_id LIMIT \(\.zonesMax)
        """
    }

    /// Whether the share of the row `p` lives.
    private static let isLiving = """
        EXISTS (SELECT FROM share s JOIN zone z ON z.database_id = s.database_id AND z.id = s.zone_id
                 WHERE s.database_id = p.database_id AND s.zone_id = p.zone_id AND s.number = p.share_number
                   AND s.ended_number IS NULL AND z.removal IS NULL)
        """

    let partCounts = DeclaredStatement<EndedPerson, PersonParts>(
        .read, "count_parts_of_person",
        """
        SELECT (SELECT count(*) FROM share_participant p
                 WHERE p.user_id = ANY (\(\.userList)) AND p.status = 2 AND \(isLiving)) AS part_count,
               (SELECT count(*) FROM share_participant p
                 WHERE p.user_id = ANY (\(\.userList)) AND p.status = 1 AND \(isLiving))
               + (SELECT count(*) FROM share_participant p
                   WHERE \(address) = ANY (\(\.addressList)) AND p.status = 1 AND \(isLiving)) AS invitation_count,
               (SELECT count(*) FROM share_requester p
                 WHERE p.user_id = ANY (\(\.userList)) AND NOT p.is_blocked AND \(isLiving)) AS request_count
        """
    ) { row throws(PostgresError) in
        PersonParts(
            partCount: try row["part_count"], invitationCount: try row["invitation_count"],
            requestCount: try row["request_count"])
    }

    /// Rows that grant nothing, in living and in ended shares. Nobody is shown them, but they say who somebody was.
    let forgetRows = DeclaredStatement<EndedPerson, Void>(
        .write, "forget_rows_of_person",
        """
        DELETE FROM share_participant p
         WHERE (p.user_id = ANY (\(\.userList)) OR \(address) = ANY (\(\.addressList)))
           AND (p.status = 3 OR NOT \(isLiving))
        """)

    /// By the user's shared database, before its list goes. Other marks of theirs are forgotten as all old ones are (R-733).
    let forgetTokens = DeclaredStatement<DatabaseID, Void>(
        .write, "forget_tokens_of_viewer",
        """
        DELETE FROM client_token
         WHERE database_id IN (SELECT owner_database_id FROM shared_zone WHERE database_id = \(\.self))
           AND user_id = (SELECT user_id FROM database WHERE id = \(\.self) AND scope = 3)
        """)
}

/// Asks for zones in whose shares somebody is, in steps.
struct PersonZonesQuery: Sendable {
    let users: [UserID]
    let addresses: [String]
    /// After which zone.
    let database: DatabaseID
    let zone: ZoneID
    let zonesMax: Int
}

extension EndedPerson {
    fileprivate var userList: [UserID] { users.sorted { $0.rawValue < $1.rawValue } }
    fileprivate var addressList: [String] { addresses.sorted() }
}

extension AccountEndWork {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            account: try row["account_id"], deletesPublic: try row["deletes_public"], isLast: try row["is_last"])
    }
}
