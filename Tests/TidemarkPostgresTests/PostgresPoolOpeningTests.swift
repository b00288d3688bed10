// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkLocalPostgres
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

/// When a pool opens its connections. PostgreSQL says how many there are.
@Suite struct PostgresPoolOpeningTests {
    private static let name = "opening"

    private static let counting = Statement(
        .read, "counting",
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = '\(name)'")

    /// The connections of the pool, counted by a shared one of any pool of the database.
    private func backendCount(_ pool: PostgresPool) async throws -> Int64 {
        try await pool.execute([Self.counting()])[0][0].int64(0)
    }

    @Test func `one connection is opened at the start beside the shared one, and others when callers need them`()
        async throws
    {
        try await withPool(connections: 4, applicationName: Self.name) { pool in
            for _ in 0..<20 { try await pool.withConnection { _ = try await $0.execute([Sample.one()]) } }
            #expect(try await backendCount(pool) == 1 + 1)
            let beside = try await pool.withConnection { _ in
                try await pool.withConnection { _ in
                    try await pool.withConnection { _ in try await backendCount(pool) }
                }
            }
            #expect(beside == 1 + 3)
            let served = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await pool.withConnection { try await $0.execute([Sample.sleep(.float8(0.01))]).count }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(served == 50)
            // The last one may come when nobody needs it any more. None is closed again.
            try await eventually { await pool.openCount == 4 }
            #expect(try await backendCount(pool) == 1 + 4)
        }
    }

    /// While PostgreSQL lets nobody in, because new connections wait for this table.
    private func whileOpeningIsHeld(
        connections: Int, limits: PostgresPoolLimits = PostgresPoolLimits(),
        _ body: (
            _ pool: PostgresPool, _ other: PostgresPool, _ letIn: () async throws -> Void
        ) async throws -> Void
    ) async throws {
        try await withServer { server, _, _ in
            let url = server.databaseURL("postgres") + "&connect_timeout=60"
            try await withPool(url: url) { other in
                try await withPool(url: url, connections: connections, limits: limits, applicationName: Self.name) {
                    pool in
                    _ = try await pool.execute([Sample.one()])
                    _ = try await other.execute([Sample.one()])
                    try await other.withConnection { holder in
                        try await pool.withConnection { _ in
                            try await holder.executeScript(
                                "BEGIN; LOCK TABLE pg_db_role_setting IN ACCESS EXCLUSIVE MODE")
                            try await body(pool, other) { try await holder.executeScript("COMMIT") }
                        }
                    }
                }
            }
        }
    }

    @Test func `if callers are cancelled while their connections are opened, these serve the next callers`()
        async throws
    {
        try await whileOpeningIsHeld(connections: 3) { pool, other, letIn in
            let callers = (0..<10).map { _ in Task { await postgresError { _ = try await pool.acquire() } } }
            try await eventually { await pool.waiterCount == 10 }
            for caller in callers {
                caller.cancel()
                #expect(await caller.value?.code == .cancelled)
            }
            #expect(await pool.waiterCount == 0)
            #expect(await pool.openCount == 1)
            try await letIn()
            try await eventually { await pool.openCount == 3 }
            let resultCount = try await pool.withConnection { first in
                try await pool.withConnection { second in
                    try await first.execute([Sample.one()]).count + second.execute([Sample.one()]).count
                }
            }
            #expect(resultCount == 2)
            #expect(try await backendCount(other) == 1 + 3)
        }
    }

    @Test func `a pool that is stopped while it opens connections tells those who wait, and leaves none behind`()
        async throws
    {
        try await whileOpeningIsHeld(connections: 3, limits: .short(wait: .seconds(60), request: .seconds(60))) {
            pool, other, letIn in
            let callers = (0..<5).map { _ in Task { await postgresError { _ = try await pool.acquire() } } }
            try await eventually { await pool.waiterCount == 5 }
            await pool.stop()
            for caller in callers { #expect(await caller.value?.code == .stopped) }
            try await letIn()
            try await eventually {
                // The loop lets go of the work that it has done when it has other work.
                _ = await pool.openCount
                return try await backendCount(other) == 0
            }
        }
    }

    @Test func `whom PostgreSQL gives too few connections is served by those that it has`() async throws {
        try await withServer { server, _, _ in
            let url = server.databaseURL("postgres")
            try await blocking {
                try PostgresAdministration.execute(["CREATE ROLE few LOGIN CONNECTION LIMIT 3"], url: url)
            }
            let few = url.replacing("user=\(LocalPostgres.superuser)", with: "user=few")
            try await withPool(url: few, connections: 8, applicationName: Self.name) { pool in
                _ = try await pool.execute([Sample.one()])
                try await pool.withConnection { _ in
                    try await pool.withConnection { _ in
                        // All but the shared one are lent.
                        let waiting = Task { await postgresError { _ = try await pool.acquire() } }
                        try await eventually { await pool.loop.run { pool.exclusive.lastFailure != nil }.value }
                        let error = await postgresError { _ = try await pool.acquire(timeout: .milliseconds(1)) }
                        #expect(error?.code == .connectionUnavailable)
                        let detail = error?.detail ?? ""
                        #expect(detail.hasPrefix("2 connections are in use") && detail.contains("too many connections"))
                        waiting.cancel()
                        #expect(await waiting.value?.code == .cancelled)
                    }
                }
                let served = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<50 {
                        group.addTask {
                            try await pool.withConnection { try await $0.execute([Sample.sleep(.float8(0.01))]).count }
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(served == 50)
                #expect(try await backendCount(pool) == 1 + 2)
            }
        }
    }

    @Test func `where nobody answers, who needs a connection of its own is told why`() async throws {
        try await withPool(url: "postgresql:///x?host=/nonexistent", connections: 3, limits: .short()) { pool in
            let errors = await withTaskGroup(of: PostgresError?.self) { group in
                for _ in 0..<10 { group.addTask { await postgresError { _ = try await pool.acquire() } } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.count == 10)
            for error in errors {
                #expect(error?.code == .connectionUnavailable && error?.detail.contains("/nonexistent") == true)
            }
        }
    }
}

extension PostgresPool {
    /// Who waits for a connection of their own.
    fileprivate var waiterCount: Int { get async { await loop.run { self.exclusive.waiterCount }.value } }
    /// The connections for one caller at a time.
    fileprivate var openCount: Int { get async { await loop.run { self.exclusive.openCount }.value } }
}
