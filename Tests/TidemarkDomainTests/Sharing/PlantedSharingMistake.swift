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
    /// a link that somebody has taken lets in the next one too.
    case linkIsTakenTwice
    /// a link that ended and is made anew is the same one.
    case linkIsReused
    /// who is let in after having asked is not marked.
    case approvalIsForgotten
    /// a request outlives its answer, and that its user has come.
    case requestsStay
    /// nobody is blocked.
    case blockIsForgotten
    /// whoever is blocked keeps their part, or their invitation.
    case blockedStay
    /// whoever is unblocked or invited stays blocked.
    case blockStays
    /// a blocked person is told by name although they have not told who they are.
    case blockTellsName
    /// who was an administrator stays one.
    case administratorsStay
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
    ///
    case oneMoreRequest
    ///
    case oneMoreBlocked
    /// a request is taken although the share takes none.
    case requestsAreAlwaysTaken
    /// a request of a blocked person reaches the owner.
    case blockedMayAsk
    /// a blocked person comes by the URL, by a link or by an address.
    case blockedMayCome
    /// answers of a save are lost.
    case answersAreIgnored
    // In what is shown.
    /// everybody sees who asks, who is blocked, and the links.
    case everybodySeesAll
    /// whoever looks at a link is told the URL of the share.
    case linkTellsURL

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
        case .linkIsTakenTwice:
            for index in changes.updated.indices {
                guard let untaken = rows[changes.updated[index].id], untaken.isUntakenLink,
                    changes.updated[index].hasAccepted
                else { continue }
                let taken = changes.updated[index]
                changes.inserted.append(taken.under(ParticipantID(high: 2, low: UInt64(changes.number))))
                changes.updated[index] = untaken
            }
        case .linkIsReused:
            changes.change { row in
                if row.isUntakenLink, let former = rows[row.id]?.linkSecret { row.linkSecret = former }
            }
        case .approvalIsForgotten: changes.change { $0.isApprovedRequester = false }
        case .requestsStay:
            let waiting = (before.requests[changes.share] ?? [:]).values.filter { !$0.isBlocked }.map(\.user)
            changes.droppedRequests.removeAll { waiting.contains($0) }
        case .blockIsForgotten:
            changes.insertedRequests.removeAll { $0.isBlocked }
            changes.updatedRequests = []
        case .blockedStay:
            let blocked = Set((changes.insertedRequests + changes.updatedRequests).filter(\.isBlocked).map(\.user))
            changes.ended.removeAll { $0.user.map(blocked.contains) ?? false }
        case .blockStays:
            let blocked = (before.requests[changes.share] ?? [:]).values.filter(\.isBlocked).map(\.user)
            changes.droppedRequests.removeAll { blocked.contains($0) }
        case .blockTellsName:
            changes.insertedRequests = changes.insertedRequests.map {
                AccessRequest(user: $0.user, requestedAt: $0.requestedAt ?? 0, isBlocked: $0.isBlocked)
            }
        case .administratorsStay:
            changes.change { row in if rows[row.id]?.role == .administrator { row.role = .administrator } }
            changes.ended.removeAll { rows[$0.id]?.role == .administrator && rows[$0.id]?.hasAccepted == true }
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

extension Participant {
    /// The same row with another ID.
    fileprivate func under(_ id: ParticipantID) -> Participant {
        Participant(
            id: id, user: user, address: address, role: role, permission: permission, status: status,
            acceptedNumber: acceptedNumber, endedNumber: endedNumber, addedAt: addedAt,
            isApprovedRequester: isApprovedRequester)
    }
}

extension ZoneSharing {
    /// The same as if nobody were blocked, or as if the share took requests.
    func forgetting(blocks: Bool = false, refusals: Bool = false) -> ZoneSharing {
        ZoneSharing(
            owner: owner,
            shares: shares.values.map { share in
                var share = share
                share.allowsRequests = share.allowsRequests || refusals
                return share
            }, participants: participants.mapValues { Array($0.values) },
            requests: requests.mapValues { rows in rows.values.filter { !blocks || !$0.isBlocked } }, secret: secret)
    }
}
