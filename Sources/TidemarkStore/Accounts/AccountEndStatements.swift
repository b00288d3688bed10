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
    /// blocked.
    let zonesOfPerson = DeclaredStatement<PersonZonesQuery, (zone: ZoneID, key: ZoneKey)>(
        .read, "zones_of_person",
        """
        SELECT DISTINCT m.database_id, m.zone_id, l.name
          FROM (\(rows(of: "\(\.users)", "\(\.addresses)"))) AS m
         CROSS JOIN LATERAL (\(living) OFFSET 0) AS l
         WHERE m.status <> 3 AND (m.database_id, m.zone_id) > (\(\.database), \(\.zone))
         ORDER BY m.database_id, m.zone_id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in
        (try row["zone_id"], ZoneKey(database: try row["database_id"], name: try row["name"]))
    }

    /// What somebody has in living and in ended shares: participants, also removed ones, invitations that nobody has accepted,
    /// requests for access as status 0, and bans as -1. Each kind is found by an index of its own, and nothing else: other
    /// conditions would have another index read as a whole.
    private static func rows<Input>(of users: SQL<Input>, _ addresses: SQL<Input>) -> SQL<Input> {
        """
        SELECT p.database_id, p.zone_id, p.share_number, p.status
          FROM unnest(\(users)) AS u (id)
         CROSS JOIN LATERAL (SELECT * FROM share_participant WHERE user_id = u.id OFFSET 0) AS p
         UNION ALL
        SELECT p.database_id, p.zone_id, p.share_number, p.status
          FROM unnest(\(addresses)) AS a (address)
         CROSS JOIN LATERAL (SELECT * FROM share_participant WHERE address = a.address OFFSET 0) AS p
         WHERE p.user_id IS NULL
         UNION ALL
        SELECT p.database_id, p.zone_id, p.share_number, CASE WHEN p.is_blocked THEN -1 ELSE 0 END
          FROM unnest(\(users)) AS u (id)
         CROSS JOIN LATERAL (SELECT * FROM share_requester WHERE user_id = u.id OFFSET 0) AS p
        """
    }

    /// The living zone of the row `m`, if its share lives.
    private static let living = """
        SELECT z.name FROM share s JOIN zone z ON z.database_id = s.database_id AND z.id = s.zone_id
         WHERE s.database_id = m.database_id AND s.zone_id = m.zone_id AND s.number = m.share_number
           AND s.ended_number IS NULL AND z.removal IS NULL
        """

    let partCounts = DeclaredStatement<EndedPerson, PersonParts>(
        .read, "count_parts_of_person",
        """
        SELECT count(*) FILTER (WHERE m.status = 2) AS part_count,
               count(*) FILTER (WHERE m.status = 1) AS invitation_count,
               count(*) FILTER (WHERE m.status = 0) AS request_count
          FROM (\(rows(of: "\(\.userList)", "\(\.addressList)"))) AS m
         CROSS JOIN LATERAL (\(living) OFFSET 0) AS l
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
        DELETE FROM share_participant m
         WHERE (m.user_id = ANY (\(\.userList)) OR m.user_id IS NULL AND m.address = ANY (\(\.addressList)))
           AND (m.status = 3 OR NOT EXISTS (\(living)))
           AND m.ctid = ANY (ARRAY(
               SELECT p.ctid
                 FROM unnest(\(\.userList)) AS u (id)
                CROSS JOIN LATERAL (SELECT ctid FROM share_participant WHERE user_id = u.id OFFSET 0) AS p
                UNION ALL
               SELECT p.ctid
                 FROM unnest(\(\.addressList)) AS a (address)
                CROSS JOIN LATERAL (SELECT ctid FROM share_participant WHERE address = a.address OFFSET 0) AS p))
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
