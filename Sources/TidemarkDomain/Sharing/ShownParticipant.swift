// SPDX-License-Identifier: Apache-2.0

/// A participant as one viewer sees them.
package struct ShownParticipant: Sendable, Hashable {
    package let id: ParticipantID
    /// Nil: an address whose invitation nobody has accepted yet.
    package let user: UserID?
    /// The address that was invited; nil for viewers who may not change the share.
    package let address: String?
    /// The secret of the participant's one-time link; nil for viewers who may not change the share.
    package let linkSecret: [UInt8]?
    /// The person's name. Nil: they have none, or they have not accepted.
    package let name: PersonName?
    package let role: ParticipantRole
    package let permission: SharePermission
    package let status: ParticipantStatus
    /// When the participant was added; nil for the owner.
    package let addedAt: Timestamp?
    /// Whether they had asked for access when they were invited.
    package let isApprovedRequester: Bool
    /// Whether the participant is the viewer.
    package let isViewer: Bool

    /// Roughly how many bytes it takes in an answer.
    var byteCount: Int {
        (linkSecret == nil ? 100 : 200) + (address?.utf8.count ?? 0) + (name?.byteCount ?? 0)
    }
}

extension ZoneSharing {
    /// The participants of a living share as one viewer sees them: the owner, then the others in the order in which
    /// they were added.
    ///
    /// Owner and administrators see everybody. Private users see the owner and everybody who has accepted. Public users,
    /// and users who are only invited, see the owner and themselves. If the share is public, all others see the owner.
    /// Otherwise they see nobody.
    ///
    /// - Parameters:
    ///   - viewer: the user.
    ///   - invitation: the viewer's own row, if it is an invitation of an address (``ShareEntry/invited(_:)``).
    package func participants(
        of number: ShareNumber, shownTo viewer: UserID, invitedAs invitation: ParticipantID? = nil
    ) -> [ShownParticipant] {
        guard let share = shares[number], share.isLiving else { return [] }
        let ownRows = [row(of: viewer, in: number), invitation.flatMap { participants[number]?[$0] }]
        let own = ownRows.compactMap { $0 }.first(where: \.isLiving)
        guard viewer == owner || own != nil || share.isPublic else { return [] }
        let seesAll = ShareAccess(of: viewer, in: self).mayChange(number)
        let seesAccepted = own.map { $0.hasAccepted && $0.role != .publicUser } ?? false
        let shown = rows(of: number).filter { row in
            row.isLiving && (seesAll || row.id == own?.id || seesAccepted && row.hasAccepted)
        }
        let sorted = shown.sorted { ($0.addedAt, $0.id) < ($1.addedAt, $1.id) }
        return [shownOwner(to: viewer)]
            + sorted.map {
                $0.shown(in: share, isViewer: $0.id == own?.id, seesAll: seesAll, named: personNames)
            }
    }

    private func shownOwner(to viewer: UserID) -> ShownParticipant {
        ShownParticipant(
            id: .owner, user: owner, address: nil, linkSecret: nil, name: personNames[owner], role: .owner,
            permission: .readWrite, status: .accepted, addedAt: nil, isApprovedRequester: false,
            isViewer: viewer == owner)
    }
}

extension Participant {
    /// a person who is only invited has no name, so an invitation does not tell whose an address or a record name is.
    fileprivate func shown(
        in share: Share, isViewer: Bool, seesAll: Bool, named names: [UserID: PersonName]
    ) -> ShownParticipant {
        ShownParticipant(
            id: id, user: user, address: seesAll ? address : nil, linkSecret: seesAll ? linkSecret : nil,
            name: hasAccepted ? user.flatMap { names[$0] } : nil, role: role, permission: permission(in: share),
            status: status, addedAt: addedAt, isApprovedRequester: isApprovedRequester, isViewer: isViewer)
    }
}
