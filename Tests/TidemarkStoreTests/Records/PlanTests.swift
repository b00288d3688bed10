// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkPostgres
@testable import TidemarkStore

/// Statements of the write path and the feeds must not depend on statistics: on a freshly filled table PostgreSQL has none.
@Suite struct PlanTests {
    private static let fill = """
        INSERT INTO record SELECT 1, 1, n, n, now(), 1, now(), 1, '00000000-0000-0000-0000-000000000001', 1, false,
               'r' || n, 'Note', NULL, '' FROM generate_series(1, 20000) AS n
        """

    private static let hot: [(Statement, String)] = [
        (RecordStatements.lockZones, "('{1}', '{Notes}')"),
        (RecordStatements.readRecords, "('{1,1}', '{Notes,Notes}', '{r5,r7}')"),
        (RecordStatements.readMemories, "('{1}', '{Notes}', '{00000000-0000-0000-0000-000000000001}')"),
        (RecordStatements.readChildren, "('{1}', '{Notes}', '{r5}')"),
        (RecordStatements.lookUpRecords, "(1, 'Notes', '{r5,r7}')"),
        (ChangeStatements.zonePage, "(1, 'Notes', 19000, 200, 1000000)"),
    ]

    @Test func `every hot statement goes by index, whatever the statistics say`() async throws {
        try await StoreFixture.run { fixture in
            let settings = PostgresStorage.sessionSettings.map { "SET \($0.0) = '\($0.1)'" }
            try PostgresAdministration.execute(
                [
                    "ALTER TABLE record SET (autovacuum_enabled = false)",
                    "INSERT INTO zone (database_id, name, created_at) VALUES (1, 'Notes', now())", Self.fill,
                ], url: fixture.database.url)
            for (statement, arguments) in Self.hot {
                let plan = try await explain(statement, arguments, settings, fixture)
                #expect(!plan.contains("Seq Scan on record"), "\(statement.serverName)\n\(plan)")
                #expect(!plan.contains("Seq Scan on zone"), "\(statement.serverName)\n\(plan)")
            }
        }
    }

    /// The generic plan, which is the one that a connection keeps.
    private func explain(
        _ statement: Statement, _ arguments: String, _ settings: [String], _ fixture: StoreFixture
    ) async throws -> String {
        let pool = try PostgresPool(url: fixture.database.url, connections: 1, loop: fixture.loop)
        let lease = try await pool.acquire()
        let types = statement.parameterTypes.map(\.name).joined(separator: ", ")
        for setting in settings { try await lease.connection.executeScript(setting) }
        try await lease.connection.executeScript("PREPARE p (\(types)) AS \(statement.sql)")
        let rows = try await lease.connection.execute([Statement("explain", "EXPLAIN EXECUTE p \(arguments)")()])[0]
        let plan = try rows.map { try $0.string(0) }.joined(separator: "\n")
        pool.release(lease)
        await pool.stop()
        return plan
    }
}

extension PostgresType {
    fileprivate var name: String {
        switch self {
        case .int8: "bigint"
        case .text: "text"
        case .uuid: "uuid"
        case .int8Array: "bigint[]"
        case .textArray: "text[]"
        case .uuidArray: "uuid[]"
        default: "oid_\(rawValue)"
        }
    }
}
