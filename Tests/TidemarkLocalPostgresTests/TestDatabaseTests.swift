// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Testing
internal import TidemarkPostgres
internal import TidemarkTestSupport

@Suite struct TestDatabaseTests {
    @Test func `each test gets a database of its own`() async throws {
        async let first = TestPostgres.database()
        async let second = TestPostgres.database()
        let (one, other) = try await (first, second)
        #expect(one.name != other.name)
        try PostgresAdministration.execute(["CREATE TABLE t (a int)"], url: one.url)
        #expect(throws: PostgresError.self) {
            try PostgresAdministration.execute(["SELECT * FROM t"], url: other.url)
        }
    }

    @Test func `a template is prepared once and copied`() async throws {
        let count = Mutex(0)
        let template = TestTemplate(name: "copied") { url in
            count.withLock { $0 += 1 }
            try PostgresAdministration.execute(["CREATE TABLE t AS SELECT 7 AS a"], url: url)
        }
        async let first = TestPostgres.database(template)
        async let second = TestPostgres.database(template)
        for database in try await [first, second] {
            try PostgresAdministration.execute(["SELECT 1 / (SELECT a FROM t)"], url: database.url)
        }
        #expect(count.withLock { $0 } == 1)
    }
}
