// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

/// What a saved list makes of a share's participants.
@Suite struct ParticipantsPlanTests {
    private func guest(
        _ person: InvitedPerson, _ zone: inout SharedTestZone, _ permission: SharePermission = .readOnly,
        role: ParticipantRole = .privateUser
    ) -> ParticipantSave {
        ParticipantSave(id: zone.newID(), person: person, role: role, permission: permission)
    }

    /// bob has accepted, carol is invited.
    private func sharedZone() -> SharedTestZone {
        var zone = SharedTestZone()
        zone.invite(guest(.user(bob), &zone), guest(.user(carol), &zone))
        zone.accept(bob)
        return zone
    }

    private func users(_ zone: SharedTestZone) -> [UserID?] { zone.livingRows.map(\.user) }

    @Test func `R-308: as a share becomes public, invitations end, and whoever has accepted stays`() {
        for permission in [SharePermission.readOnly, .readWrite] {
            var zone = sharedZone()
            #expect(zone.change(public: permission) == nil)
            #expect(users(zone) == [bob] && zone.permission(bob) == .read)
            // The same if the client sends a list: with the invitation, without it, or without bob.
            var other = sharedZone()
            #expect(other.change(public: permission, participants: other.livingRows.map(\.saved)) == nil)
            #expect(users(other) == [bob])
            other = sharedZone()
            #expect(other.change(public: permission, participants: []) == nil)
            #expect(users(other) == [] && other.accept(carol) == .shareUnknown)
            #expect(other.accept(carol, hasURL: true) == nil)
        }
    }

    @Test func `R-308: as a share stops being public, everybody's part ends, and the owner's zone is as before`() {
        var zone = sharedZone()
        zone.change(public: .readWrite)
        zone.accept(dave, hasURL: true)
        #expect(zone.permission(dave) == .all && zone.permission(bob) == .read)
        let number = zone.number
        #expect(zone.change(public: .noAccess) == nil)
        for user in [bob, dave] {
            #expect(zone.permission(user) == [] && zone.row(user)?.endedNumber == number + 1)
            #expect(zone.history(user).canHaveSeen(number) && !zone.history(user).canHaveSeen(number + 1))
        }
        #expect(zone.livingRows.isEmpty && zone.permission(alice) == .all)
    }

    @Test func `R-308: between the two public permissions everybody stays, and public users follow`() {
        var zone = sharedZone()
        zone.change(public: .readOnly)
        zone.accept(dave, hasURL: true)
        for (permission, expected) in [(.readWrite, .all), (.readOnly, .read)] as [(SharePermission, Permissions)] {
            let rows = zone.livingRows
            #expect(zone.change(public: permission) == nil)
            #expect(zone.permission(dave) == expected && zone.permission(bob) == .read)
            #expect(zone.livingRows == rows, "no row of a participant is written")
        }
    }

    @Test func `R-308: whoever is in the list as a share stops being public is invited anew`() {
        var zone = sharedZone()
        zone.change(public: .readOnly)
        zone.accept(dave, hasURL: true)
        let rows = zone.livingRows
        let list = rows.map(\.saved) + [guest(.user(erin), &zone, .readWrite)]
        #expect(zone.change(public: .noAccess, participants: list) == nil)
        #expect(Set(users(zone)) == [bob, dave, erin])
        #expect(zone.livingRows.allSatisfy { $0.status == .pending && $0.role == .privateUser })
        for user in [bob, dave, erin] { #expect(zone.permission(user) == []) }
        // They keep their IDs, and have to accept.
        #expect(Set(rows.map(\.id)).isSubset(of: zone.livingRows.map(\.id)))
        #expect(zone.accept(dave) == nil && zone.permission(dave) == .read && zone.row(dave)?.role == .privateUser)
    }

    @Test func `R-309: in a public share nobody is added or removed, but permissions change`() {
        var zone = sharedZone()
        zone.change(public: .readOnly)
        zone.accept(dave, hasURL: true)
        let rows = zone.livingRows.map(\.saved)
        #expect(zone.change(participants: rows + [guest(.user(erin), &zone)]) == .participantsFixed)
        #expect(zone.change(participants: Array(rows.dropFirst())) == .participantsFixed)
        #expect(zone.change(participants: []) == .participantsFixed)
        #expect(zone.change(participants: rows) == nil)
        let promoted = rows.map { row in
            row.role == .publicUser
                ? row : ParticipantSave(id: row.id, role: .administrator, permission: .readWrite)
        }
        #expect(zone.change(participants: promoted) == nil && zone.permission(bob) == .all)
        #expect(zone.permission(bob, type: Share.recordType) == [.read, .write] && zone.permission(dave) == .read)
        // Nor is anybody added in the save that makes it public.
        var other = sharedZone()
        let list = other.livingRows.map(\.saved) + [guest(.user(erin), &other)]
        #expect(other.change(public: .readOnly, participants: list) == .participantsFixed)
    }

    @Test func `R-309: a share has 100 participants, and the owner is one of them`() {
        var zone = SharedTestZone()
        let many = (0..<99).map { guest(.user(UserID(100 + Int64($0))), &zone) }
        #expect(zone.change(participants: many + [guest(.user(bob), &zone)]) == .tooManyParticipants)
        #expect(zone.share == nil)
        #expect(zone.change(participants: many) == nil && zone.shown(to: alice).count == 100)
        #expect(zone.invite(guest(.address("b@x"), &zone)) == .tooManyParticipants)
        // One for another, and a change of those that there are.
        let swapped = zone.livingRows.dropFirst().map(\.saved) + [guest(.user(bob), &zone)]
        #expect(zone.change(participants: swapped) == nil && zone.accept(bob) == nil)
        // Ended rows do not count. A limit that was lowered takes nobody away.
        zone.limits.participantsMax = 50
        #expect(zone.change(participants: zone.livingRows.map(\.saved)) == nil)
        #expect(zone.change(participants: zone.livingRows.dropFirst().map(\.saved)) == nil)
        #expect(zone.invite(guest(.user(carol), &zone)) == .tooManyParticipants)
    }

    @Test func `R-308, R-309: whoever joins by the URL counts, and a full share lets nobody in`() {
        var zone = SharedTestZone()
        zone.limits.participantsMax = 4
        zone.invite(guest(.user(bob), &zone), guest(.user(carol), &zone))
        zone.accept(bob)
        zone.change(public: .readWrite)
        #expect(zone.accept(dave, hasURL: true) == nil && zone.accept(erin, hasURL: true) == nil)
        #expect(zone.accept(carol, hasURL: true) == .tooManyParticipants && zone.permission(carol) == [])
        #expect(zone.accept(erin, hasURL: true) == nil, "is in already")
        zone.leave(erin)
        #expect(zone.accept(carol, hasURL: true) == nil && zone.permission(carol) == .all)
    }

    @Test func `R-311: a person has one participant in a share, whoever names them and how often`() {
        var zone = sharedZone()
        let rows = zone.livingRows
        #expect(zone.invite(guest(.user(bob), &zone, .readWrite), guest(.user(carol), &zone, .readWrite)) == nil)
        #expect(zone.livingRows.map(\.id) == rows.map(\.id))
        #expect(zone.livingRows.allSatisfy { $0.permission == .readWrite } && zone.permission(bob) == .all)
        // Twice in one list: the last one counts.
        let twice = [guest(.user(dave), &zone), guest(.user(dave), &zone, .readWrite)]
        #expect(zone.change(participants: zone.livingRows.map(\.saved) + twice) == nil)
        #expect(zone.row(dave)?.permission == .readWrite && zone.livingRows.count == 3)
        // The owner is no participant.
        #expect(zone.invite(guest(.user(alice), &zone)) == nil && zone.livingRows.count == 3)
        #expect(zone.change(participants: [ParticipantSave(id: .owner, role: .owner)]) == nil)
        #expect(zone.livingRows.isEmpty)
    }

    @Test func `R-311, R-330: whoever is invited again keeps their ID, and has to accept again`() {
        var zone = sharedZone()
        let id = zone.row(bob)?.id
        zone.change(participants: [])
        #expect(zone.permission(bob) == [] && zone.row(bob)?.status == .removed)
        zone.invite(guest(.user(bob), &zone, .readWrite))
        #expect(zone.row(bob)?.id == id && zone.row(bob)?.status == .pending && zone.permission(bob) == [])
        #expect(zone.row(bob)?.acceptedNumber == nil && zone.row(bob)?.endedNumber == nil)
        #expect(zone.accept(bob) == nil && zone.permission(bob) == .all)
        #expect(zone.history(bob).viewNumber == zone.number)
    }

    @Test func `R-314: whose an address is shows only once its invitation is accepted`() {
        var zone = SharedTestZone()
        // Somebody tries out whether the address is bob's.
        zone.invite(guest(.user(bob), &zone), guest(.address("b@x"), &zone))
        #expect(zone.livingRows.count == 2 && zone.livingRows.map(\.user) == [bob, nil])
        zone.invite(guest(.address("c@x"), &zone))
        zone.accept(ShareVisitor(user: carol, addresses: ["c@x"]))
        let row = zone.row(carol)
        #expect(row?.address == "c@x" && zone.permission(carol) == .read)
        // Now both are one person.
        zone.invite(guest(.address("c@x"), &zone, .readWrite))
        #expect(zone.row(carol)?.id == row?.id && zone.permission(carol) == .all && zone.livingRows.count == 3)
        // Removed and invited again as two: an invitation names one thing.
        zone.change(participants: [])
        zone.invite(guest(.address("c@x"), &zone), guest(.user(carol), &zone))
        #expect(zone.livingRows.count == 2 && Set(zone.livingRows.map(\.address)) == [nil, "c@x"])
        #expect(zone.livingRows.allSatisfy { ($0.user == nil) != ($0.address == nil) })
    }

    @Test func `R-310, R-311: participants that no share can have`() {
        var zone = sharedZone()
        let rows = zone.livingRows
        let id = zone.newID()
        let unknown: [ParticipantSave] = [
            ParticipantSave(id: id), ParticipantSave(id: id, person: .user(dave), role: .owner),
            ParticipantSave(id: id, person: .user(dave), permission: .noAccess),
            ParticipantSave(id: id, person: .address("")), ParticipantSave(id: id, person: .address("a\u{0}b@x")),
            ParticipantSave(id: id, person: .address("a b@x")),
            ParticipantSave(id: id, person: .address(String(repeating: "a", count: 321))),
            ParticipantSave(id: rows[0].id, role: .publicUser),
        ]
        for save in unknown {
            #expect(zone.change(participants: [save]) == .participantInvalid, "\(save)")
        }
        let same = [guest(.user(dave), &zone), rows[0].saved, rows[0].saved]
        #expect(zone.change(participants: same) == .participantInvalid)
        #expect(zone.livingRows == rows)
        // Who joined by the URL gets no other role while the share is public.
        zone.change(public: .readOnly)
        zone.accept(dave, hasURL: true)
        let list = zone.livingRows.map { ParticipantSave(id: $0.id) }
        #expect(zone.change(participants: list) == .participantInvalid)
    }
}
