// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of an operator's work with containers and with the private databases of their users.
struct ContainerStatements: Sendable {
    let create = DeclaredStatement<ContainerKey, Void>(
        .write, "admin_create_container",
        """
        WITH revived AS (
            \(reviving(\.self)) RETURNING id),
        created AS (
            INSERT INTO container (identifier, environment)
            SELECT \(\.identifier), \(\.environment) WHERE NOT EXISTS (SELECT FROM revived)
                ON CONFLICT DO NOTHING RETURNING id)
        SELECT id FROM revived UNION ALL SELECT id FROM created
        """)

    /// Creates a container that was deleted again: its number, and those of its users and databases, are those of before
    /// . An `UPDATE` without `RETURNING`.
    static func reviving<Input>(_ key: any KeyPath<Input, ContainerKey> & Sendable) -> SQL<Input> {
        """
        UPDATE container SET identifier = deleted_identifier, deleted_identifier = NULL, closed_at = NULL, created_at = now()
         WHERE id = (SELECT id FROM container
                      WHERE deleted_identifier = \(part: key, \.identifier)
                        AND environment = \(part: key, \.environment)
                      ORDER BY id DESC LIMIT 1 FOR UPDATE)
           AND NOT EXISTS (SELECT FROM container
                            WHERE identifier = \(part: key, \.identifier)
                              AND environment = \(part: key, \.environment))
        """
    }

    let all = DeclaredStatement<Void, AdminStore.Container>(
        .read, "admin_list_containers",
        """
        SELECT c.identifier, c.environment, c.created_at, c.references_max,
               (SELECT count(*) FROM container_user u WHERE u.container_id = c.id) AS user_count, c.feeds_everywhere,
               c.closed_at IS NOT NULL AS is_closed
          FROM container c WHERE c.deleted_identifier IS NULL ORDER BY c.identifier, c.environment
        """
    ) { row throws(PostgresError) in
        let referencesMax: Int32? = try row["references_max"]
        return AdminStore.Container(
            key: ContainerKey(
                identifier: try row["identifier"],
                environment: ContainerEnvironment(rawValue: try row["environment"]) ?? .development),
            createdAt: try row["created_at"], referencesMax: referencesMax.map { Int($0) },
            feedsEverywhere: try row["feeds_everywhere"], userCount: try row["user_count"],
            isClosed: try row["is_closed"])
    }

    /// The databases that hold records, by age.
    let placedDatabases = DeclaredStatement<
        (after: DatabaseID, container: ContainerID?, account: AccountID?, countMax: Int), PlacedDatabase
    >(
        .read, "admin_placed_databases",
        """
        SELECT d.id, k.identifier, k.environment, d.user_id IS NULL AS is_public, a.name AS account_name
          FROM database d
          JOIN container k ON k.id = d.container_id
          LEFT JOIN container_user u ON u.id = d.user_id
          LEFT JOIN account a ON a.id = u.account_id AND a.deleted_at IS NULL
         WHERE d.id > \(\.after) AND d.scope IN (1, 2) AND k.deleted_identifier IS NULL
           AND (\(\.container) IS NULL OR d.container_id = \(\.container))
           AND (\(\.account) IS NULL OR u.account_id = \(\.account))
         ORDER BY d.id LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in
        PlacedDatabase(
            id: try row["id"],
            container: ContainerKey(
                identifier: try row["identifier"],
                environment: ContainerEnvironment(rawValue: try row["environment"]) ?? .development),
            isPublic: try row["is_public"], account: try row["account_name"])
    }

    let setReferencesMax = DeclaredStatement<(container: ContainerKey, referencesMax: Int32?), Void>(
        .write, "admin_set_references_max",
        "UPDATE container SET references_max = \(\.referencesMax) WHERE identifier = \(\.container.identifier) AND environment = \(\.container.environment) RETURNING id"
    )

    let privateDatabase = DeclaredStatement<(account: String, container: ContainerKey), DatabaseID>(
        .read, "admin_private_database",
        """
        SELECT d.id
          FROM container k
          JOIN container_user u ON u.container_id = k.id
          JOIN account a ON a.id = u.account_id
          JOIN database d ON d.user_id = u.id AND d.scope = 2
         WHERE a.name = \(\.account) AND k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)
        """)

    /// The account, and its user in a container, if they are there.
    let user = DeclaredStatement<
        (account: String, container: ContainerKey), (account: AccountID, user: AdminStore.User?)
    >(
        .read, "admin_user",
        """
        SELECT a.id AS account_id, u.id AS user_id, u.record_name, d.id AS database_id
          FROM account a
          JOIN container k ON k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)
          LEFT JOIN container_user u ON u.container_id = k.id AND u.account_id = a.id
          LEFT JOIN database d ON d.user_id = u.id AND d.scope = 2
         WHERE a.name = \(\.account)
        """
    ) { row throws(PostgresError) in
        guard let database: DatabaseID = try row["database_id"] else { return (try row["account_id"], nil) }
        let user = AdminStore.User(
            id: try row["user_id"], recordName: try row["record_name"], privateDatabase: database)
        return (try row["account_id"], user)
    }
}
