// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkTestSupport

@testable import TidemarkStore

/// A fetch of a database's changes looks at zones that may have changed, and at no others.
@Suite struct UnseenZonesTests {
    private static let database = DatabaseID(1)

    private func withZones(_ count: Int, _ body: (StoreFixture, PostgresStorage) async throws -> Void) async throws {
        try await StoreFixture.run { fixture in
            let fill = """
                INSERT INTO zone (database_id, name, created_at)
                SELECT 1, 'z' || n, now() FROM generate_series(1, \(count)) AS n
                """
            try PostgresAdministration.execute([fill], url: fixture.database.url)
            let storage = try fixture.storage()
            try await body(fixture, storage)
            await storage.stop()
        }
    }

    /// How many zones a fetch looks at.
    private func lookedAt(_ storage: PostgresStorage) async throws -> [Int64] {
        let count = Statement(
            .read, "looked_at", "SELECT count(*) FROM zone WHERE database_id = 1 AND is_unseen", [], isPrepared: false)
        return try await storage.pool.execute([count()])[0].map { try $0.int64(0) }
    }

    private func advance(_ storage: PostgresStorage) async throws {
        _ = try await storage.advanceDatabaseFeed(of: Self.database, after: nil, entriesMax: 10)
    }

    @Test func `R-736: whoever has read everything has no zone looked at, however many there are`() async throws {
        try await withZones(2_500) { fixture, storage in
            #expect(try await lookedAt(storage) == [2_500])
            try await advance(storage)
            #expect(try await lookedAt(storage) == [0])
            let change = "UPDATE zone SET change_number = change_number + 1 WHERE name IN ('z1', 'z2')"
            try PostgresAdministration.execute([change], url: fixture.database.url)
            #expect(try await lookedAt(storage) == [2])

            let others = try PostgresPool(url: fixture.database.url, connections: 1, loop: fixture.loop)
            let other = try await others.acquire()
            try await other.connection.executeScript("BEGIN; SELECT FROM zone WHERE name = 'z1' FOR UPDATE")
            try await advance(storage)
            #expect(try await lookedAt(storage) == [1], "the reader waits for no writer")
            try await other.connection.executeScript("COMMIT")
            others.release(other)
            try await advance(storage)
            #expect(try await lookedAt(storage) == [0])
            await others.stop()
        }
    }

    @Test func `R-736: of the writes in a zone only the first after a number touches its indexes`() async throws {
        try await withZones(3) { fixture, storage in
            try await advance(storage)
            let others = try PostgresPool(url: fixture.database.url, connections: 1, loop: fixture.loop)
            let other = try await others.acquire()
            try await other.connection.executeScript("BEGIN")
            let count = Statement(
                .read, "untouched", "SELECT pg_stat_get_xact_tuples_hot_updated('zone'::regclass)", [],
                isPrepared: false)
            for untouched in [0, 1, 2] as [Int64] {
                try await other.connection.executeScript(
                    "UPDATE zone SET change_number = change_number + 1 WHERE name = 'z1'")
                let counts = try await other.connection.execute([count()])[0].map { try $0.int64(0) }
                #expect(counts == [untouched])
            }
            try await other.connection.executeScript("ROLLBACK")
            others.release(other)
            await others.stop()
        }
    }
}
