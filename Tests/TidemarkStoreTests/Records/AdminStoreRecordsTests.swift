// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@Suite struct AdminStoreRecordsTests {
    /// Records of which each third is a tombstone.
    private static func rows(_ zone: ZoneState) -> String {
        """
        INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                            modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
        SELECT \(zone.key.database.rawValue), \(zone.id.rawValue), n, n, now(), 1, now(), 1,
               '00000000-0000-0000-0000-000000000001', 0, n % 3 = 0, 'r' || lpad(n::text, 5, '0'), 'Note', ''
          FROM generate_series(1, 1100) AS n
        """
    }

    @Test func `R-868: records come by name in pages, each once, with their tombstones`() async throws {
        try await SharingFixture.run { fixture in
            let admin = AdminStore(fixture.storage)
            let zone = try #require(try await admin.livingZone(fixture.zone))
            try fixture.execute(Self.rows(zone))
            var names: [String] = []
            var deletedCount = 0
            var pageCount = 0
            while case let page = try await admin.recordPage(in: zone, after: names.last ?? ""), !page.isEmpty {
                names += page.map(\.name)
                deletedCount += page.count(where: \.isDeleted)
                pageCount += 1
            }
            #expect(names == (1...1_100).map { "r" + String(100_000 + $0).dropFirst() })
            #expect(deletedCount == 366 && pageCount == 3)
            let counts = try await admin.recordCounts(of: zone.id, in: zone.key.database)
            #expect(counts.living == 734 && counts.deleted == 366)
        }
    }

    @Test func `R-872: changes of a zone come in their order, and after a number the later ones`() async throws {
        try await SharingFixture.run { fixture in
            let admin = AdminStore(fixture.storage)
            let zone = try #require(try await admin.livingZone(fixture.zone))
            try fixture.execute(Self.rows(zone))
            let latest = try await admin.changes(in: zone, before: nil, countMax: 3)
            #expect(latest.map(\.changeNumber) == [1_100, 1_099, 1_098])
            let earlier = try await admin.changes(in: zone, before: 1_098, countMax: 2)
            #expect(earlier.map(\.changeNumber) == [1_097, 1_096])
            let later = try await admin.changes(in: zone, after: 1_097, countMax: 9)
            #expect(later.map(\.name) == ["r01098", "r01099", "r01100"])
            #expect(later.map(\.isDeleted) == [true, false, false])
            let one = try await admin.history(ofRecord: "r00003", in: fixture.zone)
            #expect(one.map(\.isDeleted) == [true] && one.map(\.zoneRemoval) == [nil])
            #expect(try await admin.history(ofRecord: "none", in: fixture.zone).isEmpty)
        }
    }
}
