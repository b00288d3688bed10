// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

/// Alice shares the zone Notes with Bob.
@Suite struct AdminStoreHealthTests {
    @Test func `R-870: all indexes of the migrations are there and whole`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let relations = try await AdminStore(storage).relations()
            let indexes = relations.filter { $0.table != nil }
            #expect(Migrations.indexNames.count > 20)
            #expect(Migrations.indexNames.isSubset(of: Set(indexes.map(\.name))))
            let areValid = indexes.allSatisfy { $0.isValid }
            #expect(areValid)
            #expect(relations.contains { $0.name == "record" && $0.table == nil })
            await storage.stop()
        }
    }

    @Test func `R-870: PostgreSQL's version, settings and clock are read`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let facts = try await AdminStore(storage).databaseFacts()
            #expect(facts.version >= 130_000)
            #expect(facts.settings["fsync"] != nil && facts.settings["max_connections"] != nil)
            #expect(facts.byteCount > 1_000_000 && facts.connectionCount > 0)
            #expect(facts.now.milliseconds > 1_700_000_000_000)
            await storage.stop()
        }
    }

    @Test func `R-870: a zone is compared with its records, and differs once one of them is changed beside it`()
        async throws
    {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            let admin = AdminStore(fixture.storage)
            func notes() async throws -> ZoneSums? {
                try await admin.zoneSums(after: nil).first { $0.key == fixture.zone }
            }
            let sums = try #require(try await notes())
            #expect(sums.head == 1 && sums.newestChange == 1 && sums.byteSum > 128 && sums.tombstoneSum == 0)
            try fixture.execute("UPDATE record SET change_number = 7, is_deleted = true")
            let changed = try #require(try await notes())
            #expect(changed.newestChange == 7 && changed.byteSum == 0 && changed.tombstoneSum > 128)
            let last = try #require(try await admin.zoneSums(after: nil).last)
            #expect(try await admin.zoneSums(after: (last.key.database, last.id)) == [])
        }
    }

    @Test func `R-870: assets are compared with what is counted, and credentials that end are counted`() async throws {
        try await SharingFixture.run { fixture in
            let admin = AdminStore(fixture.storage)
            let database = fixture.alice.privateDatabase
            #expect(try await admin.wrongAssetTotals(9).isEmpty)
            try fixture.execute("INSERT INTO asset_total (database_id, byte_count) VALUES (\(database.rawValue), 5)")
            let wrong = try await admin.wrongAssetTotals(9)
            #expect(wrong.map(\.database) == [database] && wrong.map(\.counted) == [5] && wrong.map(\.sum) == [0])
            let none = try await admin.expiringCredentials()
            #expect(none.expired == 0 && none.soon == 0)
            try fixture.execute(
                "UPDATE credential SET expires_at = now() + interval '1 day' WHERE id = \(fixture.alice.credential.rawValue)",
                "UPDATE credential SET expires_at = now() - interval '1 day' WHERE id = \(fixture.bob.credential.rawValue)"
            )
            let ends = try await admin.expiringCredentials()
            #expect(ends.expired == 1 && ends.soon == 1)
        }
    }

    @Test func `R-862: containers and accounts are counted`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            let admin = AdminStore(fixture.storage)
            let container = try #require(try await admin.containerCounts().first)
            #expect(container.container == SharingFixture.container)
            #expect(container.userCount == 2 && container.zoneCount == 3 && container.endedZoneCount == 0)
            #expect(container.shareCount == 1 && container.assetCount == 0)
            let accounts = try await admin.largestAccounts(1)
            #expect(accounts.count == 1)
            let details = try #require(try await admin.details(of: fixture.zone))
            #expect(details.changeNumber == 1 && details.shareCount == 1 && details.participantCount == 1)
            let counts = try await admin.recordCounts(of: details.id, in: fixture.zone.database)
            #expect(counts.living == 1 && counts.deleted == 0)
        }
    }
}
