// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkStore

/// What the conformance suite cannot show: what happens between two statements.
@Suite struct PostgresStorageSharingTests {
    @Test func `R-328, I-5: a page and the access by which it was read are of one snapshot`() async throws {
        try await SharingFixture.run { fixture in
            let carol = try await SharingFixture.identity("carol", in: fixture.storage).user
            var carols = fixture.bobs(.accepted, id: 2)
            carols.user = carol
            try await fixture.share(with: fixture.bobs(.accepted), carols)
            let storage = fixture.storage
            let lease = try await fixture.other.acquire()
            // Each connection for snapshots prepares its statements, so that the page below waits where it is run. One
            // account has not all of them.
            try await lease.connection.executeScript("BEGIN; LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            async let first = storage.zonePage(fixture.page())
            async let second = storage.zonePage(fixture.page())
            async let third = storage.zonePage(fixture.page())
            async let fourth = storage.zonePage(fixture.page(for: carol))
            try await fixture.waitForWaiting(4, application: "tidemark-shared")
            try await lease.connection.executeScript("COMMIT")
            for page in [try await first, try await second, try await third, try await fourth] {
                #expect(page.value.records.map(\.name) == [Share.zoneWideName])
            }

            try await lease.connection.executeScript("BEGIN; LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            async let reading = storage.zonePage(fixture.page())
            try await fixture.waitForWaiting(1, application: "tidemark-shared")
            // The access has been read, and the records have not. Meanwhile it ends, and a record is saved.
            try await lease.connection.executeScript(
                """
                UPDATE share_participant SET status = 3, ended_number = 2;
                INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                    modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
                SELECT database_id, zone_id, 2, 2, created_at, 1, modified_at, 1, created_by_device, 0, false, 'new', 'Note', ''
                  FROM record;
                UPDATE zone SET change_number = 2 WHERE name = 'Notes';
                COMMIT
                """)
            let before = try await reading.value
            #expect(before.records.map(\.name) == [Share.zoneWideName])
            #expect(before.zone?.changeNumber == 1)
            #expect(fixture.bobsAccess.sharing(before.sharing) != nil)
            let after = try await storage.zonePage(fixture.page()).value
            #expect(after.records.map(\.name).sorted() == [Share.zoneWideName, "new"])
            #expect(after.sharing != nil && fixture.bobsAccess.sharing(after.sharing) == nil)
            fixture.other.release(lease)
        }
    }

    @Test func `R-328, I-5: a list, the page that comes with it, and the access are of one snapshot`() async throws {
        try await SharingFixture.run { fixture in
            let carol = try await SharingFixture.identity("carol", in: fixture.storage)
            var carols = fixture.bobs(.accepted, id: 2)
            carols.user = carol.user
            try await fixture.share(with: fixture.bobs(.accepted), carols)
            try await fixture.point()
            let (storage, list, other) = (fixture.storage, fixture.bob.sharedDatabase, carol.sharedDatabase)
            let (bobs, hers) = (fixture.page(), fixture.page(for: carol.user))
            let lease = try await fixture.other.acquire()
            // As above: each connection prepares its statements.
            try await lease.connection.executeScript("BEGIN; LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            async let first = storage.databaseFeed(of: list, after: nil, entriesMax: 9, then: bobs)
            async let second = storage.databaseFeed(of: list, after: nil, entriesMax: 9, then: bobs)
            async let third = storage.databaseFeed(of: list, after: nil, entriesMax: 9, then: bobs)
            async let fourth = storage.databaseFeed(of: other, after: nil, entriesMax: 9, then: hers)
            try await fixture.waitForWaiting(4, application: "tidemark-shared")
            try await lease.connection.executeScript("COMMIT")
            for read in [try await first, try await second, try await third, try await fourth] {
                #expect(read.page?.value.records.map(\.name) == [Share.zoneWideName])
            }

            try await lease.connection.executeScript("BEGIN; LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            async let reading = storage.databaseFeed(of: list, after: nil, entriesMax: 9, then: bobs)
            try await fixture.waitForWaiting(1, application: "tidemark-shared")
            // The access and the list have been read, and the records have not.
            try await lease.connection.executeScript(
                """
                UPDATE share_participant SET status = 3, ended_number = 2;
                UPDATE zone SET change_number = 2 WHERE name = 'Notes';
                COMMIT
                """)
            let before = try await reading
            #expect(before.feed.value.unnumbered.map(\.changeNumber) == [1])
            #expect(before.page?.value.zone?.changeNumber == 1)
            #expect(fixture.bobsAccess.sharing(before.page?.value.sharing) != nil)
            let after = try await storage.databaseFeed(of: list, after: nil, entriesMax: 9, then: bobs)
            #expect(after.feed.value.unnumbered.isEmpty && after.page?.value.zone != nil)
            #expect(fixture.bobsAccess.sharing(after.page?.value.sharing) == nil)
            let later = try await storage.databaseFeed(of: list, after: nil, entriesMax: 9, then: bobs)
            #expect(later.page != nil && later.page?.value.zone == nil)
            fixture.other.release(lease)
        }
    }

    @Test func `R-711: who reads others' zones leaves a connection for snapshots to other accounts`() async throws {
        try await SharingFixture.run { fixture in
            let carol = try await SharingFixture.identity("carol", in: fixture.storage).user
            try await fixture.share(with: fixture.bobs(.accepted))
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript("BEGIN; LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            let pages = (0..<5).map { _ in Task { try await fixture.storage.zonePage(fixture.page()).value } }
            try await fixture.waitForWaiting(3, application: "tidemark-shared")
            let found = try #require(try await fixture.storage.sharing(of: fixture.zone, .access(of: [carol])))
            #expect(!ShareAccess(of: carol, in: found.sharing).isParticipant)
            try await lease.connection.executeScript("COMMIT")
            for page in pages { #expect(try await page.value.records.map(\.name) == [Share.zoneWideName]) }
            fixture.other.release(lease)
        }
    }

    @Test(arguments: [true, false])
    func `R-711: who opens others' links takes turns of their own, and none of the owner's`(
        areGood: Bool
    ) async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            let (storage, bob) = (fixture.storage, fixture.bob.user)
            let carol = try await SharingFixture.identity("carol", in: storage).user
            // Where a link leads that is none.
            let nowhere = ZoneKey(database: DatabaseID(0), name: ZoneName.default)
            let key = areGood ? fixture.zone : nowhere
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript("BEGIN; LOCK TABLE record IN ACCESS EXCLUSIVE MODE")
            let reads = (0..<5).map { _ in
                Task {
                    try await storage.records(
                        named: [Share.zoneWideName], in: key, bytesMax: 1_000, sharing: .shown(to: bob))
                }
            }
            try await fixture.waitForWaiting(3, application: "tidemark-shared")
            for user in [fixture.alice.user, carol] {
                let found = try await storage.sharing(of: key, .shown(to: user))
                #expect((found != nil) == areGood)
            }
            try await lease.connection.executeScript("COMMIT")
            for read in reads {
                let snapshot = try await read.value
                #expect((snapshot.zone != nil) == areGood)
            }
            fixture.other.release(lease)
        }
    }

    @Test func `R-316: for somebody without access no record is looked at`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.pending))
            let (storage, zone, access) = (fixture.storage, fixture.zone, SharingRead.access(of: [fixture.bob.user]))
            let lease = try await fixture.other.acquire()
            // Whoever looks at records or keys waits, until PostgreSQL ends the statement.
            try await lease.connection.executeScript("BEGIN; LOCK TABLE record, zone_key IN ACCESS EXCLUSIVE MODE")
            let page = try await storage.zonePage(fixture.page())
            #expect(page.value.zone == nil && page.value.sharing != nil)
            let found = try await storage.records(named: ["a"], in: zone, bytesMax: 1_000, sharing: access)
            #expect(found.zone == nil && found.sharing != nil)
            let keys = try await storage.zoneKeys(of: [zone], keysMax: 9, sharing: access)
            #expect(keys.map(\.keys) == [nil])
            try await lease.connection.executeScript("COMMIT")
            fixture.other.release(lease)
        }
    }

    @Test func `I-5, R-316: who asks for the share of a zone without access has nothing of it read`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.pending))
            try await fixture.create("Gone")
            let gone = ZoneKey(database: fixture.zone.database, name: "Gone")
            #expect(try await AdminStore(fixture.storage).endZone(gone, reason: .purged))
            let none = ZoneKey(database: fixture.zone.database, name: "None")
            let loop = try EventLoop(name: "service")
            defer { loop.stop() }
            let service = CloudService(storage: fixture.storage, scheduler: loop, limits: Limits()) { _ in }
            let lease = try await fixture.other.acquire()
            // Whoever reads a whole share waits, until PostgreSQL ends the statement.
            try await lease.connection.executeScript("BEGIN; LOCK TABLE record, share_link IN ACCESS EXCLUSIVE MODE")
            for key in [fixture.zone, gone, none] {
                let asked = await service.records(named: ["a", Share.zoneWideName], in: key, by: fixture.bobsAccess)
                let reason: FailureReason? = if case .failure(let reason) = asked { reason } else { nil }
                #expect(reason == .zoneNotFound, "\(key.name)")
            }
            try await lease.connection.executeScript("COMMIT")
            fixture.other.release(lease)
            // Who takes part gets it.
            try await fixture.update { changes, rows in
                changes.updated = rows.map { row in
                    var row = row
                    (row.status, row.acceptedNumber) = (.accepted, changes.number)
                    return row
                }
            }
            let lookup = try await service.records(
                named: [Share.zoneWideName], in: fixture.zone, by: fixture.bobsAccess
            ).get()
            #expect(lookup.sharing?.wholeShares.count == 1, "all people of that share")
            await service.stop()
        }
    }

    @Test func `R-700: who waited for a zone has the access that is left`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            let read = fixture.read(.access(of: [fixture.bob.user]))
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript("BEGIN; SELECT FROM zone WHERE name = 'Notes' FOR UPDATE")
            async let waiting = fixture.storage.beginWrite([read])
            try await fixture.waitForWaiting(1, application: "tidemark")
            try await lease.connection.executeScript(
                "UPDATE share_participant SET status = 3, ended_number = 2; COMMIT")
            let transaction = try await waiting
            let sharing = try #require(transaction.snapshots[0].sharing)
            #expect(fixture.bobsAccess.sharing(sharing) == nil)
            #expect(AccessHistory(of: fixture.bob.user, in: sharing).canHaveSeen(1))
            await transaction.rollback()
            fixture.other.release(lease)
        }
    }

    @Test func `R-310: rows of a share are read as they were written`() async throws {
        try await SharingFixture.run { fixture in
            var invited = Participant(
                id: ParticipantID(high: .max, low: .max), address: "carol@example.org", role: .administrator,
                permission: .readOnly, addedAt: SharingFixture.now)
            try await fixture.share(with: fixture.bobs(.accepted), invited)
            var bob = fixture.bobs(.accepted)
            bob.acceptedNumber = 1
            let first = ShareNumber(1)
            func whole() async throws -> ZoneSharing {
                try #require(try await fixture.storage.sharing(of: fixture.zone, .whole)).sharing
            }
            var expected = ZoneSharing(
                owner: fixture.alice.user, shares: [Share(number: first)], participants: [first: [bob, invited]],
                secret: [1, 2, 3])
            #expect(try await whole() == expected)

            // A user has one row: the former one goes before another gets the user, also as a new row.
            invited.user = fixture.bob.user
            (invited.status, invited.acceptedNumber) = (.accepted, 2)
            try await fixture.update { changes, _ in
                (changes.forgotten, changes.updated) = ([bob.id], [invited])
            }
            var freed = invited
            (freed.user, freed.status, freed.acceptedNumber) = (nil, .pending, nil)
            try await fixture.update { changes, _ in
                (changes.updated, changes.inserted) = ([freed], [bob])
            }
            expected = ZoneSharing(
                owner: fixture.alice.user, shares: [Share(number: first)], participants: [first: [bob, freed]],
                secret: [1, 2, 3])
            #expect(try await whole() == expected)

            // A share that ended lets another begin, and can be forgotten.
            try await fixture.change { number, sharing in sharing.ending(shareNamed: Share.zoneWideName, at: number)! }
            try await fixture.share(secret: nil)
            #expect(try await whole().livingShare?.number == ShareNumber(5))
            #expect(try await whole().shares[first]?.endedNumber == 4)
            try await fixture.update { changes, _ in changes.forgottenShares = [first] }
            #expect(try await whole().shares.keys.map(\.rawValue) == [5])
            #expect(try await fixture.numbers("SELECT count(*) FROM share_participant") == [0])
        }
    }

    @Test func `an owner's reads need no connection for snapshots`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            let (storage, zone) = (fixture.storage, fixture.zone)
            let shared = """
                SELECT count(*) FROM pg_stat_activity
                 WHERE application_name = 'tidemark-shared' AND datname = current_database()
                """
            let query = ZonePageQuery(
                key: zone, after: nil, recordsMax: 10, bytesMax: 1_000, device: SharingFixture.device, reader: nil,
                tombstonesPassedMax: 10)
            _ = try await storage.databaseFeed(of: zone.database, after: nil, entriesMax: 10, then: query)
            _ = try await storage.records(named: ["a"], in: zone, bytesMax: 10, sharing: .nothing)
            _ = try await storage.zoneKeys(of: [zone], keysMax: 10, sharing: .nothing)
            #expect(try await fixture.numbers(shared) == [0])
            let found = try await storage.records(named: ["a"], in: zone, bytesMax: 10, sharing: .whole)
            #expect(found.sharing?.isWhole == true)
            let keys = try await storage.zoneKeys(
                of: [ZoneKey(database: zone.database, name: "none"), zone], keysMax: 10,
                sharing: .access(of: [fixture.bob.user]))
            #expect(keys.map { $0.sharing.map { fixture.bobsAccess.sharing($0) != nil } } == [nil, true])
            #expect(try await fixture.numbers(shared)[0] > 0)
        }
    }

    @Test func `R-306: a link leads to its zone, and secrets that no save took are forgotten`() async throws {
        try await SharingFixture.run { fixture in
            let (storage, zone) = (fixture.storage, fixture.zone)
            let none = ZoneKey(database: zone.database, name: "None")
            #expect(try await storage.pointLink(secretHash: [1], to: none, root: nil, atMost: 9) == nil)
            for hash: [UInt8] in [[1], [2], [1]] {
                #expect(try await storage.pointLink(secretHash: hash, to: zone, root: nil, atMost: 2) != nil)
            }
            // Old ones are in nobody's way.
            try fixture.execute("UPDATE share_link_target SET made_at = made_at - interval '1 hour'")
            for hash: [UInt8] in [[1], [5]] {
                #expect(try await storage.pointLink(secretHash: hash, to: zone, root: nil, atMost: 2) != nil)
            }
            #expect(try await storage.linkedZone(secretHash: [2], for: fixture.bob.sharedDatabase) == nil)
            #expect(try await storage.linkedZone(secretHash: [1], for: fixture.bob.sharedDatabase) == zone)
            #expect(try await storage.linkedZone(secretHash: [3], for: fixture.bob.sharedDatabase) == nil)
            // The zone takes the secret of the first.
            try fixture.execute(
                "INSERT INTO share_link SELECT database_id, id, 'secret' FROM zone WHERE name = 'Notes'",
                "UPDATE share_link_target SET secret_hash = sha256('secret') WHERE secret_hash = '\\x01'",
                "UPDATE share_link_target SET made_at = now() - interval '2 hours'")
            #expect(try await storage.pointLink(secretHash: [4], to: zone, root: nil, atMost: 2) != nil)
            #expect(try await storage.linkedZone(secretHash: [5], for: fixture.bob.sharedDatabase) == nil)
            #expect(try await fixture.numbers("SELECT count(*) FROM share_link_target") == [1])
        }
    }

    @Test func `R-030: what ended zones leave of their shares is cleared, and then they are forgotten`() async throws {
        try await SharingFixture.run { fixture in
            let (storage, zone) = (fixture.storage, fixture.zone)
            #expect(try await storage.pointLink(secretHash: [1], to: zone, root: nil, atMost: 9) != nil)
            try await fixture.share(with: fixture.bobs(.accepted))
            #expect(try await AdminStore(storage).endZone(zone, reason: .deleted))
            #expect(try await storage.linkedZone(secretHash: [1], for: fixture.bob.sharedDatabase) == nil)
            #expect(try await storage.sharing(of: zone, .whole) == nil)
            try await storage.forgetEndedZones(of: zone.database, keeping: 0)
            #expect(try await fixture.numbers("SELECT count(*) FROM zone WHERE name = 'Notes'") == [1])
            var place: EndedZone? = .beginning
            while let after = place { place = try await storage.clearEndedZones(after: after) }
            for table in ["share", "share_participant", "share_link", "share_link_target"] {
                #expect(try await fixture.numbers("SELECT count(*) FROM \(table)") == [0], "\(table)")
            }
            try await storage.forgetEndedZones(of: zone.database, keeping: 0)
            #expect(try await fixture.numbers("SELECT count(*) FROM zone WHERE name = 'Notes'") == [0])
        }
    }
}
