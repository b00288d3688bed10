// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of identities of providers, and of why a credential opens no session.
struct IdentityStatements: Sendable {
    /// An identity, and the label of the credential beside it.
    typealias New = (issuer: String, subject: String, key: [UInt8], label: String)

    /// Whoever makes the same identity at the same time waits, on whichever server.
    let lock = DeclaredStatement<Int64, Void>(
        .read, "lock_identity", "SELECT 1 FROM pg_advisory_xact_lock(\(\.self))")

    /// No row: there is such an identity, or an account of this name.
    let createWithAccount = DeclaredStatement<(new: New, name: String), Void>(
        .write, "create_identity_with_account",
        """
        WITH made AS (
            INSERT INTO account (name)
            SELECT \(\.name)
             WHERE NOT EXISTS (SELECT FROM account_identity
                                WHERE issuer = \(\.new.issuer) AND subject = \(\.new.subject))
                ON CONFLICT DO NOTHING RETURNING id),
        shown AS (
            INSERT INTO credential (account_id, hash, label)
            SELECT id, \(\.new.key), \(\.new.label) FROM made RETURNING id)
        INSERT INTO account_identity (issuer, subject, credential_id)
        SELECT \(\.new.issuer), \(\.new.subject), id FROM shown
        """)

    /// No row: there is such an identity.
    let link = DeclaredStatement<(new: New, account: AccountID), Void>(
        .write, "link_identity",
        """
        WITH shown AS (
            INSERT INTO credential (account_id, hash, label)
            SELECT \(\.account), \(\.new.key), \(\.new.label)
             WHERE NOT EXISTS (SELECT FROM account_identity
                                WHERE issuer = \(\.new.issuer) AND subject = \(\.new.subject))
         RETURNING id)
        INSERT INTO account_identity (issuer, subject, credential_id)
        SELECT \(\.new.issuer), \(\.new.subject), id FROM shown
        """)

    let owner = DeclaredStatement<
        (issuer: String, subject: String), (account: AccountID, credential: CredentialID, revokedAt: Timestamp?)
    >(
        .read, "owner_of_identity",
        """
        SELECT c.account_id, c.id, c.revoked_at FROM account_identity i JOIN credential c ON c.id = i.credential_id
         WHERE i.issuer = \(\.issuer) AND i.subject = \(\.subject)
        """
    ) { row throws(PostgresError) in (try row["account_id"], try row["id"], try row["revoked_at"]) }

    let ofAccount = DeclaredStatement<AccountID, AdminStore.ListedIdentity>(
        .read, "identities_of_account",
        """
        SELECT i.issuer, i.subject, i.created_at, c.id, c.revoked_at
          FROM credential c JOIN account_identity i ON i.credential_id = c.id
         WHERE c.account_id = \(\.self) ORDER BY c.id
        """
    ) { row throws(PostgresError) in
        AdminStore.ListedIdentity(
            issuer: try row["issuer"], subject: try row["subject"], createdAt: try row["created_at"],
            credential: try row["id"], revokedAt: try row["revoked_at"])
    }

    /// The identity goes with it.
    let removeCredential = DeclaredStatement<(credential: CredentialID, account: AccountID), Void>(
        .write, "remove_identity",
        """
        DELETE FROM credential c
         WHERE c.id = \(\.credential) AND c.account_id = \(\.account)
           AND EXISTS (SELECT FROM account_identity i WHERE i.credential_id = c.id)
        """)

    let ownerOfAddress = DeclaredStatement<(kind: AdminStore.AddressKind, address: String), AccountID>(
        .read, "owner_of_address",
        "SELECT account_id FROM account_address WHERE kind = \(\.kind) AND address = \(\.address)")

    /// No row: nobody has the credential. The order is that in which a person would want to know.
    let problem = DeclaredStatement<(hash: [UInt8], device: DeviceID, now: Timestamp), SignInProblem>(
        .read, "sign_in_problem",
        """
        SELECT a.disabled_at IS NOT NULL AS is_disabled, c.revoked_at IS NOT NULL AS is_revoked,
               c.expires_at IS NOT NULL AND c.expires_at <= \(\.now) AS is_expired,
               EXISTS (SELECT FROM device d WHERE d.account_id = a.id AND d.id = \(\.device)
                          AND d.revoked_at IS NOT NULL) AS is_device_revoked
          FROM credential c JOIN account a ON a.id = c.account_id
         WHERE c.hash = \(\.hash)
        """
    ) { row throws(PostgresError) in
        let (isDisabled, isRevoked): (Bool, Bool) = (try row["is_disabled"], try row["is_revoked"])
        let (isExpired, isDeviceRevoked): (Bool, Bool) = (try row["is_expired"], try row["is_device_revoked"])
        if isDisabled { return .accountDisabled }
        if isRevoked { return .credentialRevoked }
        if isExpired { return .credentialExpired }
        return isDeviceRevoked ? .deviceRevoked : .credentialUnknown
    }
}
