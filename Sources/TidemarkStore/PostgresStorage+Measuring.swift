// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkPostgres
package import TidemarkService

/// The statements of reads, for benchmarks that compare the server with the bare statements.
extension PostgresStorage {
    /// A statement, and the settings with which it runs.
    package struct SentStatement: Sendable {
        package let statement: BoundStatement
        package let settings: [(name: String, value: String)]
    }

    /// The statement of ``records(named:in:bytesMax:sharing:)``.
    package func statement(recordsNamed names: [String], in key: ZoneKey, bytesMax: Int) -> SentStatement {
        SentStatement(
            statement: sql.records.lookUpRecords(LookUpQuery(zone: key, names: names, bytesMax: bytesMax)).bound,
            settings: Self.sessionSettings.map { (name: $0.0, value: $0.1) })
    }

    /// The statement of ``queryPage(_:)``, once the record type is prepared for it.
    package func statement(for page: QueryPageQuery) async throws(StorageError) -> SentStatement {
        let query = try await compiled(page)
        let session = QueryConnections.sessionSettings.map { (name: $0.0, value: $0.1) }.filter { setting in
            !query.settings.contains { $0.name == setting.name }
        }
        return SentStatement(
            statement: Statement(.read, "query", query.sql, query.parameters.types, isPrepared: false)
                .bind(query.parameters.values),
            settings: session + query.settings)
    }
}
