// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkPostgres
internal import TidemarkSockets
internal import TidemarkTestSupport

/// A pool on a loop of its own, for the time of a test.
func withPool<Result>(
    url: String? = nil, connections: Int = 1, limits: PostgresPoolLimits = PostgresPoolLimits(),
    settings: [(String, String)] = [], sharedSettings: [(String, String)] = [], applicationName: String = "tidemark",
    _ body: (PostgresPool) async throws -> Result
) async throws -> Result {
    let loop = try EventLoop(name: "test")
    let url = if let url { url } else { try await TestPostgres.database().url }
    let pool = try PostgresPool(
        url: url, connections: connections, loop: loop, sessionSettings: settings, sharedSettings: sharedSettings,
        applicationName: applicationName, limits: limits)
    do {
        let result = try await body(pool)
        await pool.stop()
        loop.stop()
        return result
    } catch {
        await pool.stop()
        loop.stop()
        throw error
    }
}

/// What a closure throws, if that is a `PostgresError`.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}

extension PostgresPoolLimits {
    /// Short times, for tests in which the server is not there.
    static func short(wait: Duration = .milliseconds(300), request: Duration = .milliseconds(500)) -> Self {
        var limits = Self()
        limits.waitTimeout = wait
        limits.requestTimeout = request
        limits.stopTimeout = .milliseconds(500)
        return limits
    }
}

enum Sample {
    static let one = Statement(.read, "one", "SELECT 1::int8")
    static let echo = Statement(.read, "echo", "SELECT $1::int8", [.int8])
    static let divide = Statement(.read, "divide", "SELECT 1 / $1", [.int4])
    static let sleep = Statement(.read, "sleep", "SELECT pg_sleep($1)", [.float8])
    static let sleepers = Statement(
        .read, "sleepers",
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' "
            + "AND query LIKE '%pg_sleep(%' AND pid <> pg_backend_pid()")
    static let backend = Statement(.read, "backend", "SELECT pg_backend_pid()")
    static let createTable = Statement(.write, "create_table", "CREATE TABLE t (a int8 PRIMARY KEY)")
    static let insert = Statement(.write, "insert", "INSERT INTO t VALUES ($1)", [.int8])
    static let count = Statement(.read, "count", "SELECT count(*) FROM t")
}
