// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Two accounts in one zone, by their requests.
@Suite struct ShareHandlersTests {
    @Test func `R-320, R-324: both see the zone, each other's records, and who made them`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        #expect(pair.zone.name == "notes" && pair.zone.owner.hasPrefix("_"))
        #expect(try pair.bob.save("b", in: pair.zone) == nil)

        let page = try pair.bob.changes(of: pair.zone)
        let records = page.changes.map(\.record)
        #expect(records.map(\.name) == ["a", Share.zoneWideName, "b"])
        #expect(records.map(\.createdBy) == [pair.zone.owner, pair.zone.owner, ""])
        let shown = records[1].share
        #expect(shown.link == pair.share.share.link)
        #expect(shown.participants.map(\.role) == [.owner, .publicUser])
        #expect(shown.participants.map(\.user) == [pair.zone.owner, ""])
        #expect(shown.participants.map(\.isCaller) == [false, true])

        let own = try pair.alice.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        guard case .fetchZoneChanges(let hers)? = own else { throw SessionWorld.Unexpected(own) }
        let makers = hers.changes.map(\.record.createdBy)
        #expect(makers[0...1] == ["", ""] && makers[2].hasPrefix("_") && makers[2] != pair.zone.owner)
        #expect(hers.changes[1].record.share.participants.map(\.user) == ["", makers[2]])

        // Tokens are each one's own.
        #expect(throws: SessionWorld.Unexpected.self) { try pair.bob.changes(of: pair.zone, token: hers.token) }
        #expect(try pair.bob.changes(of: pair.zone, token: page.token).changes.isEmpty)
    }

    @Test func `R-022, R-034, R-225: the zone is in the list and in the feed of the shared database, with its owner`()
        throws
    {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        #expect(try pair.bob.sharedChanges().changed == [pair.zone])
        for named in [[], [pair.zone]] {
            var request = WireFetchZones()
            request.database = .shared
            request.zones = named
            let answer = try pair.bob.ask(.fetchZones(request))
            guard case .fetchZones(let zones)? = answer else { throw SessionWorld.Unexpected(answer) }
            #expect(zones.zones.map(\.zone.id) == [pair.zone] && zones.zones[0].zone.isShared)
        }
        var request = WireFetchZones()
        request.database = .private
        let answer = try pair.alice.ask(.fetchZones(request))
        guard case .fetchZones(let own)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(own.zones.map(\.zone.isShared) == [false, true])
        //
        #expect(try pair.alice.sharedChanges().changed.isEmpty)
    }

    @Test func `R-041, R-174, R-300: a query for shares finds them, as who asks may see them`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        var request = WireQueryRecords()
        request.query.recordType = Share.recordType
        for (client, scope, zone) in [(pair.alice, .private, nil), (pair.bob, .shared, pair.zone)]
            as [(TestClient, WireDatabaseScope, WireZoneID?)]
        {
            request.database = scope
            if let zone { request.query.zone = zone }
            let answer = try client.ask(.queryRecords(request))
            guard case .queryRecords(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
            #expect(page.matches.map(\.record.name) == [Share.zoneWideName])
            #expect(page.matches.first?.record.share.participants.map(\.role) == [.owner, .publicUser])
        }
    }

    @Test func `R-329: who may only read cannot write`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world, .readOnly)
        #expect(try pair.bob.save("b", in: pair.zone) == .permissionFailure)
        #expect(try pair.bob.changes(of: pair.zone).changes.count == 2)
    }

    @Test func `R-328, I-5: whoever is removed finds no zone in any answer, and is told of its end once`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        let before = try pair.bob.sharedChanges()
        var records = WireFetchRecords()
        records.database = .shared
        var names = WireZoneRecordNames()
        names.zone = pair.zone
        names.names = ["a", Share.zoneWideName]
        records.zones = [names]
        var query = WireQueryRecords()
        query.database = .shared
        query.query.recordType = "Note"
        query.query.zone = pair.zone
        var changes = TestClient.zoneChanges("notes")
        changes.database = .shared
        changes.zone = pair.zone
        var keys = WireFetchKeys()
        keys.database = .shared
        keys.zones = [pair.zone]
        var zones = WireFetchZones()
        zones.database = .shared
        zones.zones = [pair.zone]
        var inventory = WireVerifyZone()
        inventory.database = .shared
        inventory.zone = pair.zone

        func codes() throws -> [WireErrorCode] {
            var codes: [WireErrorCode] = []
            for request in [
                .fetchRecords(records), .queryRecords(query), .fetchZoneChanges(changes), .fetchKeys(keys),
                .fetchZones(zones), .verifyZone(inventory),
            ]
                as [WireClientEnvelope.OneOfRequest]
            {
                switch try pair.bob.ask(request) {
                case .failure(let failure)?: codes.append(failure.code)
                case .fetchRecords(let answer)?: codes += answer.results.map(\.failure.code)
                case .fetchKeys(let answer)?: codes += answer.zones.map(\.failure.code)
                case .fetchZones(let answer)?: codes += answer.zones.map(\.failure.code)
                default: codes.append(.unspecified)
                }
            }
            return codes
        }
        #expect(try codes() == Array(repeating: .unspecified, count: 7))
        let ended = try pair.alice.share("notes", .noAccess, tag: try pair.newestTag())
        #expect(ended.share.participants.map(\.role) == [.owner])
        #expect(try codes() == Array(repeating: .zoneNotFound, count: 7))
        #expect(try pair.bob.save("b", in: pair.zone) == .zoneNotFound)
        let after = try pair.bob.sharedChanges(token: before.token)
        #expect(after.ended.map(\.zone) == [pair.zone] && after.changed.isEmpty)
        #expect(try pair.bob.sharedChanges(token: after.token).ended.isEmpty)
        #expect(try pair.bob.accept(pair.share.share.link).failure.code == .unknownItem)
    }

    @Test func `R-328, I-5: the page that comes with the list is the zone's own, and ends with the access`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        let feed = try pair.bob.sharedChanges().token
        let alone = try pair.bob.changes(of: pair.zone)
        let both = try pair.bob.sharedChanges(token: feed, then: pair.zone)
        #expect(both.changed.isEmpty && both.hasThen && both.then.token == alone.token)
        #expect(both.then.changes.map(\.record.name) == ["a", Share.zoneWideName])
        let shown = both.then.changes[1].record.share
        #expect(shown.participants.map(\.user) == [pair.zone.owner, ""])
        #expect(shown.participants.map(\.isCaller) == [false, true])

        try pair.alice.save("b", in: "notes")
        let next = try pair.bob.sharedChanges(token: feed, then: pair.zone, after: alone.token)
        #expect(next.changed == [pair.zone])
        #expect(next.then.changes.map(\.record.name) == ["b"])
        #expect(next.then.changes.map(\.record.createdBy) == [pair.zone.owner])
        // The owner's token is not his.
        let own = try pair.alice.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        guard case .fetchZoneChanges(let hers)? = own else { throw SessionWorld.Unexpected(own) }
        let foreign = try pair.bob.sharedChanges(token: feed, then: pair.zone, after: hers.token)
        #expect(foreign.changed == [pair.zone] && !foreign.hasThen)

        try pair.alice.share("notes", .noAccess, tag: try pair.newestTag())
        for token in [[], alone.token, next.then.token] {
            let ended = try pair.bob.sharedChanges(token: next.token, then: pair.zone, after: token)
            #expect(ended.ended.map(\.zone) == [pair.zone] && ended.changed.isEmpty && !ended.hasThen)
        }
    }

    @Test(arguments: [false, true])
    func `R-225: a device that did not hear of the end is told of it with the zone that is shared again`(
        isHeardElsewhere: Bool
    ) throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        let first = try pair.bob.sharedChanges()
        #expect(first.changed == [pair.zone] && first.ended.isEmpty)
        for _ in 1...2 {
            let before = try pair.bob.sharedChanges().token
            try pair.bob.leave(pair.zone)
            if isHeardElsewhere { #expect(try pair.bob.sharedChanges(token: before).ended.count == 1) }
            #expect(try pair.bob.join(pair.share.share.link) == pair.zone)
            let page = try pair.bob.sharedChanges(token: before)
            #expect(page.ended.map(\.zone) == [pair.zone] && page.changed == [pair.zone])
            let next = try pair.bob.sharedChanges(token: page.token)
            #expect(next.ended.isEmpty && next.changed.isEmpty)
        }
        #expect(try pair.bob.sharedChanges(token: first.token).ended.map(\.zone) == [pair.zone], "the last end, once")
        #expect(try pair.bob.sharedChanges().ended.isEmpty, "R-204")
    }

    @Test func `R-032, R-330: deleting the zone, or its CKShare record, leaves it`() throws {
        for deletesZone in [true, false] {
            let world = SessionWorld()
            let pair = try SharingPair(world)
            for _ in 1...2 {
                if deletesZone {
                    var request = WireModifyZones()
                    request.database = .shared
                    request.stamp = pair.bob.stamp()
                    request.deletes = [pair.zone]
                    let answer = try pair.bob.ask(.modifyZones(request))
                    guard case .modifyZones(let zones)? = answer else { throw SessionWorld.Unexpected(answer) }
                    #expect(zones.deletes.map(\.failure.code) == [.unspecified])
                } else {
                    var part = WireZoneModifications()
                    part.zone = pair.zone
                    part.deletes = [Share.zoneWideName]
                    var request = WireModifyRecords()
                    request.database = .shared
                    request.stamp = pair.bob.stamp()
                    request.zones = [part]
                    let answer = try pair.bob.ask(.modifyRecords(request))
                    guard case .modifyRecords(let records)? = answer else { throw SessionWorld.Unexpected(answer) }
                    #expect(records.zones[0].deletes.map(\.failure.code) == [.unspecified])
                }
                #expect(throws: SessionWorld.Unexpected.self) { try pair.bob.changes(of: pair.zone) }
            }
            let page = try pair.alice.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
            guard case .fetchZoneChanges(let hers)? = page else { throw SessionWorld.Unexpected(page) }
            #expect(hers.changes.map(\.record.name) == ["a", Share.zoneWideName])
        }
    }

    @Test func `R-314, R-315, R-317: people are looked up, links are looked at, and invitations are declined`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        world.issue("carol")
        let carol = try world.enter("carol", device: 1)
        var metadata = WireFetchShareMetadata()
        metadata.links = [pair.share.share.link, "no link"]
        let found = try carol.ask(.fetchShareMetadata(metadata))
        guard case .fetchShareMetadata(let results)? = found else { throw SessionWorld.Unexpected(found) }
        #expect(results.results.map(\.failure.code) == [.unspecified, .unknownItem])
        #expect(results.results[0].metadata.zone == pair.zone)
        #expect(results.results[0].metadata.status == .pending && results.results[0].metadata.role == .publicUser)
        #expect(results.results[0].metadata.share.share.participants.map(\.role) == [.owner])
        #expect(try pair.alice.accept(pair.share.share.link).failure.code == .invalidArguments)

        for link in [pair.share.share.link, "00", "no link"] {
            #expect(try carol.accept(link, declines: true).result == .metadata(WireShareMetadata()))
        }
        #expect(try pair.bob.accept(pair.share.share.link, declines: true).result == .metadata(WireShareMetadata()))
        #expect(try pair.bob.sharedChanges().changed.isEmpty)

        var lookups = WireFetchShareParticipants()
        for (user, email) in [(pair.zone.owner, ""), ("_nobody", ""), ("", "nobody@example.org")] {
            var lookup = WireParticipantLookup()
            (lookup.user, lookup.email) = (user, email)
            lookups.lookups.append(lookup)
        }
        let people = try carol.ask(.fetchShareParticipants(lookups))
        guard case .fetchShareParticipants(let persons)? = people else { throw SessionWorld.Unexpected(people) }
        #expect(persons.results.map(\.person.hasAccount) == [true, false, false])
        #expect(persons.results.map(\.failure.code) == [.unspecified, .unknownItem, .unspecified])
        let nobody = try world.enter("")
        #expect(try nobody.ask(.fetchShareMetadata(metadata))?.code == .notAuthenticated)
    }

    @Test func `R-779: a share has the names of people as they are now, for whoever sees them in it`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        func names(_ record: WireRecord?) -> [String] {
            (record?.share.participants ?? []).map { "\($0.givenName) \($0.familyName)" }
        }
        func shared() throws -> WireRecord? {
            try pair.bob.changes(of: pair.zone).changes.map(\.record).first { $0.name == Share.zoneWideName }
        }
        #expect(try names(shared()) == [" ", " "])
        world.database.setPersonName(PersonName(given: "Alice", family: "Liddell"), account: "alice")
        world.database.setPersonName(PersonName(given: "Bob", family: ""), account: "bob")
        #expect(try names(shared()) == ["Alice Liddell", "Bob "])
        // With the answer to a save, and by name.
        let saved = try pair.alice.share("notes", .readOnly, tag: try pair.newestTag())
        #expect(names(saved) == ["Alice Liddell", "Bob "])
        world.database.setPersonName(PersonName(given: "Robert", family: "B"), account: "bob")
        let fetched = try pair.alice.ask(ShareRequests.records([Share.zoneWideName], in: ShareRequests.zone("notes")))
        guard case .fetchRecords(let records)? = fetched else { throw SessionWorld.Unexpected(fetched) }
        #expect(names(records.results.first?.record) == ["Alice Liddell", "Robert B"])

        // Who has the link sees whose it is.
        world.issue("carol")
        let carol = try world.enter("carol", device: 1)
        let found = try carol.ask(ShareRequests.metadata(pair.share.share.link))
        guard case .fetchShareMetadata(let answer)? = found else { throw SessionWorld.Unexpected(found) }
        #expect(answer.results.map(\.metadata.owner.givenName) == ["Alice"])
        #expect(names(answer.results.first?.metadata.share) == ["Alice Liddell"])
        let accepted = try carol.accept(pair.share.share.link)
        #expect(names(accepted.metadata.share) == ["Alice Liddell", " "])
        world.database.setPersonName(nil, account: "alice")
        #expect(try names(shared()) == [" ", "Robert B"])
    }

    @Test
    func `R-972: an account asks for access to 20 links a minute, on all connections, and is told when it may go on`()
        throws
    {
        let world = SessionWorld()
        let clients = [try world.enter("alice", device: 1), try world.enter("alice", device: 2)]
        func ask(_ count: Int, by client: TestClient) throws -> WireServerEnvelope.OneOfAnswer? {
            var request = WireRequestShareAccess()
            request.links = (0..<count).map { "0\($0 % 10)" }
            let id = client.post(.requestShareAccess(request))
            world.scheduler.runUntilIdle()
            // It comes after a fixed time, unless it is refused as a whole.
            world.scheduler.advance(by: Limits().accessRequestStep)
            return client.answer(to: id)
        }
        #expect(try ask(21, by: clients[0])?.code == .limitExceeded)
        let asked = try ask(15, by: clients[0])
        guard case .requestShareAccess(let answer)? = asked else { throw SessionWorld.Unexpected(asked) }
        #expect(answer.results.count == 15 && answer.results.allSatisfy { !$0.hasFailure })
        let refused = try ask(6, by: clients[1])
        guard case .failure(let failure)? = refused else { throw SessionWorld.Unexpected(refused) }
        #expect(failure.code == .requestRateLimited && failure.retryAfterSeconds > 50)
        #expect(try ask(5, by: clients[1])?.code == nil, "these fit")
        world.scheduler.advance(by: .seconds(60))
        #expect(try ask(20, by: clients[0])?.code == nil)
    }

    @Test func `R-775: an account looks up 60 addresses a minute, on all connections, and is told when it may go on`()
        throws
    {
        let world = SessionWorld()
        let clients = [try world.enter("alice", device: 1), try world.enter("alice", device: 2)]
        func lookUp(_ count: Int, by client: TestClient, names: Int = 0) throws -> WireServerEnvelope.OneOfAnswer? {
            var request = WireFetchShareParticipants()
            for number in 0..<count + names {
                var lookup = WireParticipantLookup()
                if number < count { lookup.email = "\(number)@example.org" } else { lookup.user = "_nobody" }
                request.lookups.append(lookup)
            }
            return try client.ask(.fetchShareParticipants(request))
        }
        #expect(try lookUp(61, by: clients[0])?.code == .limitExceeded)
        #expect(try lookUp(40, by: clients[0])?.code == nil && lookUp(15, by: clients[1])?.code == nil)
        let refused = try lookUp(6, by: clients[1])
        guard case .failure(let failure)? = refused else { throw SessionWorld.Unexpected(refused) }
        #expect(failure.code == .requestRateLimited && failure.retryAfterSeconds > 50)
        #expect(try lookUp(5, by: clients[1])?.code == nil, "these fit")
        #expect(try lookUp(0, by: clients[0], names: 100)?.code == nil, "names cannot be guessed")
        #expect(try lookUp(1, by: world.enter("bob", device: 1))?.code == nil, "others are counted alone")
        world.scheduler.advance(by: .seconds(60))
        #expect(try lookUp(60, by: clients[0])?.code == nil)
    }
}
