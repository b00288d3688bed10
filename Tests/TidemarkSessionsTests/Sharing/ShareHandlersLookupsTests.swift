// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkWire

/// Lookups of people at a server whose operator has turned off what they tell.
@Suite struct ShareHandlersLookupsTests {
    private static let email = "bob@example.org"
    private static let phone = "+3545550100"

    private func lookUp(
        _ lookups: [(user: String, email: String, phone: String)], by client: TestClient
    ) throws -> [WireParticipantLookupResult] {
        var request = WireFetchShareParticipants()
        request.lookups = lookups.map { one in
            var lookup = WireParticipantLookup()
            (lookup.user, lookup.email, lookup.phone) = one
            return lookup
        }
        let answer = try client.ask(.fetchShareParticipants(request))
        guard case .fetchShareParticipants(let found)? = answer else { throw SessionWorld.Unexpected(answer) }
        return found.results
    }

    private func world(tellsAccounts: Bool) throws -> SessionWorld {
        let world = SessionWorld { $0.tellsAccounts = tellsAccounts }
        #expect(world.database.addAddress(Self.email, account: "bob"))
        #expect(world.database.addAddress(Self.phone, account: "bob"))
        // An address is found for who has been in the container.
        _ = try world.enter("bob", device: 1)
        return world
    }

    @Test(arguments: [true, false])
    func `R-314, R-996: an address that has an account is answered as one that has none, if the operator says so`(
        _ tellsAccounts: Bool
    ) throws {
        let world = try world(tellsAccounts: tellsAccounts)
        let alice = try world.enter("alice", device: 1)
        let known = try lookUp([("", Self.email, ""), ("", "", Self.phone)], by: alice)
        #expect(known.map(\.person.hasAccount) == [tellsAccounts, tellsAccounts])
        let unknown = try lookUp([("", "nobody@example.org", ""), ("", "", "+3545550199")], by: alice)
        #expect(unknown.map(\.person.hasAccount) == [false, false])
        #expect((known + unknown).allSatisfy { $0.failure.code == .unspecified })
        // Not by one bit.
        if !tellsAccounts { #expect(known == unknown) }
    }

    @Test func `R-310, R-996: record names are told as ever, because nobody can guess them`() throws {
        let world = try world(tellsAccounts: false)
        let pair = try SharingPair(world)
        let found = try lookUp(
            [(pair.zone.owner, "", ""), ("_nobody", "", ""), ("", Self.email, "")], by: pair.bob)
        #expect(found.map(\.person.hasAccount) == [true, false, false])
        #expect(found.map(\.failure.code) == [.unspecified, .unknownItem, .unspecified])
    }

    @Test func `R-775, R-996: an account looks up as many addresses as ever`() throws {
        let world = try world(tellsAccounts: false)
        let alice = try world.enter("alice", device: 1)
        var request = WireFetchShareParticipants()
        request.lookups = (0..<60).map { number in
            var lookup = WireParticipantLookup()
            lookup.email = "\(number)@example.org"
            return lookup
        }
        #expect(try alice.ask(.fetchShareParticipants(request))?.code == nil)
        request.lookups = [request.lookups[0]]
        #expect(try alice.ask(.fetchShareParticipants(request))?.code == .requestRateLimited)
    }

    @Test func `R-314, R-976, R-996: an invitation by address opens as ever, and to nobody else`() throws {
        let world = try world(tellsAccounts: false)
        world.issue("carol")
        let alice = try world.enter("alice", device: 1)
        try alice.makeZone("notes")
        var person = ShareRequests.participant(1)
        person.email = Self.email
        let answer = try alice.ask(.modifyRecords(ShareRequests.share("notes", with: [person], alice.stamp())))
        guard case .modifyRecords(let records)? = answer,
            case .saved(let saved)? = records.zones.first?.saves.first?.result
        else { throw SessionWorld.Unexpected(answer) }
        let invited = saved.record.share.participants.dropFirst()
        #expect(invited.map(\.email) == [Self.email] && invited.map(\.user) == [""])
        let link = saved.record.share.link
        let carol = try world.enter("carol", device: 1)
        #expect(try carol.accept(link).failure.code == .unknownItem)
        let bob = try world.enter("bob", device: 2)
        #expect(try bob.join(link).name == "notes")
    }
}
