// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSockets

/// Connections for queries alone, opened with the first query. A slow query delays only other queries, and the planner
/// may choose plans that the store's own statements forbid.
final class QueryConnections: Sendable {
    private static let count = 3

    static let sessionSettings: [(String, String)] = [
        ("default_transaction_isolation", "read committed"),
        ("default_transaction_read_only", "on"),
        ("standard_conforming_strings", "on"),
        // Below the time that a request may take, so that PostgreSQL stops as well.
        ("statement_timeout", "9s"),
        ("lock_timeout", "2s"),
        ("tcp_user_timeout", "10s"),
        // One table holds the records of all users.
        ("enable_seqscan", "off"),
        // Planning a query takes longer than running one that an index serves. PostgreSQL plans the first runs of a
        // statement for their values. Then it keeps a plan for all values unless that seems worse, and plans again when
        // statistics or indexes change.
        ("plan_cache_mode", "auto"),
        ("jit", "off"),
    ]

    private let url: String
    private let loop: EventLoop
    private let opened = Mutex<PostgresPool?>(nil)
    private let statements = QueryStatementCache()

    init(url: String, loop: EventLoop) {
        self.url = url
        self.loop = loop
    }

    /// - Parameter isRepeated: whether the statement is worth caching.
    func run(_ query: CompiledQuery, isRepeated: Bool = true) async throws(StorageError) -> PostgresRows {
        let statement =
            isRepeated
            ? statements.statement(query)
            : Statement(.read, "query", query.sql, query.parameters.types, isPrepared: false)
        // One transaction: the settings hold until its end.
        let batch =
            query.settings.map { sql.queries.set(($0.name, $0.value)).bound }
            + [statement.bind(query.parameters.values)]
        do {
            let pool = try pool()
            let lease = try await pool.acquire()
            defer { pool.release(lease) }
            return try await lease.connection.execute(batch)[batch.count - 1]
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    func stop() async {
        await opened.withLock { $0 }?.stop()
    }

    private func pool() throws(PostgresError) -> PostgresPool {
        let result: Result<PostgresPool, PostgresError> = opened.withLock { opened in
            if let opened { return .success(opened) }
            do throws(PostgresError) {
                let pool = try PostgresPool(
                    url: url, connections: Self.count, loop: loop, sessionSettings: Self.sessionSettings,
                    applicationName: "tidemark-query")
                opened = pool
                return .success(pool)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
