// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkWire

/// An operator deletes the account of somebody who shares with others, at two servers of one database.
@Suite(.timeLimit(.minutes(20))) struct AccountEndTests {
    private static let address = "bob@example.org"

    /// As what bob is in a zone of alice. Carol takes part in each.
    private enum Part: String, CaseIterable {
        case administrator, link, address, invited, invitedAddress, asked, blocked, joined

        /// Whether bob reads the zone.
        var isIn: Bool { [.administrator, .link, .address, .joined].contains(self) }
        var isPublic: Bool { self == .joined }
    }

    /// Alice is at the first server, and the others are at the second.
    private struct World {
        let pair: ServerPair
        let sites: [Site]
        let alice: ShareClient
        let bob: ShareClient
        let carol: ShareClient

        init(_ pair: ServerPair) async throws {
            self.pair = pair
            let carols = try OperatorPlace.makeAccounts(["carol"], url: pair.databaseURL)[0]
            sites = pair.sites.map { site in
                Site(
                    url: site.url, authorityFile: site.authorityFile,
                    tokens: site.tokens.merging(["carol": carols]) { $1 }, container: site.container)
            }
            let named = try await pair.admin("accounts", "set-name", "bob", "--given", "Roberto")
            let addressed = try await pair.admin("addresses", "create", "bob", AccountEndTests.address)
            #expect(named.status == 0 && addressed.status == 0)
            alice = try await ShareClient(sites[0], "alice")
            bob = try await ShareClient(sites[1], "bob")
            carol = try await ShareClient(sites[1], "carol")
        }

        func zone(_ part: Part) -> WireZoneID { ShareRequests.zone(part.rawValue, of: alice.name) }

        private func person(_ part: Part) -> WireParticipantSave? {
            var person = ShareRequests.participant(2)
            switch part {
            case .administrator: (person.user, person.role) = (bob.name, .administrator)
            case .link: person.byLink = true
            case .address, .invitedAddress: person.email = AccountEndTests.address
            case .invited: person.user = bob.name
            case .asked, .blocked, .joined: return nil
            }
            return person
        }

        /// Alice makes the zone, and bob gets his part.
        func make(_ part: Part) async throws {
            let name = part.rawValue
            try await alice.makeZone(name)
            let link: String
            if part.isPublic {
                link = try await alice.share(name)
            } else {
                let people = [ShareRequests.participant(1, named: carol.name)] + [person(part)].compactMap(\.self)
                var save = ShareRequests.share(name, with: people, alice.stamp())
                save.zones[0].saves[0].share.accessRequests = .requestsAllowed
                if part == .blocked { save.zones[0].saves[0].share.blocked = [bob.name] }
                link = try await alice.succeed(.modifyRecords(save)).records.first?.share.link ?? ""
            }
            try await carol.succeed(ShareRequests.accept(link))
            switch part {
            case .administrator, .address, .joined: try await bob.succeed(ShareRequests.accept(link))
            case .link:
                let links = try await share(part).participants.map(\.link).filter { !$0.isEmpty }
                try await bob.succeed(ShareRequests.accept(try #require(links.first)))
            case .asked:
                var request = WireRequestShareAccess()
                request.links = [link]
                try await bob.succeed(.requestShareAccess(request))
            case .invited, .invitedAddress, .blocked: break
            }
        }

        /// As alice sees it now.
        func share(_ part: Part) async throws -> WireShare {
            try #require(try await alice.shareRecord(of: part.rawValue)).share
        }

        /// How often bob is in the share, by his user, his name or his address.
        func traces(_ part: Part) async throws -> Int {
            let share = try await share(part)
            let people = share.participants.count {
                $0.user == bob.name || $0.email == AccountEndTests.address || $0.givenName == "Roberto"
            }
            return people + (share.requesters + share.blocked).count { $0.user == bob.name }
        }

        func isStored(_ query: String) throws -> Bool { try StoredRows.exist(query, url: pair.databaseURL) }
    }

    // MARK: A participant

    @Test
    func
        `R-992: a participant's account ends in each share, all devices of the others hear of it, and his name is gone`()
        async throws
    {
        try await ServerPair.with(["--create-containers"]) { pair in
            let world = try await World(pair)
            let (alice, bob, carol) = (world.alice, world.bob, world.carol)
            for part in Part.allCases {
                try await world.make(part)
                #expect(try await world.traces(part) == 1, "\(part)")
                #expect(try await (bob.readingFails(in: world.zone(part)) == nil) == part.isIn, "\(part)")
            }
            // He is in another container too, where alice shares as well, and has a zone of his own.
            var others = world.sites
            for index in others.indices { others[index].container = "iCloud.test.other" }
            let (elsewhere, bobs) = (
                try await ShareClient(others[0], "alice", device: 3), try await ShareClient(others[1], "bob", device: 4)
            )
            try await elsewhere.makeZone("Notes")
            try await bobs.succeed(ShareRequests.accept(try await elsewhere.share("Notes")))
            try await bobs.makeZone("His")
            #expect(bobs.name != bob.name)
            // A record that he made in alice's zone is hers.
            let made = try ShareRequests.saving(["made"], in: world.zone(.administrator), bob.stamp())
            try await bob.succeed(.modifyRecords(made))
            var own = WireModifySubscriptions()
            own.database = .private
            own.saves = [TestClient.subscription("own")]
            try await alice.succeed(.modifySubscriptions(own))
            try await carol.succeed(ShareRequests.subscribeToShared())
            let pushCounts = [alice.pushes.count, carol.pushes.count]

            let planned = try await pair.admin("accounts", "delete", "bob", "--dry-run")
            #expect(planned.status == 0)
            let told = "5 parts in others' shares, 2 invitations, 1 access request"
            #expect(planned.output.contains(told), "\(planned.output)")
            #expect(try await world.traces(.administrator) == 1, "nothing was done")
            let deleted = try await pair.admin("accounts", "delete", "bob", "--yes")
            #expect(deleted.status == 0, "\(deleted.output)")

            try await eventually("his sessions are closed") { bob.raw.isClosed && bobs.raw.isClosed }
            await #expect(throws: NeverHappened.self) { try await ShareClient(world.sites[0], "bob") }
            try await eventually("the owner hears of it at her server") { alice.pushes.count > pushCounts[0] }
            try await eventually("others hear of it at theirs") { carol.pushes.count > pushCounts[1] }
            for part in Part.allCases {
                #expect(try await world.traces(part) == 0, "\(part)")
                #expect(try await carol.readingFails(in: world.zone(part)) == nil, "\(part)")
                let hers = try await carol.ask(ShareRequests.shareRecord(of: world.zone(part))).records.first?.share
                #expect(hers?.participants.contains { $0.user == bob.name } == false, "\(part)")
            }
            let there = try #require(try await elsewhere.shareRecord(of: "Notes")).share
            #expect(!there.participants.contains { $0.user == bobs.name })
            // His record name stays where he made something, and leads to nobody.
            let zone = ShareRequests.zone(Part.administrator.rawValue)
            let record = try await alice.ask(ShareRequests.records(["made"], in: zone)).records.first
            #expect(record?.createdBy == bob.name)
            let tag = try #require(try await alice.shareRecord(of: Part.administrator.rawValue)).tag
            let again = [ShareRequests.participant(1), ShareRequests.participant(9, named: bob.name)]
            let invitation = ShareRequests.share(Part.administrator.rawValue, with: again, tag: tag, alice.stamp())
            #expect(try await alice.ask(.modifyRecords(invitation)).failureCodes == [.invalidArguments])
            #expect(
                try !world.isStored(
                    """
                    SELECT FROM share_participant p
                     WHERE p.address = '\(Self.address)'
                        OR p.user_id IN (SELECT u.id FROM container_user u JOIN account a ON a.id = u.account_id
                                          WHERE a.deleted_at IS NOT NULL)
                    """))
            #expect(try await pair.admin("accounts", "delete", "bob", "--yes").status == 5)
        }
    }

    @Test func `R-995: an account of the same name and address is somebody else, and opens nothing of the old one`()
        async throws
    {
        try await ServerPair.with { pair in
            let world = try await World(pair)
            for part in [Part.administrator, .invitedAddress, .asked] { try await world.make(part) }
            #expect(try await pair.admin("accounts", "delete", "bob", "--yes").status == 0)
            #expect(try await pair.admin("accounts", "create", "bob").status == 0)
            #expect(try await pair.admin("addresses", "create", "bob", Self.address).status == 0)
            let token = try await pair.issue("bob")
            let site = Site(
                url: pair.sites[1].url, authorityFile: pair.sites[1].authorityFile, tokens: ["bob": token],
                container: pair.sites[1].container)
            let bob = try await ShareClient(site, "bob")
            #expect(bob.name != world.bob.name)
            #expect(try await bob.listedZones() == [])
            #expect(try await bob.fedZones() == [])
            for part in [Part.administrator, .invitedAddress, .asked] {
                let link = try await world.share(part).link
                #expect(try await bob.ask(ShareRequests.accept(link)).failureCodes == [.unknownItem], "\(part)")
                #expect(try await bob.readingFails(in: world.zone(part)) == .zoneNotFound, "\(part)")
                #expect(try await world.traces(part) == 0, "\(part)")
            }
            // Whom alice invites now is the new one.
            let tag = try #require(try await world.alice.shareRecord(of: Part.administrator.rawValue)).tag
            let people = [ShareRequests.participant(1), ShareRequests.participant(9, named: bob.name)]
            let invitation = ShareRequests.share(
                Part.administrator.rawValue, with: people, tag: tag, world.alice.stamp())
            try await world.alice.succeed(.modifyRecords(invitation))
            try await bob.succeed(ShareRequests.accept(try await world.share(.administrator).link))
            #expect(try await bob.readingFails(in: world.zone(.administrator)) == nil)
        }
    }

    // MARK: An owner

    @Test func `R-863, R-327: an owner's zones end for all who see them, and links and requests lead nowhere`()
        async throws
    {
        try await ServerPair.with { pair in
            let world = try await World(pair)
            let (alice, bob, carol) = (world.alice, world.bob, world.carol)
            for part in [Part.administrator, .joined, .asked] { try await world.make(part) }
            var person = ShareRequests.participant(7)
            person.byLink = true
            let share = try #require(try await alice.shareRecord(of: Part.asked.rawValue))
            let people = [ShareRequests.participant(1), person]
            let save = ShareRequests.share(Part.asked.rawValue, with: people, tag: share.tag, alice.stamp())
            try await alice.succeed(.modifyRecords(save))
            let untaken = try await world.share(.asked).participants.map(\.link).filter { !$0.isEmpty }
            let links = [share.share.link, try await world.share(.joined).link] + untaken
            #expect(links.count == 3 && links.allSatisfy { !$0.isEmpty })
            guard case .fetchDatabaseChanges(let before)? = try await bob.ask(ShareRequests.sharedFeed()).answer else {
                throw NeverHappened(description: "no feed")
            }
            #expect(Set(before.changed.map(\.name)) == [Part.administrator.rawValue, Part.joined.rawValue])
            try await bob.succeed(ShareRequests.subscribeToShared())
            let pushCount = bob.pushes.count

            #expect(try await pair.admin("accounts", "delete", "alice", "--yes").status == 0)
            try await eventually("participants hear of it") { bob.pushes.count > pushCount }
            try await eventually("her sessions are closed") { alice.raw.isClosed }
            let feed = try await bob.ask(ShareRequests.sharedFeed(after: before.token)).answer
            guard case .fetchDatabaseChanges(let after)? = feed else { throw NeverHappened(description: "no feed") }
            #expect(Set(after.ended.map(\.zone.name)) == [Part.administrator.rawValue, Part.joined.rawValue])
            #expect(after.ended.allSatisfy { $0.reason == .deleted } && after.changed.isEmpty)
            for part in [Part.administrator, .joined, .asked] {
                for guest in [bob, carol] {
                    #expect(try await guest.readingFails(in: world.zone(part)) == .zoneNotFound, "\(part)")
                }
            }
            #expect(try await bob.listedZones() == [])
            #expect(try await bob.fedZones() == [])
            for link in links {
                for request in [ShareRequests.accept(link), ShareRequests.metadata(link)] {
                    #expect(try await bob.ask(request).failureCodes == [.unknownItem])
                }
                var asking = WireRequestShareAccess()
                asking.links = [link]
                #expect(try await bob.ask(.requestShareAccess(asking)).failureCodes == [])
            }
            let tables = ["share", "share_participant", "share_requester", "share_link", "share_link_target"]
            for table in tables {
                #expect(try !world.isStored("SELECT FROM \(table)"), "\(table)")
            }
        }
    }
}
