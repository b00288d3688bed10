// SPDX-License-Identifier: Apache-2.0

/// A living share as one viewer sees it: what comes with its CKShare record.
package struct ShownShare: Sendable, Hashable {
    package let publicPermission: SharePermission
    /// The owner first.
    package let participants: [ShownParticipant]
    /// The secret of the share's URL.
    package let secret: [UInt8]

    /// What it takes in an answer, roughly.
    package var byteCount: Int {
        participants.reduce(100) { $0 + 100 + ($1.address?.utf8.count ?? 0) + ($1.name?.byteCount ?? 0) }
    }

    /// The users among the participants, but for one.
    package func users(besides caller: UserID?) -> Set<UserID> {
        Set(participants.compactMap(\.user).filter { $0 != caller })
    }
}

extension ZoneSharing {
    /// The living share of a CKShare record, as one viewer sees it. Nil if there is none, or if the viewer may see
    /// nothing of it.
    ///
    /// - Parameters:
    ///   - viewer: the user.
    ///   - invitation: as ``participants(of:shownTo:invitedAs:)``.
    package func share(
        named recordName: String, shownTo viewer: UserID, invitedAs invitation: ParticipantID? = nil
    ) -> ShownShare? {
        precondition(isWhole)
        guard let share = livingShare(named: recordName) else { return nil }
        let shown = participants(of: share.number, shownTo: viewer, invitedAs: invitation)
        guard !shown.isEmpty else { return nil }
        return ShownShare(
            publicPermission: share.publicPermission, participants: shown, secret: secret ?? [])
    }
}
