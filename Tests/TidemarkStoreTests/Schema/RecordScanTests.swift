// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkStore

@Suite struct RecordScanTests {
    /// In every database of the container, of a megabyte each but for the last. What is of another type or deleted is
    /// not read, and weighs nothing; the last is more than a page by itself.
    private static let fill = """
        INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                            modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
        SELECT d.id, k.zone, k.number, k.number, now(), 1, now(), 1, '00000000-0000-0000-0000-000000000001',
               k.byte_count, k.is_deleted, k.name, k.type, ''
          FROM database d,
               (SELECT 1 AS zone, n AS number, 1000000 AS byte_count, false AS is_deleted, 'a' || n AS name, 'T' AS type
                  FROM generate_series(10, 21) AS n
                 UNION ALL SELECT 1, n, 1000000000, false, 'a' || n || 'x', 'Other' FROM generate_series(30, 31) AS n
                 UNION ALL SELECT 1, n, 1000000000, true, 'a1' || n || 'x', 'T' FROM generate_series(1, 2) AS n
                 UNION ALL SELECT 2, 1, 1000000, false, 'b', 'T'
                 UNION ALL SELECT 2, 2, 9000000, false, 'c', 'T'
                 UNION ALL SELECT 2, 3, 9000000, false, 'd', 'T') AS k
        """

    @Test func `a page is bounded by the bytes of its records, and each of them comes once`() async throws {
        try await QueryFixture.run { fixture in
            try fixture.execute(Self.fill)
            var scan = RecordScan(fixture.storage, container: fixture.identity.container)
            var names: [DatabaseID: [String]] = [:]
            while let page = try await scan.nextPage(types: ["T"]) {
                // 4 MiB are reached by the fifth.
                #expect(page.count <= 5)
                for record in page { names[record.database, default: []].append(record.name) }
            }
            #expect(names[fixture.identity.privateDatabase] != nil)
            for found in names.values { #expect(found == (10...21).map { "a\($0)" } + ["b", "c", "d"]) }
        }
    }
}
