// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// The feed of a shared database, and the list that it is made of.
@Suite struct SharedFeedStatementsTests {
    @Test func `R-225, I-2: a zone that is new in a shared database is told with a number, and then its end`()
        async throws
    {
        try await SharingFixture.run { fixture in
            try await fixture.point()
            #expect(try await fixture.feed().unnumbered == [])
            try await fixture.share(with: fixture.bobs(.accepted))
            let told = try #require(try await fixture.feed(after: nil).unnumbered.first)
            #expect(told.key == fixture.zone && told.number == nil && told.removal == nil)
            #expect(try await fixture.feed(after: nil).mustNumber)
            #expect(try await fixture.advance().entries.map(\.key) == [fixture.zone])
            #expect(try await !fixture.feed(after: nil).mustNumber)
            try await fixture.removeAll()
            #expect(try await fixture.feed().unnumbered.map(\.removal) == [.deleted])
            #expect(try await fixture.advance().entries.map(\.removal) == [.deleted])
            #expect(try await fixture.feed().unnumbered == [])
        }
    }

    @Test func `R-225, I-5: what the owner does after the end moves nobody's feed`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.point()
            try await fixture.share(with: fixture.bobs(.accepted))
            #expect(try await fixture.advance().entries.map(\.changeNumber) == [1])
            try await fixture.update { changes, _ in _ = changes }
            try await fixture.removeAll()
            // The entry of before is left out: it would tell that the zone is there.
            #expect(try await fixture.feed().entries == [])
            #expect(try await fixture.feed(after: nil).entries == [])
            let end = try await fixture.advance().entries
            #expect(end.map(\.removal) == [.deleted] && end.map(\.changeNumber) == [1])
            try await fixture.update { changes, _ in _ = changes }
            let later = try await fixture.feed()
            #expect(later.unnumbered == [] && later.entries == end)
        }
    }

    @Test func `R-225: the end of a zone is told with its name, although its owner's database forgot it`() async throws
    {
        try await SharingFixture.run { fixture in
            try await fixture.point()
            try await fixture.share(with: fixture.bobs(.accepted))
            _ = try await fixture.advance()
            try fixture.execute("DELETE FROM zone WHERE name = 'Notes'")
            #expect(try await fixture.feed().unnumbered.map(\.key) == [fixture.zone])
            let end = try #require(try await fixture.advance().entries.first)
            #expect(end.key == fixture.zone && end.removal == .deleted)
            #expect(try await fixture.numbers("SELECT count(*) FROM shared_zone") == [0])
            #expect(try await fixture.feed().entries == [end])
        }
    }

    @Test func `R-753, I-2: a viewer is told of an end after the owner's store has cleared and forgotten the zone`()
        async throws
    {
        try await SharingFixture.run { fixture in
            let (storage, zone) = (fixture.storage, fixture.zone)
            try await fixture.point()
            try await fixture.share(with: fixture.bobs(.accepted))
            let token = try await fixture.advance().head
            #expect(try await AdminStore(storage).endZone(zone, reason: .deleted))
            var place: EndedZone? = .beginning
            while let after = place { place = try await storage.clearEndedZones(after: after) }
            try await storage.forgetEndedZones(of: zone.database, keeping: 0)
            #expect(try await fixture.numbers("SELECT count(*) FROM zone WHERE name = 'Notes'") == [0])
            let end = try await fixture.advance(after: token).entries
            #expect(end.map(\.key) == [zone] && end.map(\.removal) == [.deleted])
            #expect(try await fixture.pointers() == 0)

            // What the viewer's feed forgets makes older tokens too old.
            try await storage.forgetEndedZones(of: fixture.bob.sharedDatabase, keeping: 0)
            let late = try await fixture.feed(after: token)
            #expect(late.entries == [] && late.oldestToken > token)
        }
    }

    @Test func `R-318, R-770: a pointer to a zone that lives stays for an hour without access, and then goes`()
        async throws
    {
        try await SharingFixture.run { fixture in
            try await fixture.point()
            try await fixture.share(with: fixture.bobs(.accepted))
            _ = try await fixture.advance()
            // He may be invited again, and accept while the feed tells the end.
            try await fixture.removeAll()
            #expect(try await fixture.advance().entries.map(\.removal) == [.deleted])
            #expect(try await fixture.pointers() == 1)
            try fixture.agePointers()
            _ = try await fixture.advance()
            #expect(try await fixture.pointers() == 0)

            // One of which the feed never told.
            try await fixture.point()
            try fixture.execute("DELETE FROM feed_entry")
            _ = try await fixture.advance()
            #expect(try await fixture.pointers() == 1)
            try fixture.agePointers()
            _ = try await fixture.advance()
            #expect(try await fixture.pointers() == 0)

            // With access it stays for ever.
            try await fixture.point()
            try await fixture.update { changes, _ in changes.updated = [fixture.bobs(.accepted, at: changes.number)] }
            try fixture.agePointers()
            _ = try await fixture.advance()
            #expect(try await fixture.pointers() == 1)
        }
    }

    @Test func `R-770: a full list loses pointers without access that are older than an hour, but for untold ends`()
        async throws
    {
        try await SharingFixture.run { fixture in
            for isTold in [false, true] {
                try fixture.execute("DELETE FROM shared_zone", "DELETE FROM feed_entry")
                try await fixture.point()
                try await fixture.share(with: fixture.bobs(.accepted), secret: isTold ? nil : [1, 2, 3])
                if isTold { _ = try await fixture.advance() }
                try await fixture.removeAll()
                let other = "Other \(isTold)"
                try await fixture.create(other)
                #expect(try await fixture.point(to: other, atMost: 1) == .full)
                try fixture.agePointers()
                #expect(try await fixture.point(to: other, atMost: 1) == .done)
                #expect(try await fixture.pointers() == (isTold ? 2 : 1))
                try await fixture.change { number, sharing in
                    sharing.ending(shareNamed: Share.zoneWideName, at: number)!
                }
            }
        }
    }

    /// The acceptance has written its pointer anew, when the feed of before its invitation removes it.
    @Test func `R-318: a pointer that is written anew while the feed removes it stays`() async throws {
        try await SharingFixture.run { fixture in
            let viewer = fixture.bob.sharedDatabase
            try await fixture.point()
            try await fixture.share(with: fixture.bobs(.accepted))
            _ = try await fixture.advance()
            try await fixture.removeAll()
            try fixture.agePointers()
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript(
                "BEGIN; UPDATE shared_zone SET pointed_at = clock_timestamp() WHERE database_id = \(viewer.rawValue)")
            async let advancing = fixture.advance()
            try await fixture.waitForWaiting(1, application: "tidemark")
            try await lease.connection.executeScript("COMMIT")
            #expect(try await advancing.entries.map(\.removal) == [.deleted])
            #expect(try await fixture.pointers() == 1)
            fixture.other.release(lease)
        }
    }

    @Test func `R-753: a shared database's feed forgets the oldest of very many ends`() async throws {
        try await SharingFixture.run { fixture in
            let viewer = fixture.bob.sharedDatabase.rawValue
            try fixture.execute(
                "INSERT INTO feed (database_id, head) VALUES (\(viewer), 5003)",
                """
                INSERT INTO feed_entry (database_id, zone_id, owner_database_id, number, zone_change_number, removal, zone_name)
                SELECT \(viewer), 1000 + n, 1, n, 0, 0, 'z' || n FROM generate_series(1, 5003) AS n
                """)
            let feed = try await fixture.advance()
            #expect(feed.oldestToken == 3 && feed.entries.first?.number == 4)
            #expect(try await fixture.numbers("SELECT count(*) FROM feed_entry WHERE zone_name IS NOT NULL") == [5_000])
        }
    }

    @Test func `R-323: the list shows what the rules allow, whatever becomes of a participant`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.point()
            try await fixture.share(with: fixture.bobs(.pending))
            var isVisible: [Bool] = []
            for role in [ParticipantRole.privateUser, .publicUser] {
                for permission in SharePermission.allCases {
                    for status in ParticipantStatus.allCases {
                        try await fixture.update { changes, rows in
                            var row = rows[0]
                            (row.role, row.permission, row.status) = (role, .noAccess, status)
                            if role == .privateUser { row.permission = permission }
                            row.acceptedNumber = status == .pending ? nil : changes.number
                            row.endedNumber = status == .removed ? changes.number : nil
                            var share = Share(number: changes.share)
                            if role == .publicUser { share.publicPermission = permission }
                            (changes.updated, changes.updatedShare) = ([row], share)
                        }
                        let found = try #require(
                            try await fixture.storage.sharing(of: fixture.zone, .access(of: [fixture.bob.user])))
                        let listed = try await fixture.storage.sharedZones(
                            of: fixture.bob.sharedDatabase, for: fixture.bob.user, after: nil, zonesMax: 10)
                        let access = ShareAccess(of: fixture.bob.user, in: found.sharing)
                        #expect(listed.map(\.key) == (access.isParticipant ? [fixture.zone] : []))
                        isVisible.append(access.isParticipant)
                    }
                }
            }
            #expect(isVisible.count { $0 } == 4)
        }
    }
}
