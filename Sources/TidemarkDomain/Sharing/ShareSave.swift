// SPDX-License-Identifier: Apache-2.0

/// What a save of a CKShare says of the share, beside the fields of its record.
package struct ShareSave: Sendable, Equatable {
    /// The name of the CKShare record.
    package let recordName: String
    /// The tag of the client's copy; nil if the copy has none.
    package let tag: ChangeTag?
    /// What everybody with the URL may do; nil: what they may do now, in a new share nothing.
    package let publicPermission: SharePermission?
    /// All who are to take part, without the owner; nil: those who do now. Whoever is left out is removed.
    package let participants: [ParticipantSave]?

    package init(
        recordName: String = Share.zoneWideName, tag: ChangeTag?, publicPermission: SharePermission? = nil,
        participants: [ParticipantSave]? = nil
    ) {
        self.recordName = recordName
        self.tag = tag
        self.publicPermission = publicPermission
        self.participants = participants
    }

    /// Whether it says nothing of the share, so that only fields of the record may change.
    package var isAboutFields: Bool { publicPermission == nil && participants == nil }
}

/// One participant of a ``ShareSave``.
package struct ParticipantSave: Sendable, Hashable {
    /// That of the server, or a new one.
    package let id: ParticipantID
    /// Whom to invite. Needed if the share has no participant with the ID, and otherwise ignored.
    package let person: InvitedPerson?
    package let role: ParticipantRole
    package let permission: SharePermission

    package init(
        id: ParticipantID, person: InvitedPerson? = nil, role: ParticipantRole = .privateUser,
        permission: SharePermission = .readOnly
    ) {
        self.id = id
        self.person = person
        self.role = role
        self.permission = permission
    }

    /// The role of the person if they are invited: nobody is invited as owner or as public user.
    var invitedRole: ParticipantRole { role == .administrator ? .administrator : .privateUser }
}

/// By what a person is invited.
package enum InvitedPerson: Sendable, Hashable {
    case user(UserID)
    /// An e-mail address or a telephone number in its normal form. Whoever has it verified may accept.
    case address(String)

    /// Whether it can be stored.
    func isValid(within limits: Limits) -> Bool {
        switch self {
        case .user: true
        case .address(let address):
            // Also keeps U+0000 out, which the store's text cannot hold.
            !address.isEmpty && address.utf8.count <= limits.addressBytesMax
                && address.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        }
    }
}

extension ShareSave {
    /// What is wrong with the save, whatever is stored; nil if nothing is.
    ///
    /// - Parameters:
    ///   - scope: the database in which it is saved.
    ///   - zone: the zone's name.
    package func refusal(
        in scope: DatabaseScope, zoneNamed zone: String, within limits: Limits
    ) -> FailureReason? {
        //
        if scope == .public { return .wrongDatabase }
        if zone == ZoneName.default { return .zoneNotShareable }
        //
        guard recordName == Share.zoneWideName else { return .hierarchiesUnavailable }
        let entries = (participants ?? []).filter { $0.id != .owner }
        let areValid = entries.allSatisfy { $0.isValid(within: limits) }
        return areValid && Set(entries.map(\.id)).count == entries.count ? nil : .participantInvalid
    }
}

extension ParticipantSave {
    /// a participant can do something, and there is one owner.
    func isValid(within limits: Limits) -> Bool {
        role != .owner && permission != .noAccess && person?.isValid(within: limits) ?? true
    }
}
