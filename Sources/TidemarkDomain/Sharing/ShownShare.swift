// SPDX-License-Identifier: Apache-2.0

/// A living share as one viewer sees it: what comes with its CKShare record.
package struct ShownShare: Sendable, Hashable {
    package let publicPermission: SharePermission
    /// The name of the root of the hierarchy that is shared; nil: the whole zone is.
    package let rootName: String?
    /// The owner first.
    package let participants: [ShownParticipant]
    /// The secret of the share's URL. Empty for a viewer with a one-time link that nobody has taken: with the URL they could join
    /// later, if the share becomes public.
    package let secret: [UInt8]
    /// The SHA-256 of the secret, with which one-time links begin. Empty: they are not told.
    package var secretHash: [UInt8] = []
    /// Whether people who are not invited may ask for access. Like the following properties, it is shown to those who
    /// may change the share.
    package let allowsRequests: Bool
    /// The users who have asked and wait, in the order in which they came.
    package let requesters: [ShownRequester]
    /// The users who may no longer ask.
    package let blocked: [ShownRequester]

    /// Whether one-time links are shown to the viewer.
    package var hasOneTimeLinks: Bool { participants.contains { $0.linkSecret != nil } }

    /// Roughly how many bytes it takes in an answer.
    package var byteCount: Int {
        let asking = (requesters + blocked).reduce(0) { $0 + 100 + ($1.name?.byteCount ?? 0) }
        return participants.reduce(100) { $0 + $1.byteCount } + asking
    }

    /// The users among the participants, except one.
    package func users(besides caller: UserID?) -> Set<UserID> {
        Set((participants.compactMap(\.user) + (requesters + blocked).map(\.user)).filter { $0 != caller })
    }
}

extension AccessRequest {
    /// The time that orders a list.
    fileprivate var shownTime: Timestamp { requestedAt ?? Timestamp(milliseconds: 0) }
}

/// Somebody who has asked for access to a share, or may not. A user who asks shows who they are.
package struct ShownRequester: Sendable, Hashable {
    package let user: UserID
    package let name: PersonName?
}

extension ZoneSharing {
    /// The living share of a CKShare record, as one viewer sees it. Nil if there is none, or if the viewer may see no
    /// part of it.
    ///
    /// - Parameters:
    ///   - viewer: the user.
    ///   - invitation: as ``participants(of:shownTo:invitedAs:)``.
    package func share(
        named recordName: String, shownTo viewer: UserID, invitedAs invitation: ParticipantID? = nil
    ) -> ShownShare? {
        guard let share = livingShare(named: recordName) else { return nil }
        precondition(hasPeople(of: share.number))
        let shown = participants(of: share.number, shownTo: viewer, invitedAs: invitation)
        guard !shown.isEmpty else { return nil }
        let comesByLink = invitation.flatMap { participants[share.number]?[$0] }?.isUntakenLink ?? false
        let seesAll = ShareAccess(of: viewer, in: self).mayChange(share.number)
        func asking(_ isBlocked: Bool) -> [ShownRequester] {
            guard seesAll else { return [] }
            let rows = (requests[share.number] ?? [:]).values.filter { $0.isBlocked == isBlocked }
            let sorted = rows.sorted { ($0.shownTime, $0.user.rawValue) < ($1.shownTime, $1.user.rawValue) }
            return sorted.map { row in
                ShownRequester(user: row.user, name: row.requestedAt == nil ? nil : personNames[row.user])
            }
        }
        return ShownShare(
            publicPermission: share.publicPermission, rootName: share.rootName, participants: shown,
            secret: comesByLink ? [] : secret(of: share) ?? [],
            allowsRequests: seesAll && share.allowsRequests, requesters: asking(false), blocked: asking(true))
    }
}
