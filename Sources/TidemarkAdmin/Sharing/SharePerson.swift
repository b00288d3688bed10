// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Somebody of a share, as `shares show` lists them: a participant, or somebody who has asked for access or may not.
enum SharePerson: Sendable {
    case participant(Participant, in: Share)
    case requester(AccessRequest)

    /// What an operator must tell apart at a glance. Raw values are what the command writes, and never change.
    enum Kind: String, Sendable {
        /// Takes part.
        case participant
        /// Is invited by name, and has not accepted.
        case invitation
        /// An address that is invited. Whoever has it verified, now or later, may accept.
        case address
        /// A one-time link that nobody has taken: whoever has it may accept.
        case oneTimeLink
        /// Took part or was invited, and does not any more.
        case former
        /// Has asked for access, and waits for an answer.
        case request
        /// May not ask, and comes by no link and no address.
        case blocked
    }

    /// All of a share: participants in the order in which they were added, then requests, then who is blocked.
    static func all(of share: Share, in sharing: ZoneSharing) -> [SharePerson] {
        let rows = (sharing.participants[share.number] ?? [:]).values.sorted {
            ($0.addedAt, $0.id) < ($1.addedAt, $1.id)
        }
        let requests = (sharing.requests[share.number] ?? [:]).values.sorted { left, right in
            (left.isBlocked ? 1 : 0, left.user.rawValue) < (right.isBlocked ? 1 : 0, right.user.rawValue)
        }
        return rows.map { .participant($0, in: share) } + requests.map { .requester($0) }
    }

    var kind: Kind {
        switch self {
        case .participant(let row, _):
            if row.hasAccepted { return .participant }
            if !row.isPending { return .former }
            if row.isUntakenLink { return .oneTimeLink }
            return row.user == nil && row.address != nil ? .address : .invitation
        case .requester(let request): return request.isBlocked ? .blocked : .request
        }
    }

    var user: UserID? {
        switch self {
        case .participant(let row, _): row.user
        case .requester(let request): request.user
        }
    }

    /// Nil for who takes no part.
    var row: Participant? { if case .participant(let row, _) = self { row } else { nil } }

    /// What they may do, or would once they have accepted.
    var permission: SharePermission? {
        guard case .participant(let row, let share) = self else { return nil }
        return row.role == .publicUser ? share.publicPermission : row.permission
    }

    /// When they were added, or asked. Nil: they were blocked without having asked.
    var since: Timestamp? {
        switch self {
        case .participant(let row, _): row.addedAt
        case .requester(let request): request.requestedAt
        }
    }
}
