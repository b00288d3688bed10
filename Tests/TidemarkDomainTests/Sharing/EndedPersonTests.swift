// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Somebody whose account ends, in the share of somebody else.
@Suite struct EndedPersonTests {
    private static let address = "dave@example.org"

    private func invitation(_ number: UInt64, _ address: String) -> ParticipantSave {
        ParticipantSave(
            id: ParticipantID(high: 7, low: number), person: .address(address), role: .privateUser,
            permission: .readOnly)
    }

    /// Bob administers and carol takes part. Dave is invited by his address, and erin by another one.
    private func sharedZone() -> TestZone {
        var zone = TestZone()
        zone.save(save("note"))
        zone.share(with: [
            guest(bob, .readWrite, .administrator), guest(carol), invitation(1, Self.address),
            invitation(2, "erin@example.org"),
        ])
        for user in [bob, carol] { #expect(zone.accept(user) == nil) }
        return zone
    }

    private func answer(
        _ zone: inout TestZone, allowing isAllowed: Bool? = nil, blocking blocked: Set<UserID> = []
    ) -> [FailureReason?]? {
        let tag = zone.livingShareTag
        let share = ShareSave(
            tag: tag, participants: nil, allowsRequests: isAllowed, answers: AccessAnswers(blocked: blocked))
        let save = RecordSave(
            name: Share.zoneWideName, type: Share.recordType, tag: tag, fields: FieldMap(), parent: .unchanged,
            share: share)
        return zone.ask(alice, save)
    }

    private func rows(_ zone: TestZone) -> [Participant] {
        zone.sharing.participants.values.flatMap { $0.values }
    }

    @Test
    func `R-992: whose account ends takes part no more, in a new version of the share, and nothing of them is left`()
        throws
    {
        for user in [bob, carol] {
            var zone = sharedZone()
            let other = user == bob ? carol : bob
            zone.ask(user, save("theirs"))
            let before = try #require(zone.living(Share.zoneWideName))
            let person = EndedPerson(users: [user, UserID(99)])
            let changes = try #require(try zone.act(.forget(person)).get().changes)
            #expect(changes.records.map(\.name) == [Share.zoneWideName])
            let after = try #require(zone.living(Share.zoneWideName))
            #expect(after.changeNumber > before.changeNumber && after.fields == before.fields)
            #expect(zone.permission(user) == [] && zone.permission(other) == .all)
            #expect(!rows(zone).contains { $0.user == user })
            #expect(zone.ask(user, save("late")) == [.zoneNotFound])
            // What they made is the owner's, and keeps who made it.
            #expect(zone.living("theirs")?.createdBy == user)
            #expect(try zone.act(.forget(person)).get().changes == nil, "once more")
            #expect(zone.living(Share.zoneWideName)?.changeNumber == after.changeNumber)
        }
    }

    @Test func `R-992: invitations of the account's addresses lapse, and nobody else's`() throws {
        var zone = sharedZone()
        let person = EndedPerson(users: [dave], addresses: [Self.address])
        #expect(try zone.act(.forget(person)).get().changes != nil)
        #expect(rows(zone).compactMap(\.address) == ["erin@example.org"])
        // Somebody else gets the address later, also in an account of the same name.
        let visitor = ShareVisitor(user: erin, addresses: [Self.address])
        let late = zone.act(.accept(visitor, as: ParticipantID(high: 8, low: 8)))
        #expect(throws: FailureReason.shareUnknown) { try late.get() }
        #expect(zone.permission(bob) == .all)
    }

    @Test func `R-992: who accepted with an address keeps their part when another account ends that has it now`() throws
    {
        var zone = sharedZone()
        let visitor = ShareVisitor(user: dave, addresses: [Self.address])
        #expect(throws: Never.self) { try zone.act(.accept(visitor, as: ParticipantID(high: 8, low: 8))).get() }
        let other = EndedPerson(users: [erin], addresses: [Self.address])
        #expect(try zone.act(.forget(other)).get().changes == nil)
        #expect(zone.permission(dave) == .read)
        #expect(try zone.act(.forget(EndedPerson(users: [dave]))).get().changes != nil)
        #expect(zone.permission(dave) == [] && !rows(zone).contains { $0.address == Self.address })
    }

    @Test func `R-992: who had asked for access waits no more, and who was blocked is so no more`() throws {
        for isBlocked in [false, true] {
            var zone = sharedZone()
            #expect(answer(&zone, allowing: true) == [nil])
            if isBlocked {
                #expect(answer(&zone, blocking: [erin]) == [nil])
            } else {
                let visitor = ShareVisitor(user: erin, secret: zone.sharing.secret ?? [])
                #expect(try zone.act(.requestAccess(visitor)).get().changes != nil)
            }
            #expect(zone.sharing.requests.values.flatMap(\.keys) == [erin])
            #expect(try zone.act(.forget(EndedPerson(users: [erin]))).get().changes != nil)
            #expect(zone.sharing.requests.values.flatMap(\.keys) == [])
            #expect(try zone.act(.forget(EndedPerson(users: [erin]))).get().changes == nil)
        }
    }

    @Test func `R-992: where there is nothing of somebody, nothing is written`() throws {
        let stranger = EndedPerson(users: [erin], addresses: ["nobody@example.org"])
        var zones = [TestZone(), sharedZone(), sharedZone(), sharedZone()]
        zones[2].act(.end)
        zones[3].delete(for: .deleted)
        for index in zones.indices {
            let before = zones[index].records
            #expect(try zones[index].act(.forget(stranger)).get().changes == nil)
            #expect(zones[index].records == before)
        }
        // The share has ended, and grants nothing.
        #expect(try zones[2].act(.forget(EndedPerson(users: [bob]))).get().changes == nil)
        // Who has left has a row that grants nothing, and no version of the share is made for it.
        var left = sharedZone()
        #expect(try left.act(.leave(bob)).get().changes != nil)
        #expect(try left.act(.forget(EndedPerson(users: [bob]))).get().changes == nil)
    }
}
