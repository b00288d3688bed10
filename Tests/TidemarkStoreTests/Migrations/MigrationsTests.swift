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

    /// What belongs to no user's database: the store itself, accounts with their addresses, and containers with their
    /// schemas and users. A link leads to a database, so it is found without one.
    private static let tablesOfAll: Set<String> = [
        "store", "schema_migration", "account", "credential", "device", "container", "container_user", "database",
        "record_type", "record_field", "record_grant", "record_role", "account_address", "share_link_target",
        "audit", "device_progress", "operator", "operator_credential", "account_identity",
        "account_end",
    ]

    @Test func `R-707: all keys begin with a database or a user, but for those of the store, accounts and containers`()
        async throws
    {
        try await withEmptyDatabase { url, loop in
            _ = try await Migrator(url: url, loop: loop).migrate()
            let pool = try PostgresPool(url: url, connections: 1, loop: loop)
            let keys = Statement(
                .read, "keys",
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

    @Test func `R-706: records and assets that were there before they were counted are counted`() async throws {
        try await withEmptyDatabase { url, loop in
            let place = try #require(Migrations.all.firstIndex { $0.name == "0018_add_quotas" })
            let time = "'2026-01-01', 1, '2026-01-01', 1, '00000000-0000-0000-0000-000000000001'"
            try PostgresAdministration.execute(
                Migrations.all[..<place].map(\.sql) + [
                    "INSERT INTO zone (database_id, name, created_at) SELECT 1, n, now() FROM unnest('{a,b,c}'::text[]) AS n",
                    """
                    INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                        modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
                    VALUES (1, 1, 1, 1, \(time), 100, false, 'x', 'Note', ''), (1, 1, 2, 2, \(time), 20, false, 'y', 'Note', ''),
                           (1, 2, 1, 1, \(time), 3, false, 'x', 'Note', ''), (1, 1, 3, 3, \(time), 0, true, 'z', 'Note', '')
                    """,
                    """
                    INSERT INTO asset (database_id, sha256, byte_count, created_at, touched_at)
                    SELECT d, decode(repeat('0' || n, 32), 'hex'), 1000 * n, now(), now()
                      FROM (VALUES (1, 1), (1, 2), (2, 3)) AS k (d, n)
                    """,
                    Migrations.all[place].sql,
                ], url: url)
            let counts = """
                SELECT name || ' ' || byte_count AS line FROM zone
                 UNION ALL SELECT database_id || ' ' || byte_count FROM asset_total ORDER BY line
                """
            let lines = try await lines(of: counts, url, loop)
            #expect(lines == ["1 3000", "2 3000", "a 120", "b 3", "c 0"])
        }
    }

    /// The rows of a statement that has one column.
    private func lines(of sql: String, _ url: String, _ loop: EventLoop) async throws -> [String] {
        let pool = try PostgresPool(url: url, connections: 1, loop: loop)
        let rows = try await pool.execute([Statement(.read, "lines", sql)()])[0]
        let lines = try rows.map { try $0.string(0) }
        await pool.stop()
        return lines
    }

    @Test func `R-706, R-755: records that were there are counted with their names and what a row costs`()
        async throws
    {
        try await withDatabase(before: "0025_count_whole_records") { url, loop, _ in
            let long = String(repeating: "n", count: 255)
            let time = "'2026-01-01', 1, '2026-01-01', 1, '00000000-0000-0000-0000-000000000001'"
            try PostgresAdministration.execute(
                [
                    """
                    INSERT INTO zone (database_id, name, created_at, byte_count)
                    SELECT 1, n, now(), b FROM (VALUES ('a', 100), ('b', 3), ('c', 0), ('d', 0)) AS k (n, b)
                    """,
                    """
                    INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                        modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields)
                    VALUES (1, 1, 1, 1, \(time), 100, false, 'x', 'Note', NULL, ''),
                           (1, 1, 2, 2, \(time), 0, false, '\(long)', 'Note', 'x', ''),
                           (1, 1, 3, 3, \(time), 0, true, 'z', 'Note', NULL, ''),
                           (1, 2, 1, 1, \(time), 3, false, 'x', 'Folder', NULL, ''),
                           (1, 3, 1, 1, \(time), 0, true, 'x', 'Note', NULL, '')
                    """,
                ], url: url)
            _ = try await Migrator(url: url, loop: loop).migrate()
            let counts = "SELECT name || ' ' || byte_count || ' ' || tombstone_byte_count FROM zone ORDER BY name"
            let lines = try await lines(of: counts, url, loop)
            let (first, second) = (100 + 1 + 4 + 128, 0 + 255 + 4 + 1 + 128)
            #expect(lines == ["a \(first + second) \(128 + 1)", "b \(3 + 1 + 6 + 128) 0", "c 0 \(128 + 1)", "d 0 0"])
        }
    }

    @Test func `R-276: what accounts had created in public databases is counted, and nothing of private ones`()
        async throws
    {
        try await withDatabase(before: "0051_count_public_use") { url, loop, _ in
            let time = "'2026-01-01', 1, '00000000-0000-0000-0000-000000000001'"
            let hash = "decode(repeat('07', 32), 'hex')"
            try PostgresAdministration.execute(
                [
                    "INSERT INTO account (name) VALUES ('alice')",
                    "INSERT INTO container (identifier, environment) VALUES ('iCloud.test', 1)",
                    "INSERT INTO container_user (container_id, account_id) SELECT c.id, a.id FROM container c, account a",
                    "INSERT INTO database (container_id, scope) SELECT id, 1 FROM container",
                    "INSERT INTO database (container_id, scope, user_id) SELECT container_id, 2, id FROM container_user",
                    "INSERT INTO zone (database_id, name, created_at) SELECT id, '_defaultZone', now() FROM database",
                    """
                    INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                        modified_by, created_by_device, byte_count, is_deleted, name, type, parent, fields)
                    SELECT z.database_id, z.id, n, n, '2026-01-01', creator, \(time), bytes, is_deleted, r.name, 'Note', parent, ''
                      FROM (VALUES (1, 5, 100, false, 'x', NULL), (2, 5, 20, false, 'yy', 'x'), (3, 6, 0, false, 'z', NULL),
                                   (4, 7, 0, true, 'gone', NULL)) AS r (n, creator, bytes, is_deleted, name, parent)
                     CROSS JOIN zone z
                    """,
                    """
                    INSERT INTO asset (database_id, sha256, byte_count, created_at, touched_at)
                    SELECT id, \(hash), 1000, now(), now() FROM database
                    """,
                    """
                    INSERT INTO asset_use (database_id, zone_id, record_name, sha256)
                    SELECT database_id, id, n, \(hash) FROM zone CROSS JOIN unnest('{yy,z,gone}'::text[]) AS n
                    """,
                    """
                    INSERT INTO asset_sender (database_id, user_id, sent_at, sha256)
                    SELECT id, 5, now(), \(hash) FROM database WHERE scope = 1
                    """,
                ], url: url)
            _ = try await Migrator(url: url, loop: loop).migrate()
            let uses = """
                SELECT d.scope || ' ' || p.user_id || ' ' || p.byte_count
                  FROM public_use p JOIN database d ON d.id = p.database_id ORDER BY p.user_id
                """
            let (first, second) = (100 + 1 + 4 + 128, 20 + 2 + 4 + 1 + 128 + 1_000)
            #expect(try await lines(of: uses, url, loop) == ["1 5 \(first + second)", "1 6 \(1 + 4 + 128 + 1_000)"])
            let senders = "SELECT is_named::text FROM asset_sender"
            #expect(
                try await lines(of: senders, url, loop) == ["true"],
                "what was sent before counts with its records alone")
        }
    }

    /// The digests are those of another implementation, by `sha256sum`.
    @Test func `R-844: records that were there before digests were kept are in them`() async throws {
        try await withDatabase(before: "0035_add_zone_digest") { url, loop, _ in
            let time = "'2026-01-01', 1, '2026-01-01', 1, '00000000-0000-0000-0000-000000000001'"
            try PostgresAdministration.execute(
                [
                    """
                    INSERT INTO zone (database_id, name, created_at, change_number)
                    SELECT 1, n, now(), c FROM (VALUES ('a', 7), ('b', 3), ('c', 0)) AS k (n, c)
                    """,
                    """
                    INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                        modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
                    VALUES (1, 1, 1, 1, \(time), 0, false, 'a', 'Note', ''),
                           (1, 1, 7, 7, \(time), 0, false, 'Þórður', 'Note', ''),
                           (1, 1, 5, 5, \(time), 0, true, 'gone', 'Note', ''),
                           (1, 2, 3, 3, \(time), 0, true, 'gone', 'Note', '')
                    """,
                ], url: url)
            _ = try await Migrator(url: url, loop: loop).migrate()
            let digests = """
                SELECT name || ' ' || record_count || ' ' || lpad(to_hex(digest_high), 16, '0')
                       || lpad(to_hex(digest_low), 16, '0') || ' ' || digest_number FROM zone ORDER BY name
                """
            let lines = try await lines(of: digests, url, loop)
            let none = String(repeating: "0", count: 32)
            #expect(lines == ["a 2 1398dce37748ea3c5f82dd36a9c5c844 7", "b 0 \(none) 3", "c 0 \(none) 0"])
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

    /// A database whose next step is the one of that name, which `body` can find among all.
    private func withDatabase(
        before name: String, _ body: (String, EventLoop, Int) async throws -> Void
    ) async throws {
        try await withEmptyDatabase { url, loop in
            let place = try #require(Migrations.all.firstIndex { $0.name == name })
            let list = """
                CREATE TABLE schema_migration (
                    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now())
                """
            let lines = Migrations.all[..<place].map { step in
                "INSERT INTO schema_migration (number, name, checksum) "
                    + "VALUES (\(step.number), '\(step.name)', '\(step.checksum)')"
            }
            try PostgresAdministration.execute([list] + Migrations.all[..<place].map(\.sql) + lines, url: url)
            try await body(url, loop, place)
        }
    }

    /// As pg_dump holds every table while it runs.
    private static let readZones = "BEGIN; LOCK TABLE zone IN ACCESS SHARE MODE"

    @Test func `a step does not wait long for a table that somebody reads, and can be repeated`() async throws {
        let name = "0021_count_zone_writes"
        try await withDatabase(before: name) { url, loop, place in
            let pool = try PostgresPool(url: url, connections: 1, loop: loop)
            let reader = try await pool.acquire()
            try await reader.connection.executeScript(Self.readZones)
            let hasty = Migrator(url: url, loop: loop, tableLockTimeMax: .milliseconds(50))
            let error = await #expect(throws: MigrationError.self) { try await hasty.migrate() }
            #expect(error?.code == .locked(name))
            #expect(error?.description.contains("was rolled back") == true)
            pool.release(reader)
            let names = try await Migrator(url: url, loop: loop).migrate()
            #expect(names == Migrations.all[place...].map(\.name))
            await pool.stop()
        }
    }

    @Test func `a step without an answer is not said to be rolled back`() async throws {
        let name = "0021_count_zone_writes"
        try await withDatabase(before: name) { url, loop, _ in
            let pool = try PostgresPool(url: url, connections: 1, loop: loop)
            let reader = try await pool.acquire()
            try await reader.connection.executeScript(Self.readZones)
            let migrator = Migrator(url: url, loop: loop, tableLockTimeMax: .seconds(60))
            let migration = Task { try await migrator.migrate() }
            let cut = Statement(
                .read, "cut",
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = 'tidemark-migrate' AND datname = current_database()
                   AND wait_event_type = 'Lock'
                """)
            try await eventually { try await !pool.execute([cut()])[0].isEmpty }
            let error = await #expect(throws: MigrationError.self) { try await migration.value }
            #expect(error?.code == .unanswered(name))
            #expect(error?.description.contains("rolled back") == false)
            pool.release(reader)
            await pool.stop()
        }
    }

    @Test func `who migrates waits for another who does, however long that takes`() async throws {
        try await withEmptyDatabase { url, loop in
            let pool = try PostgresPool(url: url, connections: 1, loop: loop)
            let other = try await pool.acquire()
            try await other.connection.executeScript("BEGIN; SELECT pg_advisory_xact_lock(1953064037)")
            let migrator = Migrator(url: url, loop: loop, tableLockTimeMax: .milliseconds(50))
            let migration = Task { try await migrator.migrate() }
            // Longer than it would wait for a table.
            let waits = Statement(
                .read, "waits",
                """
                SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                   AND waitstart < clock_timestamp() - interval '200 ms'
                """)
            try await eventually { try await !pool.execute([waits()])[0].isEmpty }
            pool.release(other)
            let names = try await migration.value
            #expect(names == Migrations.all.map(\.name))
            await pool.stop()
        }
    }

    @Test func `F-21: a server that is older than the tables does not start on them`() async throws {
        try await withEmptyDatabase { url, loop in
            let migrator = Migrator(url: url, loop: loop)
            _ = try await migrator.migrate()
            let isCurrent = try await migrator.isCurrent()
            #expect(isCurrent)
            // A step of a later version, and what this one asks before it serves.
            try PostgresAdministration.execute(
                ["INSERT INTO schema_migration (number, name, checksum) VALUES (99, '0099_later', 'x')"], url: url)
            let error = await #expect(throws: MigrationError.self) { try await migrator.isCurrent() }
            #expect(error?.code == .newer)
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

    @Test func `R-870: a PostgreSQL that is too old is refused before anything is changed`() async throws {
        try await withEmptyDatabase { url, loop in
            try await Migrator(url: url, loop: loop).checkVersion()
            var later = Migrator(url: url, loop: loop)
            later.oldestVersion = PostgresVersion(990_000)
            let migrator = later
            let checked = await #expect(throws: MigrationError.self) { try await migrator.checkVersion() }
            let migrated = await #expect(throws: MigrationError.self) { _ = try await migrator.migrate() }
            for error in [checked, migrated] {
                guard case .tooOld(let found, oldest: PostgresVersion(990_000))? = error?.code else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(found >= .oldest && error?.description.contains("needs 99 or later") == true)
            }
            // Not even the table of migrations is there.
            let isCurrent = try await Migrator(url: url, loop: loop).isCurrent()
            #expect(!isCurrent)
        }
    }
}
