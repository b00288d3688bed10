// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkPostgres
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@Suite struct MigrationsTests {
    private var folder: URL {
        URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../migrations").standardizedFileURL
    }

    @Test func `the list and the folder agree, and released files are not edited`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sql") }
        #expect(files.sorted() == Migrations.all.map { $0.name + ".sql" })
        for (index, migration) in Migrations.all.enumerated() {
            #expect(migration.number == index + 1)
            #expect(migration.name.hasPrefix(String(format: "%04d_", migration.number)))
            let file = try Data(contentsOf: folder.appendingPathComponent(migration.name + ".sql"))
            #expect(Hex.encode(SHA256.hash(Array(file))) == migration.checksum, "\(migration.name)")
            #expect(Array(file) == Array(migration.sql.utf8))
            #expect(migration.sql.hasPrefix("-- "), "\(migration.name) says first why it is there")
        }
    }

    private func withEmptyDatabase(_ body: (String, EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        try await body(try await TestPostgres.database().url, loop)
    }

    @Test func `an empty database gets all steps once`() async throws {
        try await withEmptyDatabase { url, loop in
            let migrator = Migrator(url: url, loop: loop)
            let before = try await migrator.isCurrent()
            let first = try await migrator.migrate()
            let after = try await migrator.isCurrent()
            let second = try await migrator.migrate()
            #expect(!before && after)
            #expect(first == Migrations.all.map(\.name))
            #expect(second == [])
        }
    }

    /// What belongs to no user's database: the store itself, accounts, and containers with their schemas and users.
    private static let tablesOfAll: Set<String> = [
        "store", "schema_migration", "account", "credential", "device", "container", "container_user", "database",
        "record_type", "record_field", "record_grant", "record_role",
    ]

    @Test func `R-707: all keys begin with a database or a user, but for those of the store, accounts and containers`()
        async throws
    {
        try await withEmptyDatabase { url, loop in
            _ = try await Migrator(url: url, loop: loop).migrate()
            let pool = try PostgresPool(url: url, connections: 1, loop: loop)
            let keys = Statement(
                "keys",
                """
                SELECT c.relname::text, a.attname::text FROM pg_class c
                LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
                LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
                """)
            let rows = try await pool.execute([keys()])[0]
            await pool.stop()
            var others: Set<String> = []
            for row in rows {
                let (table, column) = (try row.string(0), try row.string(ifPresent: 1))
                if column != "database_id" && column != "user_id" { others.insert(table) }
            }
            #expect(rows.count > Self.tablesOfAll.count)
            #expect(others == Self.tablesOfAll)
        }
    }

    @Test func `several servers may migrate at once`() async throws {
        try await withEmptyDatabase { url, loop in
            let migrator = Migrator(url: url, loop: loop)
            let names = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<4 { group.addTask { try await migrator.migrate() } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(names.sorted() == Migrations.all.map(\.name))
            let isCurrent = try await migrator.isCurrent()
            #expect(isCurrent)
        }
    }

    @Test func `a database that went another way is refused`() async throws {
        try await withEmptyDatabase { url, loop in
            let migrator = Migrator(url: url, loop: loop)
            _ = try await migrator.migrate()
            try PostgresAdministration.execute(
                ["UPDATE schema_migration SET checksum = 'other' WHERE number = 3"], url: url)
            await #expect(throws: MigrationError.self) { try await migrator.isCurrent() }
            try PostgresAdministration.execute(
                ["INSERT INTO schema_migration (number, name, checksum) VALUES (99, '0099_later', 'x')"], url: url)
            let error = await #expect(throws: MigrationError.self) { try await migrator.migrate() }
            #expect(error?.code == .newer)
        }
    }
}
