// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkPostgres
import TidemarkService
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct RestoreTargetTests {
    private func withEmpty(_ body: (PostgresStorage, EventLoop, String) async throws -> Void) async throws {
        let loop = try EventLoop(name: "store")
        defer { loop.stop() }
        let url = try await TestPostgres.database().url
        let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
        try await running {
            try await body(storage, loop, url)
        } finally: {
            await storage.stop()
        }
    }

    @Test func `R-955: while a restore is under way nobody takes the database for one of Tidemark's`() async throws {
        try await withEmpty { storage, loop, url in
            let target = try await RestoreTarget.open(storage)
            #expect(try await target.contents() == RestoreTarget.Contents(names: [], isBegun: false))
            try await target.begin()
            #expect(try await target.contents() == RestoreTarget.Contents(names: [], isBegun: true))
            let error = await #expect(throws: MigrationError.self) {
                try await Migrator(url: url, loop: loop).migrate()
            }
            #expect(error?.code == .restoring)
            // As pg_restore does: all is there, and the mark still is.
            #expect(try await target.migrate().count == Migrations.all.count)
            #expect(try await !Migrator(url: url, loop: loop).isCurrent())
            #expect(try await !storage.hasMigrations())
            try await target.finish()
            #expect(try await Migrator(url: url, loop: loop).isCurrent())
            #expect(try await storage.hasMigrations())
            #expect(try await target.contents().names.contains("record"))
            await target.close()
        }
    }

    @Test func `R-955: what a restore has left is dropped, and nothing in a database where none began`() async throws {
        try await withEmpty { storage, _, url in
            let target = try await RestoreTarget.open(storage)
            try await target.begin()
            _ = try await target.migrate()
            // The earlier one was cut off here. The next begins anew.
            try await target.begin()
            #expect(try await target.contents() == RestoreTarget.Contents(names: [], isBegun: true))
            _ = try await target.migrate()
            try await target.finish()
            await #expect(throws: StorageError.self) { try await target.begin() }
            #expect(try await target.contents().names.contains("record"))
            try PostgresAdministration.execute(
                ["CREATE SCHEMA other", "CREATE VIEW other.\"a \"\"b\" AS SELECT 1"], url: url)
            #expect(try await target.contents().names.contains("other.a \"b"))
            await target.close()
        }
    }

    @Test func `R-954: two restores into one database do not run at once`() async throws {
        try await withEmpty { storage, _, _ in
            let target = try await RestoreTarget.open(storage)
            let error = await #expect(throws: StorageError.self) { _ = try await RestoreTarget.open(storage) }
            #expect(error?.code == .zoneBusy)
            #expect(try await target.server().version >= .oldest)
            await target.close()
            let next = try await RestoreTarget.open(storage)
            await next.close()
        }
    }

    @Test func `R-954: assets whose files a backup does not have are forgotten, and sums are right`() async throws {
        try await withEmpty { storage, _, url in
            let target = try await RestoreTarget.open(storage)
            try await target.begin()
            _ = try await target.migrate()
            try PostgresAdministration.execute(
                [
                    """
                    INSERT INTO zone (database_id, name, created_at, removal, removed_at)
                    VALUES (1, 'Notes', now(), NULL, NULL), (1, 'Old', now(), 0, now())
                    """,
                    """
                    INSERT INTO asset (database_id, byte_count, created_at, touched_at, sha256)
                    SELECT 1, n, now(), now(), sha256(int8send(n)) FROM generate_series(1, 3) AS n
                    """,
                    "INSERT INTO asset_total (database_id, byte_count) VALUES (1, 6), (2, 4)",
                    """
                    INSERT INTO asset_use SELECT 1, z.id, 'r', sha256(int8send(k.n))
                      FROM zone z JOIN (VALUES ('Notes', 1::bigint), ('Old', 2::bigint)) AS k (name, n) ON k.name = z.name
                    """,
                ], url: url)
            try await target.forgetUnnamedAssets()
            try await target.analyze()
            try await target.finish()
            try PostgresAdministration.execute(
                [
                    """
                    DO $$ BEGIN
                    ASSERT (SELECT array_agg(byte_count) FROM asset) = ARRAY[1::bigint];
                    ASSERT (SELECT count(*) FROM asset_use) = 1;
                    ASSERT (SELECT array_agg(byte_count ORDER BY database_id) FROM asset_total) = ARRAY[1::bigint, 0];
                    END $$
                    """
                ], url: url)
            #expect(try await AdminStore(storage).wrongAssetTotals(9).isEmpty)
            await target.close()
        }
    }
}
