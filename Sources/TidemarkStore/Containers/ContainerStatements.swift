// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of an operator's work with containers and with the private databases of their users.
enum ContainerStatements {
    /// 1 identifier, 2 environment.
    static let create = Statement(
        .write, "admin_create_container",
        "INSERT INTO container (identifier, environment) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id",
        [.text, .int2])

    static let all = Statement(
        .read, "admin_list_containers",
        """
        SELECT c.identifier, c.environment, c.created_at, c.references_max,
               (SELECT count(*) FROM container_user u WHERE u.container_id = c.id), c.feeds_everywhere
          FROM container c ORDER BY c.identifier, c.environment
        """, [])

    /// 1 identifier, 2 environment, 3 limit (null: the server's).
    static let setReferencesMax = Statement(
        .write, "admin_set_references_max",
        "UPDATE container SET references_max = $3 WHERE identifier = $1 AND environment = $2 RETURNING id",
        [.text, .int2, .int4])

    /// 1 account, 2 identifier, 3 environment.
    static let privateDatabase = Statement(
        .read, "admin_private_database",
        """
        SELECT d.id
          FROM container k
          JOIN container_user u ON u.container_id = k.id
          JOIN account a ON a.id = u.account_id
          JOIN database d ON d.user_id = u.id AND d.scope = 2
         WHERE a.name = $1 AND k.identifier = $2 AND k.environment = $3
        """, [.text, .text, .int2])

    /// The account, and its user in a container; nulls if not created yet. 1 account, 2 identifier, 3 environment.
    static let user = Statement(
        .read, "admin_user",
        """
        SELECT a.id, u.id, u.record_name, d.id
          FROM account a
          JOIN container k ON k.identifier = $2 AND k.environment = $3
          LEFT JOIN container_user u ON u.container_id = k.id AND u.account_id = a.id
          LEFT JOIN database d ON d.user_id = u.id AND d.scope = 2
         WHERE a.name = $1
        """, [.text, .text, .int2])
}
