// SPDX-License-Identifier: Apache-2.0

/// Names a participant within a share: a UUID, which the inviting device chose.
package struct ParticipantID: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The owner's ID. The owner has no row, and no device can invite with this ID.
    package static let owner = ParticipantID(high: 0, low: 0)

    package static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

/// The role of a person who takes part. Raw values are CloudKit's, and stored.
package enum ParticipantRole: Int16, Sendable, CaseIterable {
    /// Has no row.
    case owner = 1
    /// May change the share and its participants, as the owner may.
    case administrator = 2
    /// Was invited.
    case privateUser = 3
    /// Joined a public share by its URL.
    case publicUser = 4
}

/// Whether an invited person takes part. Raw values are CloudKit's, and stored.
package enum ParticipantStatus: Int16, Sendable, CaseIterable {
    case pending = 1
    case accepted = 2
    /// Was removed, has left, or has declined. The row grants nothing.
    case removed = 3
}

/// One person of one share, as stored. The owner has no row.
///
/// In one share, a user has at most one row, and so does an address. A user who is invited again gets the old row back.
/// A pending row names one thing: a user, an address or a one-time link.
package struct Participant: Hashable, Sendable {
    package let id: ParticipantID
    /// Nil until somebody accepts, if an address or a one-time link was invited.
    package var user: UserID?
    /// The address that was invited, in its normal form: an e-mail address or a telephone number. Never shown to other
    /// participants.
    package var address: String?
    /// The random secret of the participant's one-time link. It stays when somebody has accepted with it. Only people who may
    /// change the share see it.
    package var linkSecret: [UInt8]?
    package var role: ParticipantRole
    /// Has no meaning for a public user: the share's public permission holds, and is looked up each time.
    package var permission: SharePermission
    package var status: ParticipantStatus
    /// The number of the change that gave access.
    package var acceptedNumber: ChangeNumber?
    /// The number of the change since which the user has had access to the zone without a gap, through this share or another one that lived
    /// then.
    package var begunNumber: ChangeNumber?
    /// The number of the change that took it away, or ended the invitation. Set exactly if ``status`` is removed.
    package var endedNumber: ChangeNumber?
    package var addedAt: Timestamp
    /// Whether the user had asked for access when they were invited.
    package var isApprovedRequester: Bool

    package init(
        id: ParticipantID, user: UserID? = nil, address: String? = nil, linkSecret: [UInt8]? = nil,
        role: ParticipantRole = .privateUser, permission: SharePermission = .readOnly,
        status: ParticipantStatus = .pending, acceptedNumber: ChangeNumber? = nil, begunNumber: ChangeNumber? = nil,
        endedNumber: ChangeNumber? = nil, addedAt: Timestamp, isApprovedRequester: Bool = false
    ) {
        self.id = id
        self.user = user
        self.address = address
        self.linkSecret = linkSecret
        self.role = role
        self.permission = permission
        self.status = status
        self.acceptedNumber = acceptedNumber
        self.begunNumber = begunNumber
        self.endedNumber = endedNumber
        self.addedAt = addedAt
        self.isApprovedRequester = isApprovedRequester
    }

    /// Whether the row is an invitation or a participation. An ended one is kept for a while.
    package var isLiving: Bool { status != .removed }
    package var isPending: Bool { status == .pending }
    package var hasAccepted: Bool { status == .accepted }
}

extension Participant {
    /// An invitation, which grants nothing until it is accepted. With the ID of an ended row it takes that row's place.
    init(id: ParticipantID, inviting person: InvitedPerson, _ save: ParticipantSave, at addedAt: Timestamp) {
        self.init(id: id, permission: save.permission, addedAt: addedAt)
        role = save.invitedRole
        switch person {
        case .user(let user): self.user = user
        case .address(let address): self.address = address
        case .link(let secret): linkSecret = secret
        }
    }

    /// - Parameter begunNumber: since when the user has had access to the zone; nil: since now.
    func accepted(by user: UserID, at number: ChangeNumber, since begunNumber: ChangeNumber?) -> Participant {
        var accepted = self
        accepted.user = user
        accepted.status = .accepted
        accepted.acceptedNumber = number
        accepted.begunNumber = begunNumber ?? number
        return accepted
    }

    /// The row of a user who joins a public share by its URL.
    static func joining(
        _ user: UserID, as id: ParticipantID, at number: ChangeNumber, since begunNumber: ChangeNumber?, now: Timestamp
    ) -> Participant {
        Participant(id: id, role: .publicUser, permission: .noAccess, addedAt: now)
            .accepted(by: user, at: number, since: begunNumber)
    }

    func ended(at number: ChangeNumber) -> Participant {
        var ended = self
        ended.status = .removed
        ended.endedNumber = number
        return ended
    }

    /// Whether it is a one-time link that nobody has taken.
    package var isUntakenLink: Bool { isPending && user == nil && linkSecret != nil }

    /// By what the person can be invited again. Nil for a one-time link that nobody took. Otherwise nil only if an operator has
    /// changed the row by hand.
    var person: InvitedPerson? {
        user.map(InvitedPerson.user) ?? address.map(InvitedPerson.address)
    }

    /// All by which the row can be found.
    var persons: [InvitedPerson] {
        [user.map(InvitedPerson.user), address.map(InvitedPerson.address)].compactMap { $0 }
    }
}
