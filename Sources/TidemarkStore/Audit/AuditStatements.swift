// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// A sign-in of a device, as the audit has it.
typealias SignIn = (account: AccountID, device: DeviceID, address: String, now: Timestamp, hour: Int64)

/// The SQL of the audit.
struct AuditStatements: Sendable {
    let begin = DeclaredStatement<AuditAction, Int64>(
        .write, "begin_audit",
        """
        INSERT INTO audit (at, result, who, address, action, target, detail)
        VALUES (now(), 0, \(\.who), \(\.address), \(\.action), \(\.target), '') RETURNING id
        """)

    let end = DeclaredStatement<(id: Int64, isDone: Bool, detail: String), Void>(
        .write, "end_audit",
        "UPDATE audit SET result = CASE WHEN \(\.isDone) THEN 1 ELSE 2 END, detail = \(\.detail) WHERE id = \(\.id)")

    /// A device that is revoked is refused; all others are let in.
    let noteSignIn = DeclaredStatement<SignIn, Void>(
        .write, "note_sign_in",
        """
        INSERT INTO audit (at, account_id, device_id, hour, result, who, address, action, target, detail)
        SELECT \(\.now), a.id, d.id, \(\.hour), CASE WHEN d.revoked_at IS NULL THEN 1 ELSE 2 END, a.name, \(\.address),
               'sign-in', '', CASE WHEN d.revoked_at IS NULL THEN '' ELSE 'The device is revoked.' END
          FROM account a JOIN device d ON d.account_id = a.id AND d.id = \(\.device)
         WHERE a.id = \(\.account)
            ON CONFLICT (account_id, device_id, hour, result) WHERE device_id IS NOT NULL DO NOTHING
        """)

    /// Of a credential that opens no session. Its holder is not told why.
    let noteRefusal = DeclaredStatement<
        (hash: [UInt8], device: DeviceID, address: String, now: Timestamp, hour: Int64), Void
    >(
        .write, "note_refused_sign_in",
        """
        INSERT INTO audit (at, account_id, device_id, hour, result, who, address, action, target, detail)
        SELECT \(\.now), a.id, \(\.device), \(\.hour), 2, coalesce(a.name, ''), \(\.address), 'sign-in', '',
               CASE WHEN c.id IS NULL THEN 'No credential is like this.'
                    WHEN a.disabled_at IS NOT NULL THEN 'The account is disabled.'
                    WHEN c.revoked_at IS NOT NULL THEN 'The credential is revoked.'
                    ELSE 'The credential has expired.' END
          FROM (SELECT 1) AS one
          LEFT JOIN credential c ON c.hash = \(\.hash)
          LEFT JOIN account a ON a.id = c.account_id
            ON CONFLICT (account_id, device_id, hour, result) WHERE device_id IS NOT NULL DO NOTHING
        """)

    /// Newest first.
    let page = DeclaredStatement<
        (
            before: Int64, since: Timestamp, who: String?, actions: Bool, signIns: Bool, failuresOnly: Bool,
            countMax: Int
        ),
        AuditEntry
    >(
        .read, "audit_page",
        """
        SELECT id, at, device_id, result, who, address, action, target, detail FROM audit
         WHERE id < \(\.before) AND at >= \(\.since) AND (\(\.who)::text IS NULL OR who = \(\.who))
           AND CASE WHEN device_id IS NULL THEN \(\.actions) ELSE \(\.signIns) END
           AND (NOT \(\.failuresOnly) OR result <> 1)
         ORDER BY id DESC LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        let device: DeviceID? = try row["device_id"]
        return AuditEntry(
            id: try row["id"], at: try row["at"], kind: device == nil ? .action : .signIn, who: try row["who"],
            device: device, address: try row["address"], action: try row["action"], target: try row["target"],
            result: AuditEntry.Result(rawValue: try row["result"]) ?? .begun, detail: try row["detail"])
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
    let forgetAccount = DeclaredStatement<AccountID, Void>(
        .write, "forget_sign_ins",
        "DELETE FROM audit WHERE account_id = \(\.self)")
}
