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

    @Test func `databases in memory leave as much to others, and a container has its own memory`() {
        let gibibyte: UInt64 = 1 << 30
        #expect(MemoryTablespace.countMax(available: 0) == 0)
        #expect(MemoryTablespace.countMax(available: 4 * gibibyte) == 0)
        let count = MemoryTablespace.countMax(available: 20 * gibibyte)
        #expect(count > 500)
        // A second run, which finds what the first one has left, and a third.
        let second = MemoryTablespace.countMax(available: 20 * gibibyte - UInt64(count) * 12 << 20)
        #expect((count / 2 - 1...count / 2 + 1).contains(second))

        func available(_ most: String?, _ used: String?) -> UInt64 {
            MemoryTablespace.available(
                memory: ["MemTotal:       24689924 kB", "MemAvailable:   20971520 kB"], containerMax: most,
                containerUse: used)
        }
        #expect(available(nil, nil) == 20 * gibibyte)
        #expect(available("max", "7") == 20 * gibibyte)
        #expect(available("\(8 * gibibyte)", "\(3 * gibibyte)") == 5 * gibibyte)
        #expect(available("\(8 * gibibyte)", "\(9 * gibibyte)") == 0)
        #expect(available("\(64 * gibibyte)", "0") == 20 * gibibyte)
        #expect(MemoryTablespace.available(memory: [], containerMax: nil, containerUse: nil) == 0)
        #expect(MemoryTablespace.available(memory: ["MemAvailable: x kB"], containerMax: nil, containerUse: nil) == 0)
    }
}
