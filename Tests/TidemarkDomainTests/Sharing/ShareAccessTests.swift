// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// Who may do what in a shared zone: a table over everything that a row can say.
@Suite struct ShareAccessTests {
    private static let number = ShareNumber(10)

    /// A share with one participant, bob.
    private func read(
        _ role: ParticipantRole = .privateUser, _ permission: SharePermission = .readWrite,
        _ status: ParticipantStatus = .accepted, public everybody: SharePermission = .noAccess,
        shareEnd: ChangeNumber? = nil
    ) -> ZoneSharing {
        let row = Participant(
            id: ParticipantID(high: 0, low: 1), user: bob, role: role, permission: permission, status: status,
            acceptedNumber: status == .pending ? nil : 20, endedNumber: status == .removed ? 30 : nil, addedAt: 0)
        let share = Share(number: Self.number, publicPermission: everybody, endedNumber: shareEnd)
        return ZoneSharing(owner: alice, shares: [share], participants: [Self.number: [row]])
    }

    private func permission(_ user: UserID, _ sharing: ZoneSharing, _ type: String = "Note") -> Permissions {
        ShareAccess(of: user, in: sharing).permission(on: RecordPlace(type: type, creator: alice))
    }

    @Test func `R-307, R-310: permissions, roles and states have CloudKit's numbers`() {
        #expect(SharePermission.allCases.map(\.rawValue) == [1, 2, 3])
        #expect(ParticipantRole.allCases.map(\.rawValue) == [1, 2, 3, 4])
        #expect(ParticipantStatus.allCases.map(\.rawValue) == [1, 2, 3])
    }

    @Test func `R-320, R-323, R-329: an accepted participant may do what the row says, with every record`() {
        for (granted, expected) in [(.readOnly, .read), (.readWrite, .all), (.noAccess, [])]
            as [(SharePermission, Permissions)]
        {
            for role in [ParticipantRole.privateUser, .administrator] {
                let access = ShareAccess(of: bob, in: read(role, granted))
                for creator in [nil, alice, bob, carol] {
                    #expect(access.permission(on: RecordPlace(type: "Note", creator: creator)) == expected)
                }
                #expect(access.isParticipant == (granted != .noAccess))
            }
        }
    }

    @Test func `R-308: a public user may do what the share allows everybody, whatever the row says`() {
        for everybody in SharePermission.allCases {
            for own in SharePermission.allCases {
                let sharing = read(.publicUser, own, public: everybody)
                #expect(permission(bob, sharing) == everybody.permissions)
                #expect(ShareAccess(of: bob, in: sharing).isParticipant == (everybody != .noAccess))
            }
        }
        // Who was invited has their own permission.
        #expect(permission(bob, read(.privateUser, .readOnly, public: .readWrite)) == .read)
    }

    @Test func `R-316, R-326, R-328: who is invited, is removed, or was in a share that has ended may do nothing`() {
        let rows: [(ZoneSharing, UserID)] = [
            (read(.administrator, .readWrite, .pending), bob), (read(.administrator, .readWrite, .removed), bob),
            (read(.administrator, .readWrite, shareEnd: 40), bob), (read(public: .readWrite), carol),
            // Whichever end came first.
            (read(.administrator, .readWrite, .removed, shareEnd: 25), bob),
            (read(.administrator, .readWrite, .removed, shareEnd: 35), bob), (ZoneSharing(owner: alice), bob),
        ]
        for (sharing, user) in rows {
            let access = ShareAccess(of: user, in: sharing)
            for type in ["Note", Share.recordType] { #expect(permission(user, sharing, type) == []) }
            #expect(!access.isParticipant && !access.mayChange(Self.number) && !access.readsEverything)
            #expect(RecordAccess(scope: .shared, user: user).sharing(sharing) == nil)
        }
    }

    @Test func `R-313: participants read the CKShare record, administrators change it, whatever else they may do`() {
        for granted in [SharePermission.readOnly, .readWrite] {
            #expect(permission(bob, read(.privateUser, granted), Share.recordType) == .read)
            #expect(permission(bob, read(.administrator, granted), Share.recordType) == [.read, .write])
            #expect(permission(bob, read(.publicUser, public: granted), Share.recordType) == .read)
            #expect(!ShareAccess(of: bob, in: read(.privateUser, granted)).mayChange(Self.number))
            #expect(ShareAccess(of: bob, in: read(.administrator, granted)).mayChange(Self.number))
        }
        // Of that share alone, and of none that is still to be made.
        let administrator = ShareAccess(of: bob, in: read(.administrator))
        #expect(!administrator.mayChange(ShareNumber(11)) && !administrator.mayChange(nil))
    }

    @Test func `R-009, R-322: the owner may do everything, and is no participant`() {
        for sharing in [ZoneSharing(owner: alice), read(), read(shareEnd: 40)] {
            let access = ShareAccess(of: alice, in: sharing)
            for type in ["Note", Share.recordType] { #expect(permission(alice, sharing, type) == .all) }
            #expect(access.isOwner && !access.isParticipant && access.mayChange(nil))
        }
    }
}
