// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// Names that begin as an operator has begun to type. The first few in their order.
extension AdminStore {
    /// The most that one call returns.
    package static let namesMax = 200

    /// With the disabled ones.
    package func accountNames(prefix: String) async throws(StorageError) -> [String] {
        try await storage.read(sql.names.accounts((prefix, Self.namesMax)))
    }

    /// Each once, whatever its environments are.
    package func containerIdentifiers(prefix: String) async throws(StorageError) -> [String] {
        try await storage.read(sql.names.containers((prefix, Self.namesMax)))
    }

    /// The names of zones that have not ended.
    package func zoneNames(prefix: String, in database: DatabaseID) async throws(StorageError) -> [String] {
        try await storage.read(sql.names.zones((database, prefix, Self.namesMax)))
    }
}

/// The SQL that completes names.
struct NameStatements: Sendable {
    let accounts = DeclaredStatement<(prefix: String, rowsMax: Int), String>(
        .read, "name_accounts",
        "SELECT name FROM account WHERE starts_with(name, \(\.prefix)) ORDER BY name LIMIT \(\.rowsMax)"
    ) { row throws(PostgresError) in try row["name"] }

    let containers = DeclaredStatement<(prefix: String, rowsMax: Int), String>(
        .read, "name_containers",
        """
        SELECT DISTINCT identifier FROM container
         WHERE starts_with(identifier, \(\.prefix)) AND deleted_identifier IS NULL
         ORDER BY identifier LIMIT \(\.rowsMax)
        """
    ) { row throws(PostgresError) in try row["identifier"] }

    let zones = DeclaredStatement<(database: DatabaseID, prefix: String, rowsMax: Int), String>(
        .read, "name_zones",
        """
        SELECT name FROM zone
         WHERE database_id = \(\.database) AND removal IS NULL AND starts_with(name, \(\.prefix))
         ORDER BY name LIMIT \(\.rowsMax)
        """
    ) { row throws(PostgresError) in try row["name"] }
}
