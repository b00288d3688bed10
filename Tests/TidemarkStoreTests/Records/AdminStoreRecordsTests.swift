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

    @Test func `R-918: a change of a server that knows no requests has none, and not that of the change before`()
        async throws
    {
        try await SharingFixture.run { fixture in
            let admin = AdminStore(fixture.storage)
            let zone = try #require(try await admin.livingZone(fixture.zone))
            try fixture.execute(Self.rows(zone))
            try fixture.execute(
                """
                UPDATE record SET request = '8a010203-0405-8607-8000-000000000011', request_number = change_number
                 WHERE name IN ('r00001', 'r00003')
                """,
                // As such a server does.
                "UPDATE record SET change_number = 2000, batch_end = 2000 WHERE name = 'r00001'")
            func cause(_ name: String) async throws -> ChangeCause? {
                try await admin.history(ofRecord: name, in: fixture.zone).first?.cause
            }
            let known = ChangeCause(high: 0x8A01_0203_0405_8607, low: 0x8000_0000_0000_0011)
            #expect(try await cause("r00001") == nil)
            #expect(try await cause("r00002") == nil)
            #expect(try await cause("r00003") == known)
            let latest = try await admin.changes(in: zone, before: 5, countMax: 9)
            #expect(latest.map(\.cause) == [nil, known, nil])
            #expect(try await admin.changes(in: zone, after: 1_100, countMax: 9).map(\.cause) == [nil])
        }
    }
}
