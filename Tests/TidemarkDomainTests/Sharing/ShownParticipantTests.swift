// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// What each viewer sees of the participants.
@Suite struct ShownParticipantTests {
    private func guest(
        _ person: InvitedPerson, _ zone: inout SharedTestZone, role: ParticipantRole = .privateUser
    ) -> ParticipantSave {
        ParticipantSave(id: zone.newID(), person: person, role: role)
    }

    /// bob administers, carol has accepted by an address, dave and somebody with an address are invited.
    private func sharedZone() -> SharedTestZone {
        var zone = SharedTestZone()
        zone.invite(
            guest(.user(bob), &zone, role: .administrator), guest(.address("c@x"), &zone), guest(.user(dave), &zone),
            guest(.address("e@x"), &zone))
        zone.accept(bob)
        zone.accept(ShareVisitor(user: carol, addresses: ["c@x"]))
        return zone
    }

    private func users(_ shown: [ShownParticipant]) -> [UserID?] { shown.map(\.user) }

    @Test func `R-312: owner and administrators see everybody, with addresses`() {
        let zone = sharedZone()
        for viewer in [alice, bob] {
            let shown = zone.shown(to: viewer)
            #expect(users(shown) == [alice, bob, carol, dave, nil])
            #expect(shown.map(\.address) == [nil, nil, "c@x", nil, "e@x"])
            #expect(shown.map(\.isViewer) == [viewer == alice, viewer == bob, false, false, false])
            #expect(shown.map(\.status) == [.accepted, .accepted, .accepted, .pending, .pending])
        }
        let owner = zone.shown(to: alice).first
        #expect(owner?.role == .owner && owner?.permission == .readWrite && owner?.id == .owner)
    }

    @Test func `R-312: a private user sees who has accepted, and no address`() {
        let zone = sharedZone()
        let shown = zone.shown(to: carol)
        #expect(users(shown) == [alice, bob, carol] && shown.allSatisfy { $0.address == nil })
        #expect(shown.map(\.isViewer) == [false, false, true] && shown.last?.permission == .readOnly)
    }

    @Test func `R-312: public users, and who is only invited, see the owner and themselves`() {
        var zone = sharedZone()
        #expect(users(zone.shown(to: dave)) == [alice, dave] && zone.shown(to: dave).last?.isViewer == true)
        let invited = zone.livingRows.last?.id
        let byAddress = zone.shown(to: erin, invitedAs: invited)
        #expect(users(byAddress) == [alice, nil] && byAddress.last?.isViewer == true && byAddress.last?.address == nil)
        // An administrator sees more only once they have accepted.
        zone.invite(guest(.user(erin), &zone, role: .administrator))
        #expect(users(zone.shown(to: erin)) == [alice, erin])
        zone.change(public: .readWrite)
        zone.accept(dave, hasURL: true)
        zone.accept(erin, hasURL: true)
        let shown = zone.shown(to: dave)
        #expect(users(shown) == [alice, dave] && shown.last?.permission == .readWrite)
        #expect(shown.last?.role == .publicUser)
        #expect(Set(users(zone.shown(to: carol))) == [alice, bob, carol, dave, erin])
        // Who may join sees whose share it is.
        #expect(users(zone.shown(to: UserID(6))) == [alice])
    }

    @Test func `R-779: whoever sees the owner and those who have accepted sees their names, and nobody else's`()
        throws
    {
        let zone = sharedZone()
        let (sharing, number) = (try #require(zone.sharing), try #require(zone.share?.number))
        // As if a store had read more names than it should.
        let names = [alice: "Alice", bob: "Bob", carol: "Carol", dave: "Dave", erin: "Erin"].compactMapValues {
            PersonName(given: $0, family: "")
        }
        let named = ZoneSharing(
            owner: alice, shares: Array(sharing.shares.values),
            participants: sharing.participants.mapValues { Array($0.values) }, secret: sharing.secret,
            personNames: names)
        func shown(to viewer: UserID, invitedAs id: ParticipantID? = nil) -> [String?] {
            named.participants(of: number, shownTo: viewer, invitedAs: id).map { $0.name?.given }
        }
        for viewer in [alice, bob] { #expect(shown(to: viewer) == ["Alice", "Bob", "Carol", nil, nil]) }
        #expect(shown(to: carol) == ["Alice", "Bob", "Carol"])
        #expect(shown(to: dave) == ["Alice", nil], "not even their own, as long as they are only invited")
        #expect(shown(to: erin, invitedAs: zone.livingRows.last?.id) == ["Alice", nil])
        #expect(shown(to: erin) == [])
        #expect(zone.shown(to: alice).allSatisfy { $0.name == nil }, "without names there are none")
        let (bare, full) = (
            sharing.share(named: Share.zoneWideName, shownTo: alice),
            named.share(named: Share.zoneWideName, shownTo: alice)
        )
        #expect(full?.byteCount == bare.map { $0.byteCount + "AliceBobCarol".utf8.count }, "R-155")
    }

    @Test func `R-312, R-316: all others see nobody, whatever they were`() {
        var zone = sharedZone()
        #expect(zone.shown(to: erin).isEmpty)
        let former = zone.row(bob)?.id
        zone.change(participants: [])
        for viewer in [bob, carol, dave] {
            #expect(zone.shown(to: viewer).isEmpty && zone.shown(to: viewer, invitedAs: former).isEmpty)
        }
        #expect(users(zone.shown(to: alice)) == [alice], "who was removed is not shown")
        let number = zone.share?.number ?? ShareNumber(0)
        zone.endShare()
        #expect(zone.sharing?.participants(of: number, shownTo: alice) == [])
    }
}
