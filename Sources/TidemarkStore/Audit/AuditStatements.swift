// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// A sign-in of a device, as the audit has it.
typealias SignIn = (
    account: AccountID, device: DeviceID, address: String, now: Timestamp, hour: Int64, request: ChangeCause?
)

/// A question for some rows of the audit.
struct AuditQuestion: Sendable {
    let filter: AuditFilter
    /// Rows between these two.
    let before: Int64
    let after: Int64
    /// Rows that are looked at.
    let rowsMax: Int
    /// Rows that are returned.
    let countMax: Int

    var signInsOnly: Bool { filter.kind == .signIn }
    var actionsOnly: Bool { filter.kind == .action }

    /// Requests of one session differ in their last eight bytes alone.
    var firstRequest: ChangeCause? { filter.request?.session.lowerBound }
    var lastRequest: ChangeCause? { filter.request?.session.upperBound }
}

/// The SQL of the audit.
struct AuditStatements: Sendable {
    let begin = DeclaredStatement<(action: AuditAction, command: ChangeCause?), Int64>(
        .write, "begin_audit",
        """
        INSERT INTO audit (at, result, who, address, action, target, detail, request)
        VALUES (now(), 0, \(\.action.who), \(\.action.address), \(\.action.action), \(\.action.target), '',
                \(\.command)) RETURNING id
        """)

    let end = DeclaredStatement<(id: Int64, isDone: Bool, detail: String), Void>(
        .write, "end_audit",
        "UPDATE audit SET result = CASE WHEN \(\.isDone) THEN 1 ELSE 2 END, detail = \(\.detail) WHERE id = \(\.id)")

    /// A device that is revoked is not let in: ``noteRefusal`` notes it, as all who are refused.
    let noteSignIn = DeclaredStatement<SignIn, Void>(
        .write, "note_sign_in",
        """
        INSERT INTO audit (at, account_id, device_id, hour, result, who, address, action, target, detail, request)
        SELECT \(\.now), a.id, d.id, \(\.hour), 1, a.name, \(\.address), 'sign-in', '', '', \(\.request)
          FROM account a JOIN device d ON d.account_id = a.id AND d.id = \(\.device) AND d.revoked_at IS NULL
         WHERE a.id = \(\.account)
            ON CONFLICT (account_id, device_id, hour, result) WHERE device_id IS NOT NULL DO NOTHING
        """)

    /// Notes a credential, or a device, that opens no session. Nobody's credentials have the account 0,
    /// because nulls are never the same.
    let noteRefusal = DeclaredStatement<
        (hash: [UInt8], device: DeviceID, address: String, now: Timestamp, hour: Int64, request: ChangeCause?), Void
    >(
        .write, "note_refused_sign_in",
        """
        INSERT INTO audit (at, account_id, device_id, hour, result, who, address, action, target, detail, request)
        SELECT \(\.now), coalesce(a.id, 0), \(\.device), \(\.hour), 2, coalesce(a.name, ''), \(\.address), 'sign-in', '',
               CASE WHEN c.id IS NULL THEN 'No credential is like this.'
                    WHEN a.disabled_at IS NOT NULL THEN 'The account is disabled.'
                    WHEN c.revoked_at IS NOT NULL THEN 'The credential is revoked.'
                    WHEN c.expires_at <= \(\.now) THEN 'The credential has expired.'
                    WHEN d.revoked_at IS NOT NULL THEN 'The device is revoked.'
                    ELSE 'It was refused for a reason that is gone.' END,
               \(\.request)
          FROM (SELECT 1) AS one
          LEFT JOIN credential c ON c.hash = \(\.hash)
          LEFT JOIN account a ON a.id = c.account_id
          LEFT JOIN device d ON d.account_id = a.id AND d.id = \(\.device)
            ON CONFLICT (account_id, device_id, hour, result) WHERE device_id IS NOT NULL DO NOTHING
        """)

    /// The newest row from before a time. All rows that are later have larger numbers, unless a server's clock was wrong.
    let lastBefore = DeclaredStatement<Timestamp, Int64>(
        .read, "audit_last_before", "SELECT id FROM audit WHERE at < \(\.self) ORDER BY at DESC LIMIT 1")

    let page = pages("audit_page", among: newest("true"))
    /// The same of actions alone, which are few among many sign-ins.
    let actions = pages("audit_actions", among: newest("device_id IS NULL"))
    /// The same of the session, or the command, of one request. These are few.
    let ofRequest = pages(
        "audit_of_request",
        among: """
            SELECT * FROM audit
             WHERE request BETWEEN \(\.firstRequest) AND \(\.lastRequest) AND id < \(\.before) AND id > \(\.after)
               AND (NOT \(\.actionsOnly) OR device_id IS NULL)
             ORDER BY request LIMIT \(\.rowsMax)
            """)

    /// - Parameter kind: has an index by number.
    private static func newest(_ kind: String) -> SQL<AuditQuestion> {
        """
        SELECT * FROM audit
         WHERE \(kind) AND id < \(\.before) AND id > \(\.after)
         ORDER BY id DESC LIMIT \(\.rowsMax)
        """
    }

    /// Among the last actions of operators those that closed connections. What was refused closed none. The target is the
    /// account's name, which has no spaces, and perhaps a device.
    let closings = DeclaredStatement<(action: String, rowsMax: Int), ConnectionsClosing>(
        .read, "connection_closings",
        """
        SELECT a.id, split_part(r.target, ' ', 2) AS device,
               greatest(0, extract(epoch FROM now() - r.at) * 1000)::bigint AS age
          FROM (SELECT id, at, action, result, target FROM audit WHERE device_id IS NULL
                 ORDER BY id DESC LIMIT \(\.rowsMax)) AS r
          JOIN account a ON a.name = split_part(r.target, ' ', 1) AND a.deleted_at IS NULL
         WHERE r.action = \(\.action) AND r.result <> 2
         ORDER BY r.id
        """
    ) { row throws(PostgresError) in
        let digits: String = try row["device"]
        let age: Int64 = try row["age"]
        return ConnectionsClosing(
            account: try row["id"], device: Hex.decode(digits).flatMap { DeviceID(bytes: $0) },
            age: .milliseconds(age))
    }

    /// Newest first: some rows that are wanted, and the last one that was looked at if there may be more.
    ///
    /// - Parameter rows: those that are looked at.
    private static func pages(
        _ name: String, among rows: SQL<AuditQuestion>
    ) -> DeclaredStatement<AuditQuestion, (entry: AuditEntry, isWanted: Bool, isLast: Bool)> {
        DeclaredStatement(
            .read, name,
            """
            SELECT id, at, device_id, result, who, address, action, target, detail, request, is_wanted,
                   place = \(\.rowsMax) AS is_last
              FROM (SELECT *, row_number() OVER (ORDER BY id DESC) AS place,
                           at >= \(\.filter.since) AND (\(\.filter.who)::text IS NULL OR who = \(\.filter.who))
                           AND (NOT \(\.signInsOnly) OR device_id IS NOT NULL)
                           AND (NOT \(\.filter.failuresOnly) OR result <> 1) AS is_wanted
                      FROM (\(rows)) AS r) AS p
             WHERE is_wanted OR place = \(\.rowsMax)
             ORDER BY id DESC LIMIT \(\.countMax)
            """
        ) { row throws(PostgresError) in
            let device: DeviceID? = try row["device_id"]
            let entry = AuditEntry(
                id: try row["id"], at: try row["at"], kind: device == nil ? .action : .signIn, who: try row["who"],
                device: device, address: try row["address"], action: try row["action"], target: try row["target"],
                result: AuditEntry.Result(rawValue: try row["result"]) ?? .begun, detail: try row["detail"],
                request: try row["request"])
            return (entry, try row["is_wanted"], try row["is_last"])
        }
    }

    /// One row for each that is forgotten.
    let forget = DeclaredStatement<(deadline: Timestamp, countMax: Int), Void>(
        .write, "forget_audit",
        """
        DELETE FROM audit
         WHERE id = ANY (ARRAY(SELECT id FROM audit WHERE at < \(\.deadline) ORDER BY at LIMIT \(\.countMax)))
        RETURNING 1
        """)

    /// The sign-ins of an account that is deleted.
    let forgetSignIns = DeclaredStatement<AccountID, Void>(
        .write, "forget_sign_ins",
        "DELETE FROM audit WHERE account_id = \(\.self) AND device_id IS NOT NULL")

    /// What operators' actions name of an account beside itself: its zones and records, which are its data. An account's name
    /// has no spaces, and comes first.
    let forgetTargets = DeclaredStatement<AccountID, Void>(
        .write, "forget_targets",
        """
        UPDATE audit SET target = a.name, detail = ''
          FROM account a
         WHERE a.id = \(\.self) AND device_id IS NULL AND starts_with(target, a.name || ' ')
        """)
}
