// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkPostgres
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct OlderServersTests {
    @Test func `R-999: servers from before hierarchies are seen, and operators' commands find servers of both kinds`()
        async throws
    {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            var pools: [PostgresPool] = []
            var leases: [PostgresLease] = []
            for name in [
                "tidemark server old/1", "tidemark/46 old/2", "tidemark/47 new/1", "tidemark/48 new/2", "tidemark",
            ] {
                let url = try #require(
                    PostgresURL.replacing(["application_name": name], in: fixture.database.url))
                let pool = try PostgresPool(url: url, connections: 1, loop: fixture.loop)
                leases.append(try await pool.acquire())
                pools.append(pool)
            }
            let seen = try await storage.olderServers()
            #expect(
                Set(seen.servers) == [
                    ListeningServer(name: "old/1", migrationCount: nil),
                    ListeningServer(name: "old/2", migrationCount: 46),
                ])
            let listening = try await AdminStore(storage).listeningServers()
            // A pool may have more than one connection, and a server has one of that name.
            #expect(Set(listening) == ["new/1", "new/2", "old/1", "old/2"], "\(listening)")
            for (pool, lease) in zip(pools, leases) {
                pool.release(lease)
                await pool.stop()
            }
            try await eventually(within: .seconds(60)) { try await storage.olderServers().servers.isEmpty }
            await storage.stop()
        }
    }

    /// - Parameters:
    ///   - made: how long ago the first migration was, in minutes.
    ///   - migrated: how long ago that of hierarchies was.
    @Test(arguments: [(0, 0, true), (1_000, 999, true), (3, 0, false), (1_000, 59, false), (1_000, 0, false)])
    func `R-999: nothing has happened lately in a database that one run made, or not in one that was migrated now`(
        _ made: Int, _ migrated: Int, _ isSettled: Bool
    ) async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            try PostgresAdministration.execute(
                [
                    "UPDATE schema_migration SET applied_at = now() - interval '\(made) minutes' WHERE number < 47",
                    "UPDATE schema_migration SET applied_at = now() - interval '\(migrated) minutes' WHERE number >= 47",
                ], url: fixture.database.url)
            #expect(try await storage.olderServers().isSettled == isSettled)
            await storage.stop()
        }
    }

    @Test func `R-999: a database without the migration of hierarchies is not settled`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            try PostgresAdministration.execute(
                ["DELETE FROM schema_migration WHERE number >= 47"], url: fixture.database.url)
            #expect(try await storage.olderServers().isSettled == false)
            await storage.stop()
        }
    }
}
