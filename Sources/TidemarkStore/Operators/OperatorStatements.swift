// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of operators and their credentials.
struct OperatorStatements: Sendable {
    let list = DeclaredStatement<Void, AdminStore.ListedOperator>(
        .read, "list_operators",
        """
        SELECT o.id, o.name, o.role, o.created_at,
               (SELECT count(*) FROM operator_credential c
                 WHERE c.operator_id = o.id AND c.revoked_at IS NULL
                   AND (c.expires_at IS NULL OR c.expires_at > now())) AS credential_count
          FROM operator o ORDER BY o.name
        """
    ) { row throws(PostgresError) in
        AdminStore.ListedOperator(
            id: try row["id"], name: try row["name"], role: try Self.role(row), createdAt: try row["created_at"],
            credentialCount: try row["credential_count"])
    }

    let find = DeclaredStatement<String, OperatorID>(
        .read, "find_operator", "SELECT id FROM operator WHERE name = \(\.self)")

    /// No row: the name is taken.
    let create = DeclaredStatement<(name: String, role: OperatorRole), OperatorID>(
        .write, "create_operator",
        "INSERT INTO operator (name, role) VALUES (\(\.name), \(\.role)) ON CONFLICT (name) DO NOTHING RETURNING id")

    let setRole = DeclaredStatement<(name: String, role: OperatorRole), Void>(
        .write, "set_operator_role",
        "UPDATE operator SET role = \(\.role) WHERE name = \(\.name) RETURNING id")

    let delete = DeclaredStatement<String, Void>(
        .write, "delete_operator", "DELETE FROM operator WHERE name = \(\.self) RETURNING id")

    let issue = DeclaredStatement<
        (id: OperatorID, hash: [UInt8], label: String, expiresAt: Timestamp?), OperatorCredentialID
    >(
        .write, "issue_operator_credential",
        """
        INSERT INTO operator_credential (operator_id, hash, label, expires_at)
        VALUES (\(\.id), \(\.hash), \(\.label), \(\.expiresAt)) RETURNING id
        """)

    let revoke = DeclaredStatement<OperatorCredentialID, Void>(
        .write, "revoke_operator_credential",
        "UPDATE operator_credential SET revoked_at = now() WHERE id = \(\.self) AND revoked_at IS NULL RETURNING id")

    let credentials = DeclaredStatement<OperatorID, AdminStore.ListedOperatorCredential>(
        .read, "list_operator_credentials",
        """
        SELECT id, label, created_at, expires_at, revoked_at FROM operator_credential
         WHERE operator_id = \(\.self) ORDER BY id
        """
    ) { row throws(PostgresError) in
        AdminStore.ListedOperatorCredential(
            id: try row["id"], label: try row["label"], createdAt: try row["created_at"],
            expiresAt: try row["expires_at"], revokedAt: try row["revoked_at"])
    }

    /// No row: no such credential, or it is not valid any more.
    let signIn = DeclaredStatement<(hash: [UInt8], now: Timestamp), SignedInOperator>(
        .read, "operator_of_credential",
        """
        SELECT c.id AS credential_id, o.id, o.name, o.role
          FROM operator_credential c JOIN operator o ON o.id = c.operator_id
         WHERE c.hash = \(\.hash) AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > \(\.now))
        """
    ) { row throws(PostgresError) in
        SignedInOperator(
            id: try row["id"], credential: try row["credential_id"], name: try row["name"], role: try Self.role(row))
    }

    /// An account, with no container. No row: no such credential, it is not valid any more, or the account is
    /// disabled.
    let signInAccount = DeclaredStatement<
        (hash: [UInt8], now: Timestamp), (account: AccountID, credential: CredentialID)
    >(
        .read, "account_of_credential",
        """
        SELECT c.account_id, c.id AS credential_id
          FROM credential c JOIN account a ON a.id = c.account_id AND a.disabled_at IS NULL
         WHERE c.hash = \(\.hash) AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > \(\.now))
        """
    ) { row throws(PostgresError) in (try row["account_id"], try row["credential_id"]) }

    /// Credentials in the list that are valid, with the role of each.
    let valid = DeclaredStatement<
        (credentials: [OperatorCredentialID], now: Timestamp), (id: OperatorCredentialID, role: OperatorRole)
    >(
        .read, "valid_operator_credentials",
        """
        SELECT c.id, o.role FROM operator_credential c JOIN operator o ON o.id = c.operator_id
         WHERE c.id = ANY (\(\.credentials)) AND c.revoked_at IS NULL
           AND (c.expires_at IS NULL OR c.expires_at > \(\.now))
        """
    ) { row throws(PostgresError) in
        (try row["id"], try Self.role(row))
    }

    private static func role(_ row: PostgresRow) throws(PostgresError) -> OperatorRole {
        // A role of a later version may do what the least of this one may.
        OperatorRole(rawValue: try row["role"]) ?? .viewer
    }
}
