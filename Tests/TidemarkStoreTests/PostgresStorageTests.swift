// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct PostgresStorageTests {
    @Test func `I-1: commits wait for the disk, whatever the database is set to`() async throws {
        try await StoreFixture.run { fixture in
            let database = fixture.database
            try await blocking {
                let statement = "ALTER DATABASE \(database.name) SET synchronous_commit = off"
                try PostgresAdministration.execute([statement], url: database.url)
            }
            let show = Statement(.read, "show", "SHOW synchronous_commit")
            let others = try PostgresPool(url: database.url, connections: 1, loop: fixture.loop)
            #expect(try await others.execute([show()])[0][0].string(0) == "off")
            await others.stop()

            let storage = try fixture.storage(connections: 3)
            func expectOn() async throws {
                #expect(try await storage.pool.execute([show()])[0][0].string(0) == "on")
                var leases: [PostgresLease] = []
                for _ in 0..<3 { leases.append(try await storage.acquire()) }
                for lease in leases {
                    #expect(try await lease.connection.execute([show()])[0][0].string(0) == "on")
                    storage.release(lease)
                }
            }
            try await expectOn()
            // A hint alone does not wait, and what comes after it on the same connection does again (I-4).
            let notice = ZoneNotice(database: DatabaseID(1), life: DeviceID(high: 0, low: 1), zoneName: "Notes")
            for _ in 0..<3 { try await storage.post([.zone(notice)]) }
            try await expectOn()
            await storage.stop()
        }
    }
}
