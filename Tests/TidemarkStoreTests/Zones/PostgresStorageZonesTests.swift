// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkTestSupport

@testable import TidemarkStore

/// What is done for all accounts goes in steps that read a bounded number of rows (R-769).
@Suite struct PostgresStorageZonesTests {
    /// Twenty zones of two databases, of which the even ones have ended. The last two of each database have rows.
    private static let zones = """
        INSERT INTO zone (database_id, name, created_at, removal, removed_at)
        SELECT 1 + n / 11, 'z' || n, now(), CASE WHEN n % 2 = 0 THEN 0 END, CASE WHEN n % 2 = 0 THEN now() END
          FROM generate_series(1, 20) AS n;
        INSERT INTO record
        SELECT z.database_id, z.id, n, n, now(), 1, now(), 1, '00000000-0000-0000-0000-000000000001', 1, false,
               'r' || n, 'Note', NULL, '' FROM zone z CROSS JOIN generate_series(1, 7) AS n
         WHERE z.name IN ('z9', 'z10', 'z19', 'z20');
        INSERT INTO record_reference
        SELECT database_id, zone_id, 'target', name FROM record;
        INSERT INTO asset_use
        SELECT database_id, zone_id, name, 'hash' FROM record;
        INSERT INTO client_token
        SELECT database_id, zone_id, ('00000000-0000-0000-0000-00000000000' || change_number)::uuid, 'token' FROM record
        """

    private static let tables = ["record", "record_reference", "asset_use", "client_token"]

    /// How many rows each table has of living zones, and of ended ones.
    private func counts(_ storage: PostgresStorage) async throws -> [[Int64]] {
        let lists = Self.tables.map { table in
            let living = "(SELECT id FROM zone WHERE removal IS NULL)"
            return "ARRAY[(SELECT count(*) FROM \(table) WHERE zone_id IN \(living)),"
                + " (SELECT count(*) FROM \(table) WHERE zone_id NOT IN \(living))]"
        }
        let statement = Statement(
            .read, "counts", "SELECT unnest(ARRAY[\(lists.joined(separator: ", "))])", [], isPrepared: false)
        let numbers = try await storage.pool.execute([statement()])[0].map { try $0.int64(0) }
        return stride(from: 0, to: numbers.count, by: 2).map { Array(numbers[$0..<$0 + 2]) }
    }

    @Test func `R-769, R-030: ended zones are cleared in steps, and one with much does not keep others from it`()
        async throws
    {
        try await StoreFixture.run { fixture in
            try PostgresAdministration.execute([Self.zones], url: fixture.database.url)
            let storage = try fixture.storage()
            #expect(try await counts(storage) == Self.tables.map { _ in [14, 14] })
            var place: EndedZone? = .beginning
            var stepCount = 0
            var left: Int64 = 14
            while let after = place, stepCount < 20 {
                place = try await storage.clearEndedZones(after: after, zonesMax: 2, rowsMax: 3)
                let counts = try await counts(storage)
                #expect(counts.allSatisfy { $0[0] == 14 && $0[1] >= left - 3 && $0[1] <= left })
                left = counts[0][1]
                stepCount += 1
            }
            #expect(place == nil)
            #expect(try await counts(storage) == Self.tables.map { _ in [14, 0] })
            // Ten zones by two, with two more steps at each of those that have rows, and one that finds no more.
            #expect(stepCount == 10)
            await storage.stop()
        }
    }

    @Test func `R-753, R-030: ended zones are forgotten in steps, and those of which something is left stay`()
        async throws
    {
        try await StoreFixture.run { fixture in
            let token = """
                INSERT INTO client_token
                SELECT database_id, id, '00000000-0000-0000-0000-000000000001', 'token' FROM zone WHERE name = 'z4'
                """
            try PostgresAdministration.execute([Self.zones, token], url: fixture.database.url)
            let storage = try fixture.storage()
            let ended = Statement(
                .read, "ended", "SELECT name FROM zone WHERE database_id = 1 AND removal IS NOT NULL ORDER BY id", [],
                isPrepared: false)
            func left() async throws -> [String] {
                try await storage.pool.execute([ended()])[0].map { try $0.string(0) }
            }
            #expect(try await left() == ["z2", "z4", "z6", "z8", "z10"])
            try await storage.forgetEndedZones(of: DatabaseID(1), keeping: 1, atOnce: 2)
            #expect(try await left() == ["z4", "z6", "z8", "z10"])
            try await storage.forgetEndedZones(of: DatabaseID(1), keeping: 1)
            #expect(try await left() == ["z4", "z10"])
            var place: EndedZone? = .beginning
            while let after = place { place = try await storage.clearEndedZones(after: after) }
            #expect(try await counts(storage) == Self.tables.map { _ in [14, 0] })
            try await storage.forgetEndedZones(of: DatabaseID(1), keeping: 0)
            #expect(try await left() == [])
            await storage.stop()
        }
    }

    @Test func `R-769, R-157: old outcomes are cleared in steps, wherever they are among newer ones`() async throws {
        try await StoreFixture.run { fixture in
            let fill = """
                UPDATE store SET memory_epoch = 10;
                INSERT INTO request_memory (database_id, zone_id, device_id, memory, epoch)
                SELECT n % 3, n % 2, ('00000000-0000-0000-0000-0000000000' || n)::uuid, '', CASE WHEN n % 5 = 0 THEN 6 ELSE 7 END
                  FROM generate_series(10, 29) AS n
                """
            try PostgresAdministration.execute([fill], url: fixture.database.url)
            let storage = try fixture.storage()
            let epochs = Statement(
                .read, "epochs", "SELECT epoch FROM request_memory ORDER BY epoch", [], isPrepared: false)
            func left() async throws -> [Int64] {
                try await storage.pool.execute([epochs()])[0].map { try $0.int64(0) }
            }
            try await storage.clearMemories(keeping: 5, rowsMax: 3)
            #expect(try await left().count == 20)
            try await storage.clearMemories(keeping: 4, rowsMax: 3)
            #expect(try await left() == Array(repeating: 7, count: 16))
            // Also if the last step is full.
            try await storage.clearMemories(keeping: 3, rowsMax: 4)
            #expect(try await left() == [])
            await storage.stop()
        }
    }
}
