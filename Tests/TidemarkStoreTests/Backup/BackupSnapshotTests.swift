// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct BackupSnapshotTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let later = Timestamp(milliseconds: 1_800_000_000_000)

    private static func asset(_ byte: UInt8, of database: DatabaseID) -> AssetKey {
        AssetKey(
            database: database, content: FieldAsset(sha256: [UInt8](repeating: byte, count: 32), byteCount: Int64(byte))
        )
    }

    /// Lets a record name an asset, as a save does.
    private static func name(_ asset: AssetKey, in zone: String, _ url: String) throws {
        let hash = asset.content.sha256.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
        try PostgresAdministration.execute(
            [
                """
                INSERT INTO asset_use SELECT database_id, id, 'r', '\\x\(hash)' FROM zone WHERE name = '\(zone)'
                """
            ], url: url)
    }

    @Test func `R-989: who accepted a loss first stays, and an asset that was sent meanwhile is left alone`()
        async throws
    {
        try await SharingFixture.run { fixture in
            let asset = Self.asset(1, of: fixture.alice.privateDatabase)
            _ = try await fixture.storage.keepAsset(asset, from: nil, now: Self.now) {}
            let store = AdminStore(fixture.storage)
            func acceptedBy() async throws -> String? {
                let snapshot = try await BackupSnapshot.open(fixture.storage, holdsAssets: false)
                let page = try await snapshot.assets(after: nil, countMax: 2)
                await snapshot.close()
                return page.first?.loss?.by
            }
            #expect(try await acceptedBy() == nil)
            // It was sent after what the operator saw.
            try await store.acceptLoss(of: [asset], by: "early", seenAt: Timestamp(milliseconds: 1))
            #expect(try await acceptedBy() == nil)
            for name in ["O'Hara", "olga"] {
                try await store.acceptLoss(of: [asset], by: name, seenAt: Self.now)
                #expect(try await acceptedBy() == "O'Hara")
            }
            // Sent again: nobody has accepted the loss of that one.
            try fixture.execute("UPDATE asset SET touched_at = now() + interval '1 hour'")
            #expect(try await acceptedBy() == nil)
            try await store.acceptLoss(of: [asset], by: "olga", seenAt: Timestamp(milliseconds: 4_000_000_000_000))
            #expect(try await acceptedBy() == "olga")
            try await store.forgetLoss(of: [asset])
            #expect(try await acceptedBy() == nil)
        }
    }

    @Test func `R-950: a snapshot does not change, and tells the assets that records of living zones name`()
        async throws
    {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            let database = fixture.alice.privateDatabase
            let (named, unnamed, ended) = (
                Self.asset(1, of: database), Self.asset(2, of: database), Self.asset(3, of: database)
            )
            for asset in [named, unnamed, ended] {
                _ = try await fixture.storage.keepAsset(asset, from: nil, now: Self.now) {}
            }
            try await fixture.create("Old")
            try Self.name(named, in: "Notes", fixture.url)
            try Self.name(ended, in: "Old", fixture.url)
            try fixture.execute("UPDATE zone SET removal = 0, removed_at = now() WHERE name = 'Old'")
            let snapshot = try await BackupSnapshot.open(fixture.storage, holdsAssets: true)
            let facts = try await snapshot.facts()
            #expect(facts.assetCount == 3 && facts.assetBytes == 6 && facts.tableBytes > 0)
            #expect(facts.masterKeyCheck == nil && facts.postgres >= .oldest)
            let standing = try await fixture.storage.standing()
            #expect(facts.incarnation == standing.incarnation)
            // What comes later is not in it.
            try Self.name(unnamed, in: "Notes", fixture.url)
            try fixture.execute("DELETE FROM record")
            var found: [AssetKey: Bool] = [:]
            var last: AssetKey?
            repeat {
                let page = try await snapshot.assets(after: last, countMax: 2)
                for entry in page { found[entry.asset] = entry.isNamed }
                last = page.last?.asset
            } while last != nil
            #expect(found == [named: true, unnamed: false, ended: false])
            #expect(try await snapshot.isNamed(named))
            #expect(try await !snapshot.isNamed(unnamed))
            #expect(try await !snapshot.isNamed(Self.asset(9, of: database)))
            let contents = try await snapshot.contents()
            #expect(
                contents == [BackedUpContainer(container: SharingFixture.container, users: 2, zones: 3, records: 1)],
                "\(contents)")
            // The fixture's migrator has written the steps.
            let steps = try await snapshot.migrations()
            #expect(steps.map(\.checksum) == Migrations.all.map(\.checksum))
            #expect(steps.map(\.number) == Migrations.all.map(\.number))
            try await snapshot.keepAlive()
            await snapshot.close()
        }
    }

    @Test func `R-951: while a backup has its snapshot no asset is removed, and then again; two do not hold at once`()
        async throws
    {
        try await SharingFixture.run { fixture in
            let asset = Self.asset(7, of: fixture.alice.privateDatabase)
            _ = try await fixture.storage.keepAsset(asset, from: nil, now: Self.now) {}
            func forget() async throws -> Bool {
                try await fixture.storage.forgetAsset(asset, touchedBefore: Self.later) { true }
            }
            let snapshot = try await BackupSnapshot.open(fixture.storage, holdsAssets: true)
            #expect(try await !forget())
            // One that only compares holds nothing, and waits for nobody.
            let other = try await BackupSnapshot.open(fixture.storage, holdsAssets: false)
            await other.close()
            #expect(try await !forget())
            await snapshot.close()
            #expect(try await forget())
        }
    }

    @Test func `R-951: a backup that dies releases the assets, and does not go on`() async throws {
        try await SharingFixture.run { fixture in
            let asset = Self.asset(7, of: fixture.alice.privateDatabase)
            _ = try await fixture.storage.keepAsset(asset, from: nil, now: Self.now) {}
            let snapshot = try await BackupSnapshot.open(fixture.storage, holdsAssets: true)
            try fixture.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidemark-backup' "
                    + "AND datname = current_database()")
            try await eventually(within: .seconds(60)) {
                try await fixture.storage.forgetAsset(asset, touchedBefore: Self.later) { true }
            }
            await #expect(throws: StorageError.self) { try await snapshot.keepAlive() }
            await snapshot.close()
        }
    }

    @Test func `R-956: a zone's digest, number and sums are computed in parts, as they are kept`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            func notes() async throws -> ZoneCheck {
                let snapshot = try await BackupSnapshot.open(fixture.storage, holdsAssets: false)
                let zones = try await snapshot.zones(after: nil)
                let rest = try await snapshot.zones(after: zones.last.map { ($0.sums.key.database, $0.sums.id) })
                #expect(rest == [])
                await snapshot.close()
                return try #require(zones.first { $0.sums.key == fixture.zone })
            }
            let whole = try await notes()
            #expect(whole.digest == whole.digestSum && whole.digest != ZoneDigestBits())
            #expect(whole.recordCount == 1 && whole.recordSum == 1 && whole.sums.byteSum > 0)
            let sums = try await AdminStore(fixture.storage).zoneSums(after: nil)
            #expect(sums.contains(whole.sums))
            try fixture.execute("UPDATE record SET change_number = 9")
            let changed = try await notes()
            #expect(changed.digest != changed.digestSum && changed.recordSum == 1 && changed.sums.newestChange == 9)
            try fixture.execute("UPDATE zone SET digest_number = -1 WHERE name = 'Notes'")
            #expect(try await notes().digest == nil)
            try fixture.execute("UPDATE record SET is_deleted = true")
            let deleted = try await notes()
            #expect(deleted.recordSum == 0 && deleted.digestSum == ZoneDigestBits() && deleted.sums.tombstoneSum > 128)
        }
    }
}
