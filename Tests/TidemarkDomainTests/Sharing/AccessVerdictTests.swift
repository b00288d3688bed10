// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain

/// What an operator is told about somebody's access: the decision itself, and why.
@Suite struct AccessVerdictTests {
    private static let number = ShareNumber(10)
    /// Every zone that was ever shared has one.
    private static let secret: [UInt8] = [1, 2, 3]

    private func read(
        _ role: ParticipantRole = .privateUser, _ permission: SharePermission = .readWrite,
        _ status: ParticipantStatus = .accepted, public everybody: SharePermission = .noAccess,
        shareEnd: ChangeNumber? = nil
    ) -> ZoneSharing {
        let row = Participant(
            id: ParticipantID(high: 0, low: 1), user: bob, role: role, permission: permission, status: status,
            acceptedNumber: status == .pending ? nil : 20, endedNumber: status == .removed ? 30 : nil, addedAt: 0)
        let share = Share(number: Self.number, publicPermission: everybody, endedNumber: shareEnd)
        return ZoneSharing(
            owner: alice, shares: [share], participants: [Self.number: [row]], secret: Self.secret)
    }

    private let note = RecordPlace(type: "Note", creator: alice)
    private let share = RecordPlace(type: Share.recordType, creator: alice)

    @Test func `R-316, R-317, R-323, R-326, R-328: the reason fits what the row says, and who may nothing hears why`() {
        let shared = RecordAccess(scope: .shared, user: bob)
        let cases: [(ZoneSharing?, RecordPlace, Permissions, AccessReason)] = [
            (nil, note, [], .zoneNotShared), (ZoneSharing(owner: alice), note, [], .zoneNotShared),
            (read(), note, .all, .participant(.readWrite)),
            (read(.privateUser, .readOnly), note, .read, .participant(.readOnly)),
            (read(.privateUser, .readOnly, public: .readWrite), note, .read, .participant(.readOnly)),
            (read(.publicUser, .noAccess, public: .readWrite), note, .all, .publicUser(.readWrite)),
            (read(.administrator), share, [.read, .write], .shareRecord(.administrator)),
            (read(), share, .read, .shareRecord(.privateUser)), (read(shareEnd: 40), note, [], .shareEnded),
            (read(.privateUser, .readWrite, .pending), note, [], .invited),
            (read(.privateUser, .readWrite, .removed), note, [], .removed(at: 30)),
            (read(.privateUser, .readWrite, .removed, public: .readOnly), note, [], .mayJoin),
        ]
        for (sharing, place, permissions, reason) in cases {
            #expect(
                shared.verdict(on: place, in: sharing) == AccessVerdict(permissions: permissions, reason: reason),
                "\(reason)")
        }
        let carols = RecordAccess(scope: .shared, user: carol)
        #expect(carols.verdict(on: note, in: read()).reason == .notInvited)
        #expect(carols.verdict(on: note, in: read(public: .readOnly)).reason == .mayJoin)
    }

    @Test func `R-314, R-317: whoever has an invited address verified is invited, also after an earlier part ended`() {
        let carols = RecordAccess(scope: .shared, user: carol)
        let former = Participant(
            id: ParticipantID(high: 0, low: 1), user: carol, status: .removed, acceptedNumber: 20, endedNumber: 30,
            addedAt: 0)
        let invitation = Participant(id: ParticipantID(high: 0, low: 2), address: "c@x", addedAt: 0)
        let sharing = ZoneSharing(
            owner: alice, shares: [Share(number: Self.number)],
            participants: [Self.number: [former, invitation]], secret: Self.secret)
        #expect(carols.verdict(on: note, in: sharing, addresses: ["c@x"]).reason == .addressInvited)
        #expect(carols.verdict(on: note, in: sharing, addresses: ["c@x"]).permissions == [])
        #expect(carols.verdict(on: note, in: sharing, addresses: ["other@x"]).reason == .removed(at: 30))
        let daves = RecordAccess(scope: .shared, user: dave)
        #expect(daves.verdict(on: note, in: sharing, addresses: ["c@x"]).reason == .addressInvited)
        #expect(daves.verdict(on: note, in: sharing).reason == .notInvited)
    }

    @Test
    func `R-970, R-972, R-974, R-997: who asks, who is blocked, and one-time links that nobody has taken are told`() {
        func sharing(
            _ requests: [AccessRequest] = [], _ rows: [Participant] = [], public everybody: SharePermission = .noAccess
        ) -> ZoneSharing {
            ZoneSharing(
                owner: alice, shares: [Share(number: Self.number, publicPermission: everybody)],
                participants: [Self.number: rows], requests: [Self.number: requests], secret: Self.secret)
        }
        func reason(_ sharing: ZoneSharing, addresses: Set<String> = []) -> AccessReason {
            let verdict = RecordAccess(scope: .shared, user: bob).verdict(on: note, in: sharing, addresses: addresses)
            #expect(verdict.permissions == [], "\(verdict.reason)")
            return verdict.reason
        }
        let asked = AccessRequest(user: bob, requestedAt: 5)
        let blocked = AccessRequest(user: bob, requestedAt: nil, isBlocked: true)
        func link(_ number: UInt64, _ status: ParticipantStatus, takenBy user: UserID? = nil) -> Participant {
            Participant(
                id: ParticipantID(high: 0, low: number), user: user, linkSecret: [UInt8(number)], status: status,
                acceptedNumber: user == nil ? nil : 20, endedNumber: status == .removed ? 30 : nil, addedAt: 0)
        }
        let former = Participant(
            id: ParticipantID(high: 0, low: 9), user: bob, status: .removed, acceptedNumber: 20, endedNumber: 30,
            addedAt: 0)
        let address = Participant(id: ParticipantID(high: 0, low: 8), address: "b@x", addedAt: 0)
        #expect(reason(sharing([asked])) == .hasAsked)
        #expect(reason(sharing([asked], [former])) == .hasAsked)
        #expect(reason(sharing([blocked])) == .blocked)
        #expect(reason(sharing([blocked], [former])) == .blocked)
        #expect(reason(sharing([blocked], public: .readOnly)) == .blocked)
        #expect(reason(sharing([blocked], [address]), addresses: ["b@x"]) == .blocked)
        #expect(reason(sharing([asked], public: .readOnly)) == .mayJoin)
        #expect(reason(sharing([asked], [address]), addresses: ["b@x"]) == .addressInvited)
        #expect(reason(sharing([AccessRequest(user: carol, requestedAt: 5)])) == .notInvited)
        let links = [link(1, .pending), link(2, .pending), link(3, .accepted, takenBy: carol), link(4, .removed)]
        #expect(reason(sharing([], links)) == .linksUntaken(2))
        #expect(reason(sharing([], Array(links.dropFirst(2)))) == .notInvited)
        #expect(reason(sharing([], links + [former])) == .removed(at: 30))
        let taken = RecordAccess(scope: .shared, user: carol).verdict(on: note, in: sharing([], links))
        #expect(taken == AccessVerdict(permissions: .read, reason: .participant(.readOnly)))
    }

    @Test func `R-008, R-009: in the other databases the roles are named, and an owner needs none`() {
        #expect(
            RecordAccess.owner(alice).verdict(on: note, in: nil)
                == AccessVerdict(permissions: .all, reason: .ownDatabase))
        let editor = Role.custom("Editor")
        let grants = ["Note": Grants([.world: .read, editor: .write])]
        for (user, roles, permissions, expected) in [
            (alice, [], .read, [.world, .authenticated, .creator]), (bob, [], .read, [.world, .authenticated]),
            (bob, [editor], [.read, .write], [.world, .authenticated, editor]), (nil, [editor], .read, [.world]),
        ] as [(UserID?, Set<Role>, Permissions, Set<Role>)] {
            let access = RecordAccess(scope: .public, user: user, grants: grants, roles: roles)
            let verdict = access.verdict(on: note, in: nil)
            #expect(verdict == AccessVerdict(permissions: permissions, reason: .grants(to: expected)))
            #expect(verdict.permissions == access.effectivePermission(on: note))
        }
    }

    @Test func `R-856, R-008: of a public record it is said which role gives which right`() {
        let editor = Role.custom("Editor")
        let grants = ["Note": Grants([.world: .read, editor: .write, .creator: .all])]
        let bobs = RecordAccess(scope: .public, user: bob, grants: grants, roles: [editor])
        #expect(bobs.rights(on: note).map(\.role) == [editor, .authenticated, .world].sorted())
        #expect(bobs.rights(on: note).first { $0.role == editor }?.permissions == [.read, .write])
        #expect(bobs.rights(on: note).first { $0.role == .authenticated }?.permissions == [])
        let alices = RecordAccess(scope: .public, user: alice, grants: grants)
        #expect(alices.rights(on: note).first { $0.role == .creator }?.permissions == .all)
        // Of a type of which the schema says nothing the standard grants hold, also for a record that is to be created.
        let new = RecordPlace(type: "Page", creator: nil)
        #expect(bobs.rights(on: new).first { $0.role == .authenticated }?.permissions == .create)
        #expect(bobs.verdict(on: new, in: nil).permissions.contains(.create))
        for access in [RecordAccess.owner(alice), RecordAccess(scope: .shared, user: bob)] {
            #expect(access.rights(on: note).isEmpty)
        }
    }

    @Test func `every reason names a rule that there is, and says something else than the others`() throws {
        let rules = URL(fileURLWithPath: "\(#filePath)/../../../RULES.md").standardizedFileURL
        let text = try String(contentsOf: rules, encoding: .utf8)
        let reasons: [AccessReason] = [
            .ownDatabase, .grants(to: [.world]), .zoneNotShared, .shareEnded, .notInvited, .mayJoin, .invited,
            .addressInvited, .hasAsked, .blocked, .linksUntaken(1), .linksUntaken(2), .removed(at: 30),
            .participant(.readOnly), .publicUser(.readOnly), .shareRecord(.administrator),
            .shareRecord(.privateUser),
        ]
        #expect(Set(reasons.map(\.text)).count == reasons.count)
        for reason in reasons {
            #expect(text.contains("\n- \(reason.rule) "), "\(reason)")
        }
    }
}
