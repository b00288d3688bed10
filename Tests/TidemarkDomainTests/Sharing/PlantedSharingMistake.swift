// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain

/// A mistake that the naive model must find.
enum PlantedSharingMistake: CaseIterable {
    // In what is written.
    /// invitations outlive that the share becomes public.
    case invitationsStay
    /// public users outlive the public permission.
    case publicUsersStay
    /// whoever is removed, or leaves, keeps access.
    case membersStay
    /// the end of a share is not written.
    case shareStays
    /// who joins keeps the permission of that day.
    case publicPermissionIsCopied
    /// an invitation grants access before it is accepted.
    case invitationsGrant
    /// who is invited again has access at once.
    case formerAcceptanceCounts
    /// Who accepts the invitation of an address keeps the row of before beside it.
    case formerRowStays
    /// a lower permission is not written.
    case permissionStays
    // In what the rules are asked.
    ///
    case tagsAreIgnored
    ///
    case everybodyIsOwner
    /// the invitation of an address is anybody's.
    case addressesAreIgnored
    /// a public share needs no URL.
    case urlIsNotNeeded
    ///
    case oneMoreParticipant

    /// Changes what is written; nothing for mistakes of the other kind.
    func spoil(_ changes: inout SharingChanges, over before: ZoneSharing) {
        let rows = before.participants[changes.share] ?? [:]
        switch self {
        case .invitationsStay where changes.updatedShare?.isPublic == true:
            changes.ended.removeAll { rows[$0.id]?.status == .pending }
        case .publicUsersStay: changes.ended.removeAll { $0.role == .publicUser }
        case .membersStay: changes.ended.removeAll { rows[$0.id]?.status == .accepted && $0.role != .publicUser }
        case .shareStays: changes.updatedShare?.endedNumber = nil
        case .publicPermissionIsCopied:
            let permission = before.shares[changes.share]?.publicPermission ?? .readOnly
            changes.change { row in
                guard row.role == .publicUser, row.status == .accepted else { return }
                (row.role, row.permission) = (.privateUser, permission)
            }
        case .invitationsGrant:
            changes.change { [number = changes.number] row in
                guard row.status == .pending, row.user != nil else { return }
                (row.status, row.acceptedNumber) = (.accepted, number)
            }
        case .formerAcceptanceCounts:
            changes.change { row in
                guard row.status == .pending, row.user != nil, let accepted = rows[row.id]?.acceptedNumber
                else { return }
                (row.status, row.acceptedNumber) = (.accepted, accepted)
            }
        case .formerRowStays: changes.forgotten = []
        case .permissionStays: changes.updated.removeAll { rows[$0.id]?.status == .accepted && $0.status == .accepted }
        default: break
        }
    }
}

extension SharingChanges {
    fileprivate mutating func change(_ body: (inout Participant) -> Void) {
        for index in inserted.indices { body(&inserted[index]) }
        for index in updated.indices { body(&updated[index]) }
    }
}
