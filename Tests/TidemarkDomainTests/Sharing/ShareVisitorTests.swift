// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

/// Accepting, declining and leaving.
@Suite struct ShareVisitorTests {
    private func guest(
        _ person: InvitedPerson, _ zone: inout SharedTestZone, _ permission: SharePermission = .readOnly,
        role: ParticipantRole = .privateUser
    ) -> ParticipantSave {
        ParticipantSave(id: zone.newID(), person: person, role: role, permission: permission)
    }

    @Test func `R-317: whoever is invited accepts, by name or by a verified address, and twice is as good as once`() {
        var zone = SharedTestZone()
        zone.invite(guest(.user(bob), &zone), guest(.address("c@x"), &zone, .readWrite))
        let number = zone.number
        #expect(zone.accept(bob) == nil && zone.permission(bob) == .read)
        #expect(zone.row(bob)?.acceptedNumber == number + 1 && zone.row(bob)?.status == .accepted)
        let carolsPhone = ShareVisitor(user: carol, addresses: ["other@x", "c@x"], secret: zone.secret)
        #expect(zone.accept(carolsPhone) == nil && zone.permission(carol) == .all)
        let before = zone.sharing
        #expect(zone.accept(bob) == nil && zone.accept(carolsPhone) == nil)
        // Also if the address is no longer hers.
        #expect(zone.accept(carol) == nil && zone.sharing == before, "nothing was written")
    }

    @Test func `R-317: the wrong account cannot accept, whatever it has`() {
        var zone = SharedTestZone()
        zone.invite(guest(.user(bob), &zone), guest(.address("c@x"), &zone))
        let before = zone.sharing
        let wrong = [
            ShareVisitor(user: dave), ShareVisitor(user: dave, secret: zone.secret), ShareVisitor(user: carol),
            ShareVisitor(user: carol, addresses: ["C@x", "c@y", ""], secret: zone.secret),
        ]
        for visitor in wrong { #expect(zone.accept(visitor) == .shareUnknown, "\(visitor)") }
        #expect(zone.sharing == before)
    }

    @Test func `R-316: a URL of an earlier zone of the name opens nothing, and ends nothing`() {
        for permission in [SharePermission.noAccess, .readWrite] {
            var zone = SharedTestZone()
            zone.invite(guest(.user(bob), &zone))
            if permission != .noAccess { zone.change(public: permission) }
            zone.accept(carol, hasURL: true)
            let before = zone.sharing
            for user in [alice, bob, carol, dave] {
                let visitor = ShareVisitor(user: user, secret: [7, 7])
                #expect(zone.sharing?.entry(of: visitor) == nil && zone.accept(visitor) == .shareUnknown)
                #expect(visitor.declining(in: zone.sharing, at: 99) == nil)
            }
            #expect(zone.sharing == before)
        }
    }

    @Test func `R-316, R-327: five kinds of no are one answer`() throws {
        var zone = SharedTestZone()
        zone.invite(guest(.user(bob), &zone))
        var answers: [FailureReason?] = []
        var entries: [Bool] = []
        func ask(_ zone: SharedTestZone, _ user: UserID) {
            var zone = zone
            let visitor = ShareVisitor(user: user, addresses: ["x@x"], secret: zone.secret)
            entries.append(zone.sharing?.entry(of: visitor) != nil)
            answers.append(zone.accept(visitor))
        }
        // Not invited.
        ask(zone, dave)
        // Removed, and has left.
        var removed = zone
        removed.accept(bob)
        removed.change(participants: [])
        ask(removed, bob)
        var left = zone
        left.accept(bob)
        left.leave(bob)
        ask(left, bob)
        // The share has ended, or there never was one.
        var ended = zone
        ended.accept(bob)
        ended.endShare()
        ask(ended, bob)
        ask(SharedTestZone(), bob)
        // The zone is gone.
        var gone = zone
        gone.deleteZone()
        ask(gone, bob)
        // The owner too finds nothing where nothing is.
        ask(ended, alice)
        #expect(answers == Array(repeating: .shareUnknown, count: 7) && entries == Array(repeating: false, count: 7))
        ask(zone, bob)
        #expect(answers.last == .some(nil) && entries.last == true, "and else there is something to find")
    }

    @Test func `R-319: owners do not accept their own shares`() {
        var zone = SharedTestZone()
        zone.change(public: .readWrite)
        #expect(zone.accept(alice) == .shareIsOwn && zone.accept(alice, hasURL: true) == .shareIsOwn)
        #expect(zone.livingRows.isEmpty)
    }

    @Test func `R-317: whoever has the URL of a public share joins it, and nobody without it does`() {
        var zone = SharedTestZone()
        zone.change(public: .readOnly)
        #expect(zone.accept(bob) == .shareUnknown)
        #expect(zone.accept(bob, hasURL: true) == nil && zone.permission(bob) == .read)
        #expect(zone.row(bob)?.role == .publicUser && zone.row(bob)?.acceptedNumber == zone.number)
        // Who was removed, or has left, is one of everybody.
        let id = zone.row(bob)?.id
        zone.leave(bob)
        #expect(zone.permission(bob) == [] && zone.accept(bob) == .shareUnknown)
        #expect(zone.accept(bob, hasURL: true) == nil && zone.row(bob)?.id == id && zone.livingRows.count == 1)
        #expect(zone.history(bob).viewNumber == zone.number)
    }

    @Test func `R-317: of several invitations the one by name counts, then the address that allows most`() {
        var zone = SharedTestZone()
        zone.invite(
            guest(.address("a@x"), &zone, .readOnly), guest(.address("b@x"), &zone, .readWrite),
            guest(.address("c@x"), &zone, .readWrite))
        var named = zone
        let visitor = ShareVisitor(user: bob, addresses: ["a@x", "b@x", "c@x"])
        zone.accept(visitor)
        #expect(zone.row(bob)?.address == "b@x" && zone.permission(bob) == .all)
        named.invite(guest(.user(bob), &named, .readOnly))
        named.accept(visitor)
        #expect(named.row(bob)?.address == nil && named.permission(bob) == .read)
        // Who leaves comes again by what is still open. There is one row of theirs all the time.
        for expected in ["b@x", "c@x", "a@x"] {
            named.leave(bob)
            #expect(named.accept(visitor) == nil && named.row(bob)?.address == expected)
            let rows = named.share.flatMap { named.sharing?.participants[$0.number] } ?? [:]
            #expect(rows.values.count { $0.user == bob } == 1)
        }
        named.leave(bob)
        #expect(named.accept(visitor) == .shareUnknown)
    }

    @Test func `R-330: a participant who leaves ends their own part alone, and again is no failure`() throws {
        var zone = SharedTestZone()
        zone.invite(guest(.user(bob), &zone, role: .administrator), guest(.user(carol), &zone))
        zone.accept(bob)
        zone.accept(carol)
        let share = try #require(zone.share?.number)
        let number = zone.number
        zone.leave(bob)
        #expect(zone.permission(bob) == [] && zone.permission(carol) == .read && zone.share?.number == share)
        #expect(zone.row(bob)?.status == .removed && zone.row(bob)?.endedNumber == number + 1)
        for user in [bob, dave, alice] {
            #expect(ShareVisitor(user: user).declining(in: zone.sharing, at: 99) == nil, "nothing to leave")
        }
        zone.endShare()
        #expect(ShareVisitor(user: carol).declining(in: zone.sharing, at: 99) == nil)
    }

    @Test func `R-330: who declines is no longer invited, and nobody learns whether they were`() {
        var zone = SharedTestZone()
        zone.invite(
            guest(.user(bob), &zone), guest(.address("b@x"), &zone), guest(.address("c@x"), &zone))
        let visitor = ShareVisitor(user: bob, addresses: ["b@x"])
        #expect(ShareVisitor(user: dave).declining(in: zone.sharing, at: 99) == nil)
        #expect(visitor.declining(in: nil, at: 99) == nil)
        zone.decline(visitor)
        #expect(zone.livingRows.map(\.address) == ["c@x"])
        #expect(visitor.declining(in: zone.sharing, at: 99) == nil)
        #expect(zone.accept(ShareVisitor(user: bob, addresses: ["b@x"])) == .shareUnknown)
        // Who takes part leaves by it.
        zone.accept(ShareVisitor(user: carol, addresses: ["c@x"]))
        zone.decline(ShareVisitor(user: carol))
        #expect(zone.permission(carol) == [] && zone.livingRows.isEmpty)
    }

    @Test func `R-315: what a visitor is told of themselves`() throws {
        var zone = SharedTestZone()
        zone.invite(guest(.user(bob), &zone, .readWrite, role: .administrator))
        func standing(_ user: UserID) -> String? {
            zone.sharing?.entry(of: ShareVisitor(user: user, secret: zone.secret)).map { met in
                let standing = met.entry.standing(in: met.share)
                return "\(standing.role) \(standing.status) \(standing.permission)"
            }
        }
        #expect(standing(alice) == "owner accepted readWrite" && standing(dave) == nil)
        #expect(standing(bob) == "administrator pending readWrite")
        zone.accept(bob)
        zone.change(public: .readOnly)
        #expect(standing(bob) == "administrator accepted readWrite" && standing(dave) == "publicUser pending readOnly")
        zone.accept(dave, hasURL: true)
        #expect(standing(dave) == "publicUser accepted readOnly")
    }

    @Test func `R-224: whatever changes who takes part gives the CKShare record a new version`() {
        var zone = SharedTestZone()
        var versions: Set<ChangeNumber?> = []
        var count = 0
        func look() {
            versions.insert(zone.shareVersion)
            count += 1
        }
        zone.invite(guest(.user(bob), &zone), guest(.user(carol), &zone))
        look()
        zone.accept(bob)
        look()
        zone.decline(ShareVisitor(user: carol))
        look()
        zone.change(public: .readOnly)
        look()
        zone.accept(dave, hasURL: true)
        look()
        zone.leave(dave)
        look()
        zone.change(public: .noAccess)
        look()
        #expect(versions.count == count && !versions.contains(nil))
    }
}
