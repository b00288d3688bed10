// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of the verified addresses of accounts, by which people are invited.
struct AddressStatements: Sendable {
    /// In alphabetical order.
    let ofAccount = DeclaredStatement<AccountID, AdminStore.Address>(
        .read, "addresses_of_account",
        "SELECT kind, address, verified_at FROM account_address WHERE account_id = \(\.self) ORDER BY address, kind"
    ) { row throws(PostgresError) in
        guard let kind = AdminStore.AddressKind(rawValue: try row["kind"]) else {
            throw PostgresError(.unexpectedResult, detail: "addresses_of_account")
        }
        return AdminStore.Address(kind: kind, text: try row["address"], verifiedAt: try row["verified_at"])
    }

    let ofUser = DeclaredStatement<UserID, String>(
        .read, "addresses_of_user",
        """
        SELECT a.address FROM container_user u JOIN account_address a ON a.account_id = u.account_id
         WHERE u.id = \(\.self)
        """)

    let users = DeclaredStatement<(addresses: [String], container: ContainerKey), (address: String, user: UserID)>(
        .read, "users_with_addresses",
        """
        SELECT a.address, u.id
          FROM container k
          JOIN account_address a ON a.kind IN (1, 2) AND a.address = ANY (\(\.addresses))
          JOIN container_user u ON u.container_id = k.id AND u.account_id = a.account_id
         WHERE k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)
        """
    ) { row throws(PostgresError) in (try row["address"], try row["id"]) }

    /// One row is written unless another account has the address.
    let add = DeclaredStatement<(account: AccountID, kind: AdminStore.AddressKind, address: String), Void>(
        .write, "add_address",
        """
        INSERT INTO account_address (kind, address, account_id)
        VALUES (\(\.kind), \(\.address), \(\.account))
            ON CONFLICT (kind, address) DO UPDATE SET verified_at = excluded.verified_at
         WHERE account_address.account_id = excluded.account_id
        """)

    let remove = DeclaredStatement<(account: AccountID, address: String), Void>(
        .write, "remove_address",
        """
        DELETE FROM account_address
         WHERE kind IN (1, 2) AND address = \(\.address) AND account_id = \(\.account)
        """)
}
