// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct AdminStoreLossesTests {
    /// Two records and a deleted one in a zone that two people share, one of whom has accepted; and a zone that has ended.
    private static let stored = """
        INSERT INTO zone (database_id, name, created_at, byte_count, change_number) VALUES (1, 'Notes', now(), 300, 4);
        INSERT INTO zone (database_id, name, created_at, removal, removed_at)
        VALUES (1, 'Old', now(), 0, now() - interval '40 days');
        INSERT INTO record
        SELECT 1, z.id, n, n, now(), 1, now() - n * interval '10 days', 1, '00000000-0000-0000-0000-000000000001', 1,
               n > 2, 'r' || n, 'Note', NULL, '' FROM zone z CROSS JOIN generate_series(1, 4) AS n WHERE z.name = 'Notes';
        INSERT INTO share (database_id, zone_id, number, public_permission, record_name)
        SELECT 1, id, 1, 1, 'cloudkit.zoneshare' FROM zone WHERE name = 'Notes';
        INSERT INTO share_participant (database_id, zone_id, share_number, id, role, permission, status, added_at)
        SELECT 1, z.id, 1, ('00000000-0000-0000-0000-00000000000' || n)::uuid, 3, 2, n, now()
          FROM zone z CROSS JOIN generate_series(1, 2) AS n WHERE z.name = 'Notes'
        """

    @Test func `R-832: what a command would destroy is told in numbers`() async throws {
        try await StoreFixture.run { fixture in
            try PostgresAdministration.execute([Self.stored], url: fixture.database.url)
            let storage = try fixture.storage(connections: 1)
            let store = AdminStore(storage)
            func key(_ name: String) -> ZoneKey { ZoneKey(database: DatabaseID(1), name: name) }
            #expect(
                try await store.content(of: key("Notes"))
                    == AdminStore.ZoneContent(recordCount: .exactly(2), byteCount: 300, participantCount: 1),
                "an older server has written, so the records are counted")
            #expect(try await store.recordCount(in: [DatabaseID(1)]) == .exactly(2))
            try PostgresAdministration.execute(
                ["UPDATE zone SET record_count = 7, digest_number = change_number WHERE name = 'Notes'"],
                url: fixture.database.url)
            #expect(try await store.content(of: key("Notes"))?.recordCount == .exactly(7), "it is known")
            #expect(try await store.recordCount(in: [DatabaseID(1), DatabaseID(2)]) == .exactly(7))
            let counts = try await store.accountAndDeviceCounts()
            #expect(counts?.accounts == 0 && counts?.devices == 0)
            #expect(try await store.content(of: key("Old")) == nil, "it has ended")
            let now = fixture.loop.wallClockMilliseconds
            func compactable(days: Int64) async throws -> [CountedNumber] {
                let found = try await store.compactable(
                    before: Timestamp(milliseconds: now - days * 86_400_000))
                return [found.records, found.zones]
            }
            #expect(try await compactable(days: 25) == [.exactly(2), .exactly(1)])
            #expect(try await compactable(days: 35) == [.exactly(1), .exactly(1)])
            #expect(try await compactable(days: 50) == [.exactly(0), .exactly(0)])
            await storage.stop()
        }
    }

    @Test func `R-832: zones with encrypted values are counted in all containers`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage(connections: 1)
            let store = AdminStore(storage)
            let account = try #require(try await store.createAccount("alice"))
            for name in ["iCloud.a", "iCloud.b"] {
                let key = ContainerKey(identifier: name, environment: .development)
                _ = try await store.createContainer(key)
                _ = try await store.user(ofAccount: "alice", in: key, now: Timestamp(milliseconds: 0))
            }
            #expect(try await store.keyedZoneCount(of: account) == .exactly(0))
            try PostgresAdministration.execute(
                [
                    """
                    INSERT INTO zone_key (database_id, zone_id, number, id, account_key_id, wrapped, created_at)
                    SELECT z.database_id, z.id, 1, '\\x01', '\\x02', '\\x03', now() FROM zone z
                    """
                ], url: fixture.database.url)
            #expect(try await store.keyedZoneCount(of: account) == .exactly(2))
            await storage.stop()
        }
    }

    /// More than one step of each count.
    private static let many = """
        INSERT INTO zone (database_id, name, created_at) SELECT 1, 'z' || n, now() FROM generate_series(1, 2100) AS n;
        INSERT INTO zone (database_id, name, created_at, removal, removed_at)
        SELECT 1, 'old' || n % 7, now(), 0, now() - interval '40 days' FROM generate_series(1, 5003) AS n;
        INSERT INTO record
        SELECT 1, z.id, n, n, now(), 1, now() - interval '30 days', 1, '00000000-0000-0000-0000-000000000001', 1,
               true, 'r' || n, 'Note', NULL, '' FROM zone z CROSS JOIN generate_series(1, 1005) AS n
         WHERE z.name IN ('z2', 'z2099');
        """

    @Test func `R-832: what needs several steps is counted to its end`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage(connections: 1)
            let store = AdminStore(storage)
            try PostgresAdministration.execute([Self.many], url: fixture.database.url)
            let now = fixture.loop.wallClockMilliseconds
            let found = try await store.compactable(before: Timestamp(milliseconds: now - 20 * 86_400_000))
            #expect(found.records == .exactly(2_010) && found.zones == .exactly(5_003), "\(found)")
            let account = try #require(try await store.createAccount("alice"))
            _ = try await store.createContainer(Self.key)
            let user = try #require(
                try await store.user(ofAccount: "alice", in: Self.key, now: Timestamp(milliseconds: 0)))
            try PostgresAdministration.execute(
                [
                    """
                    INSERT INTO zone (database_id, name, created_at)
                    SELECT \(user.privateDatabase.rawValue), 'k' || n, now() FROM generate_series(1, 2005) AS n;
                    INSERT INTO zone_key (database_id, zone_id, number, id, account_key_id, wrapped, created_at)
                    SELECT z.database_id, z.id, n, '\\x01', '\\x02', '\\x03', now()
                      FROM zone z CROSS JOIN generate_series(1, 2) AS n
                     WHERE z.database_id = \(user.privateDatabase.rawValue) AND z.name LIKE 'k%'
                    """
                ], url: fixture.database.url)
            #expect(try await store.keyedZoneCount(of: account) == .exactly(2_005))
            await storage.stop()
        }
    }

    private static let key = ContainerKey(identifier: "iCloud.a", environment: .development)
}
