// SPDX-License-Identifier: Apache-2.0

/// A user who takes no part in a share and has asked for access to it, or who may not ask.
///
/// A user with a living participant row has none: an invitation answers the request.
package struct AccessRequest: Hashable, Sendable {
    package let user: UserID
    /// When they asked, or were blocked as a participant. Nil: they were blocked without having shown who they are, so nobody sees their
    /// name.
    package let requestedAt: Timestamp?
    /// Whether the user may not ask, and cannot enter the share by any link or address. An invitation by name lifts it.
    package var isBlocked: Bool

    package init(user: UserID, requestedAt: Timestamp?, isBlocked: Bool = false) {
        self.user = user
        self.requestedAt = requestedAt
        self.isBlocked = isBlocked
    }
}

/// The effect of a save of a CKShare on requests for access.
struct AccessRequestsPlan: Sendable, Equatable {
    var inserted: [AccessRequest] = []
    var updated: [AccessRequest] = []
    var dropped: [UserID] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && dropped.isEmpty }
}

/// The answers of a save of a CKShare to users who have asked for access. A user who is named in several
/// ways is blocked if one of them blocks.
package struct AccessAnswers: Sendable, Hashable {
    package let denied: Set<UserID>
    package let blocked: Set<UserID>
    package let unblocked: Set<UserID>

    package init(denied: Set<UserID> = [], blocked: Set<UserID> = [], unblocked: Set<UserID> = []) {
        self.denied = denied
        self.blocked = blocked
        self.unblocked = unblocked
    }

    package var isEmpty: Bool { denied.isEmpty && blocked.isEmpty && unblocked.isEmpty }
}

/// The rules of answers to requests for access.
struct AccessRequestsRules {
    /// The share's requests; none if it is new.
    let requests: [UserID: AccessRequest]
    let owner: UserID
    let now: Timestamp
    let limits: Limits

    /// - Parameters:
    ///   - rows: the participants of the share, as they are.
    ///   - participants: the plan for participants. Blocked users are taken out of it. A user who is invited by name while their request
    ///     waits is marked as approved.
    func plan(
        _ answers: AccessAnswers, over rows: [ParticipantID: Participant], _ participants: inout ParticipantsPlan
    ) -> Result<AccessRequestsPlan, FailureReason> {
        let blocked = answers.blocked.subtracting([owner])
        participants.remove(blocked, from: rows)
        let invited = participants.approve { requests[$0] }
        var plan = AccessRequestsPlan()
        for request in requests.values where !blocked.contains(request.user) {
            let isAnswered = request.isBlocked ? answers.unblocked : answers.denied
            if invited.contains(request.user) || isAnswered.contains(request.user) { plan.dropped.append(request.user) }
        }
        // A user who has accepted once has shown who they are.
        let known = Set(rows.values.filter { $0.acceptedNumber != nil }.compactMap(\.user))
        for user in blocked {
            var request = requests[user] ?? AccessRequest(user: user, requestedAt: known.contains(user) ? now : nil)
            guard !request.isBlocked else { continue }
            request.isBlocked = true
            if requests[user] == nil { plan.inserted.append(request) } else { plan.updated.append(request) }
        }
        let blockedCount =
            requests.values.count { $0.isBlocked } - plan.dropped.count { requests[$0]?.isBlocked ?? false }
            + plan.inserted.count + plan.updated.count
        // A share that has more, because the limit was lowered, may stay as it is.
        if blockedCount > limits.blockedMax, !plan.inserted.isEmpty || !plan.updated.isEmpty {
            return .failure(.tooManyBlocked)
        }
        plan.inserted.sort { $0.user.rawValue < $1.user.rawValue }
        plan.updated.sort { $0.user.rawValue < $1.user.rawValue }
        plan.dropped.sort { $0.rawValue < $1.rawValue }
        return .success(plan)
    }
}

extension ParticipantsPlan {
    /// Nobody of these users takes part or is invited, whatever the list says.
    fileprivate mutating func remove(_ users: Set<UserID>, from rows: [ParticipantID: Participant]) {
        guard !users.isEmpty else { return }
        func isBlocked(_ row: Participant) -> Bool { row.user.map(users.contains) ?? false }
        inserted.removeAll(where: isBlocked)
        updated.removeAll(where: isBlocked)
        let endedIDs = Set(ended.map(\.id))
        ended += rows.values.filter { $0.isLiving && isBlocked($0) && !endedIDs.contains($0.id) }
        ended.sort { $0.id < $1.id }
    }

    /// Marks those who are invited by name and have asked for access.
    ///
    /// - Returns: those who are invited by name.
    fileprivate mutating func approve(_ request: (UserID) -> AccessRequest?) -> Set<UserID> {
        var invited: Set<UserID> = []
        func approve(_ rows: inout [Participant]) {
            for index in rows.indices where rows[index].isPending {
                guard let user = rows[index].user else { continue }
                invited.insert(user)
                if request(user)?.isBlocked == false { rows[index].isApprovedRequester = true }
            }
        }
        approve(&inserted)
        approve(&updated)
        return invited
    }
}

extension ShareVisitor {
    /// Decides a request for access. No request is stored if there is no such share, or if it takes no requests. The same holds if
    /// the user is blocked or has asked before, or if the share has as many requests as it may have. All of these succeed alike.
    ///
    /// - Returns: the changes to write; nil if there are none. `shareIsOwn` for the owner, and `alreadyInvited` for a user who takes part
    ///   or may accept: they know the share.
    package func requesting(
        in sharing: ZoneSharing?, at number: ChangeNumber, now: Timestamp, limits: Limits
    ) -> Result<SharingChanges?, FailureReason> {
        guard let sharing else { return .success(nil) }
        switch sharing.entry(of: self)?.entry {
        case .owner: return .failure(.shareIsOwn)
        case .participant, .invited, .publicUser: return .failure(.alreadyInvited)
        case nil: break
        }
        guard secret != nil, let share = sharing.share(for: self), sharing.hasPeople(of: share.number),
            share.allowsRequests,
            sharing.request(of: user, in: share.number) == nil,
            sharing.waitingCount(in: share.number) < limits.accessRequestsMax
        else { return .success(nil) }
        var changes = SharingChanges(share.number, at: number)
        changes.insertedRequests = [AccessRequest(user: user, requestedAt: now)]
        return .success(changes)
    }
}
