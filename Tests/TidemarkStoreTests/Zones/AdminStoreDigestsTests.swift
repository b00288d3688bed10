// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct AdminStoreDigestsTests {
    private static let time = "now(), 1, now(), 1, '00000000-0000-0000-0000-000000000001'"

    /// Zones as a server leaves them that keeps no digests: its change number has moved on alone.
    private static let stored = """
        INSERT INTO zone (database_id, name, created_at, change_number, digest_number, record_count)
        VALUES (1, 'Notes', now(), 7, 3, 5), (1, 'Empty', now(), 2, 1, 5), (1, 'Known', now(), 4, 4, 9);
        INSERT INTO zone (database_id, name, created_at, change_number, removal, removed_at)
        VALUES (1, 'Old', now(), 7, 0, now());
        INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at, modified_by,
                            created_by_device, byte_count, is_deleted, name, type, fields)
        SELECT 1, z.id, n, n, \(time), 0, is_deleted, r.name, 'Note', ''
          FROM (VALUES (1, false, 'a'), (7, false, 'Þórður'), (5, true, 'gone')) AS r (n, is_deleted, name)
         CROSS JOIN zone z WHERE z.name = 'Notes'
        """

    /// The digest is that of another implementation, by `sha256sum`.
    @Test func `R-844: a digest that an older server has left behind is computed anew, and no wrong number is told`()
        async throws
    {
        try await StoreFixture.run { fixture in
            try PostgresAdministration.execute([Self.stored], url: fixture.database.url)
            let storage = try fixture.storage()
            func told(_ name: String) async throws -> String {
                let key = ZoneKey(database: DatabaseID(1), name: name)
                let inventory = try #require(try await storage.inventory(of: key, nil).value)
                return "\(inventory.recordCount) \(inventory.digest.map { Hex.encode($0) } ?? "unknown")"
            }
            let none = String(repeating: "0", count: 32)
            #expect(try await told("Notes") == "0 unknown")
            var count = 0
            try await AdminStore(storage).mendDigests { count += 1 }
            #expect(count == 2, "one is known, and one has ended")
            #expect(try await told("Notes") == "2 1398dce37748ea3c5f82dd36a9c5c844")
            #expect(try await told("Empty") == "0 \(none)")
            #expect(try await told("Known") == "9 \(none)")
            try await AdminStore(storage).mendDigests { count += 1 }
            #expect(count == 2, "there is nothing left to do")
            await storage.stop()
        }
    }
}
