// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkPostgres
package import TidemarkService

/// What reads send to PostgreSQL, for who measures the server beside the bare statements.
extension PostgresStorage {
    /// A statement, and the settings with which it runs.
    package struct SentStatement: Sendable {
        package let statement: BoundStatement
        package let settings: [(name: String, value: String)]
    }

    /// As ``records(named:in:)`` sends it.
    package func statement(recordsNamed names: [String], in key: ZoneKey) -> SentStatement {
        SentStatement(
            statement: Self.lookUp(names, in: key), settings: Self.sessionSettings.map { (name: $0.0, value: $0.1) })
    }

    /// As ``queryPage(_:)`` sends it, once the type is prepared for it.
    package func statement(for page: QueryPageQuery) async throws(StorageError) -> SentStatement {
        let query = try await compiled(page)
        let session = QueryConnections.sessionSettings.map { (name: $0.0, value: $0.1) }.filter { setting in
            !query.settings.contains { $0.name == setting.name }
        }
        return SentStatement(
            statement: Statement("query", query.sql, query.parameters.types, isPrepared: false)
                .bind(query.parameters.values),
            settings: session + query.settings)
    }
}
