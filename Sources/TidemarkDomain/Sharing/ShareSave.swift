// SPDX-License-Identifier: Apache-2.0

/// The data about the share in a save of a CKShare, beside the fields of its record.
package struct ShareSave: Sendable, Equatable {
    /// The name of the CKShare record.
    package let recordName: String
    /// The tag of the client's copy; nil if the copy has none.
    package let tag: ChangeTag?
    /// The permission of everybody with the URL; nil: as now, and none in a new share.
    package let publicPermission: SharePermission?
    /// All participants that the share will have, without the owner; nil: the present ones. Participants that are left
    /// out are removed.
    package let participants: [ParticipantSave]?
    /// Whether people who are not invited may ask for access; nil: as now, and false in a new share.
    package let allowsRequests: Bool?
    /// The answers to users who have asked.
    package let answers: AccessAnswers
    /// The name of the root of the hierarchy that a first save shares. Later it is the same, or nil.
    package let rootName: String?

    package init(
        recordName: String = Share.zoneWideName, rootName: String? = nil, tag: ChangeTag?,
        publicPermission: SharePermission? = nil,
        participants: [ParticipantSave]? = nil, allowsRequests: Bool? = nil, answers: AccessAnswers = AccessAnswers()
    ) {
        self.recordName = recordName
        self.tag = tag
        self.publicPermission = publicPermission
        self.participants = participants
        self.allowsRequests = allowsRequests
        self.answers = answers
        self.rootName = rootName
    }

    /// Whether it invites somebody by a one-time link.
    package var invitesByLink: Bool { participants?.contains { $0.linkPerson != nil } ?? false }

    /// The same, with a new random secret for each one-time link.
    func givingLinks(_ secret: () -> [UInt8]) -> ShareSave {
        let participants = participants?.map { entry in
            entry.linkPerson == nil
                ? entry
                : ParticipantSave(
                    id: entry.id, person: .link(secret()), role: entry.role, permission: entry.permission)
        }
        return ShareSave(
            recordName: recordName, rootName: rootName, tag: tag, publicPermission: publicPermission,
            participants: participants,
            allowsRequests: allowsRequests, answers: answers)
    }

    /// Whether it has no data about the share, so that only fields of the record may change.
    package var isAboutFields: Bool {
        publicPermission == nil && participants == nil && allowsRequests == nil && answers.isEmpty
    }
}

/// One participant of a ``ShareSave``.
package struct ParticipantSave: Sendable, Hashable {
    /// The server's ID, or a new one.
    package let id: ParticipantID
    /// The person to invite. Needed if the share has no participant with the ID, and otherwise ignored.
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

    /// if a one-time link ended before anybody took it, it can be invited again, and gets another secret.
    var linkPerson: InvitedPerson? { if case .link = person { person } else { nil } }

    /// The role of the person if they are invited: nobody is invited as owner or as public user.
    var invitedRole: ParticipantRole { role == .administrator ? .administrator : .privateUser }
}

/// By what a person is invited.
package enum InvitedPerson: Sendable, Hashable {
    case user(UserID)
    /// An e-mail address or a telephone number in its normal form. A user who has verified it may accept.
    case address(String)
    /// The first person who uses the one-time link of this random secret. The secret is empty until the service has made one.
    case link([UInt8])

    /// Whether it can be stored.
    func isValid(within limits: Limits) -> Bool {
        switch self {
        case .user, .link: true
        case .address(let address):
            // Also keeps U+0000 out, which the store's text cannot hold.
            !address.isEmpty && address.utf8.count <= limits.addressBytesMax
                && address.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        }
    }
}

extension ShareSave {
    /// A fault of the save that does not depend on stored data; nil if there is none.
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
        if recordName != Share.zoneWideName {
            if let rootName, !RecordName.isValid(rootName, limits: limits) { return .shareRootMissing }
            if rootName == recordName { return .shareRootMissing }
        } else if rootName != nil {
            return .shareRootMissing
        }
        let entries = (participants ?? []).filter { $0.id != .owner }
        let areValid = entries.allSatisfy { $0.isValid(within: limits) }
        return areValid && Set(entries.map(\.id)).count == entries.count ? nil : .participantInvalid
    }
}

extension ShareSave {
    /// Whether the share can be made now, if it is not there.
    package func mayBeMade(within limits: Limits) -> Bool {
        Share.isZoneWide(named: recordName) || limits.servesHierarchies
    }
}

extension ParticipantSave {
    /// a participant can do something, and there is one owner.
    func isValid(within limits: Limits) -> Bool {
        role != .owner && permission != .noAccess && person?.isValid(within: limits) ?? true
    }
}
