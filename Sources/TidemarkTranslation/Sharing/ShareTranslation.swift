// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

/// The end of a share's URL: the secret in hexadecimal digits.
package enum ShareLink {
    /// I-7: what is longer was made by no server.
    private static let secretBytesMax = 64

    /// Nil for a text that is no link.
    package static func secret(in link: String) -> [UInt8]? {
        guard let secret = Hex.decode(link), 1...secretBytesMax ~= secret.count else { return nil }
        return secret
    }

    package static func text(of secret: [UInt8]) -> String { Hex.encode(secret) }

    /// A one-time link begins with the hash of its zone's secret.
    static func text(ofOneTime secret: [UInt8], zoneHash: [UInt8]) -> String { Hex.encode(zoneHash + secret) }
}

// MARK: What is saved

extension ShareSave {
    /// What a save of a CKShare record says of the share.
    ///
    /// - Throws: ``Refusal`` with `requestInvalid` for a permission, role or ID that is not valid.
    init(_ save: WireRecordSave, by viewpoint: Viewpoint) throws(Refusal) {
        let share = save.share
        var participants: [ParticipantSave] = []
        for participant in share.participants { participants.append(try ParticipantSave(participant, by: viewpoint)) }
        self.init(
            recordName: save.name, rootName: share.root.isEmpty ? nil : share.root,
            tag: save.tag.isEmpty ? nil : ChangeTag(bytes: save.tag),
            publicPermission: try SharePermission.read(share.publicPermission),
            participants: share.setsParticipants ? participants : nil,
            allowsRequests: try Bool?.read(share.accessRequests), answers: AccessAnswers(share, by: viewpoint))
    }

    /// The record names of the users whom a save invites, or whom it answers. The viewpoint must know them before the save is
    /// read.
    package static func namedUsers(in save: WireRecordSave) -> (invited: [String], answered: [String]) {
        guard save.hasShare else { return ([], []) }
        let answered = save.share.denied + save.share.blocked + save.share.unblocked
        return (save.share.participants.map(\.user).filter { !$0.isEmpty }, answered.filter { !$0.isEmpty })
    }
}

extension AccessAnswers {
    /// Names that nobody has are left out: there is nobody to answer.
    fileprivate init(_ share: WireShareSave, by viewpoint: Viewpoint) {
        func users(_ names: [String]) -> Set<UserID> { Set(names.compactMap(viewpoint.user(named:))) }
        self.init(denied: users(share.denied), blocked: users(share.blocked), unblocked: users(share.unblocked))
    }
}

extension Bool? {
    /// Nil: not said.
    fileprivate static func read(_ choice: WireAccessRequestsChoice) throws(Refusal) -> Bool? {
        switch choice {
        case .unspecified: nil
        case .requestsRefused: false
        case .requestsAllowed: true
        case .unrecognized: throw Refusal(.requestInvalid, "There is no such choice about requests for access.")
        }
    }
}

extension ParticipantSave {
    fileprivate init(_ participant: WireParticipantSave, by viewpoint: Viewpoint) throws(Refusal) {
        guard let id = ParticipantID(bytes: participant.id) else {
            throw Refusal(.requestInvalid, "A participant's ID has 16 bytes.")
        }
        // the defaults.
        self.init(
            id: id, person: InvitedPerson(participant, by: viewpoint),
            role: try ParticipantRole.read(participant.role) ?? .privateUser,
            permission: try SharePermission.read(participant.permission) ?? .readOnly)
    }
}

extension InvitedPerson {
    /// Nil if nobody is named, or nobody whom the viewpoint knows. Then the participant must be one of the share.
    fileprivate init?(_ participant: WireParticipantSave, by viewpoint: Viewpoint) {
        if !participant.user.isEmpty {
            guard let user = viewpoint.user(named: participant.user) else { return nil }
            self = .user(user)
        } else if participant.byLink {
            self = .link([])
        } else {
            guard let address = PersonAddress(email: participant.email, phone: participant.phone) else { return nil }
            self = .address(address.text)
        }
    }
}

extension PersonAddress {
    /// Nil if neither is an address.
    fileprivate init?(email: String, phone: String) {
        if !email.isEmpty { self.init(email: email) } else { self.init(phone: phone) }
    }
}

extension SharePermission {
    /// Nil: not said.
    fileprivate static func read(_ permission: WireSharePermission) throws(Refusal) -> SharePermission? {
        switch permission {
        case .unspecified: nil
        case .noAccess: .noAccess
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        case .unrecognized: throw Refusal(.requestInvalid, "There is no such permission.")
        }
    }
}

extension ParticipantRole {
    /// Nil: not said.
    fileprivate static func read(_ role: WireParticipantRole) throws(Refusal) -> ParticipantRole? {
        switch role {
        case .unspecified: nil
        case .owner: .owner
        case .administrator: .administrator
        case .privateUser: .privateUser
        case .publicUser: .publicUser
        case .unrecognized: throw Refusal(.requestInvalid, "There is no such role.")
        }
    }
}

extension ParticipantID {
    /// From 16 bytes in network order; nil for any other count.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func number(_ slice: ArraySlice<UInt8>) -> UInt64 { slice.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }

    var bytes: [UInt8] {
        [high, low].flatMap { number in
            stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
    }
}

// MARK: What is shown

extension WireShare {
    init(_ share: ShownShare, seenFrom viewpoint: Viewpoint) {
        self.init()
        publicPermission = WireSharePermission(share.publicPermission)
        participants = share.participants.map { shown in
            var wire = WireParticipant(shown, seenFrom: viewpoint)
            if let secret = shown.linkSecret, !share.secretHash.isEmpty {
                wire.link = ShareLink.text(ofOneTime: secret, zoneHash: share.secretHash)
            }
            return wire
        }
        link = ShareLink.text(of: share.secret)
        root = share.rootName ?? ""
        allowsAccessRequests = share.allowsRequests
        requesters = share.requesters.map { WireAccessRequester($0, seenFrom: viewpoint) }
        blocked = share.blocked.map { WireAccessRequester($0, seenFrom: viewpoint) }
    }
}

extension WireAccessRequester {
    fileprivate init(_ requester: ShownRequester, seenFrom viewpoint: Viewpoint) {
        self.init()
        user = viewpoint.name(of: requester.user)
        givenName = requester.name?.given ?? ""
        familyName = requester.name?.family ?? ""
    }
}

extension WireParticipant {
    fileprivate init(_ participant: ShownParticipant, seenFrom viewpoint: Viewpoint) {
        self.init()
        id = participant.id.bytes
        user = participant.user.map(viewpoint.name(of:)) ?? ""
        isCaller = participant.isViewer
        switch participant.address.map(PersonAddress.init(normal:)) {
        case .email(let text): email = text
        case .phone(let text): phone = text
        case nil: break
        }
        role = WireParticipantRole(participant.role)
        permission = WireSharePermission(participant.permission)
        status = WireParticipantStatus(participant.status)
        givenName = participant.name?.given ?? ""
        familyName = participant.name?.family ?? ""
        addedAt = participant.addedAt?.milliseconds ?? 0
        isApprovedRequester = participant.isApprovedRequester
    }
}

/// Which root records of hierarchies come with the metadata of their shares.
package enum WantedRoots: Sendable, Hashable {
    case none
    case whole
    case only(FieldSelection)

    /// - Throws: ``Refusal`` with `requestInvalid` for too many keys.
    package init(_ request: WireFetchShareMetadata) throws(Refusal) {
        guard request.wantsRoots else {
            self = .none
            return
        }
        self = request.hasRootKeys ? .only(try FieldSelection(request.rootKeys)) : .whole
    }

    /// The fields of a root that are wanted; nil: the root is not.
    fileprivate func fields(of root: RecordState) -> FieldMap? {
        switch self {
        case .none: nil
        case .whole: root.fields
        case .only(let selection): root.fields.selecting(selection)
        }
    }
}

extension WireShareMetadataResult {
    /// - Parameters:
    ///   - viewpoint: it knows the zone's owner, and how the participants are named. Without the owner this is a failure,
    ///     `serverFault`.
    ///   - roots: whether the roots of hierarchies are wanted.
    package init(
        _ result: Result<ShareMetadata, FailureReason>, seenFrom viewpoint: Viewpoint, within limits: Limits,
        roots: WantedRoots = .none
    ) {
        self.init()
        switch result {
        case .failure(let reason): failure = reason.wire(detail: reason.text(within: limits))
        case .success(let found):
            var viewpoint = viewpoint
            viewpoint.shares[found.zone.id] = [found.record.name: found.share]
            var writer = RecordWriter(viewpoint, in: found.zone.id)
            // An owner may look at their own link, from the shared database as all others.
            writer.showsRootParents = found.owner.user == viewpoint.user
            guard let record = writer.message(of: found.record),
                let zone = try? WireZoneID(found.zone.key, seenFrom: viewpoint)
            else {
                failure = FailureReason.serverFault.wire()
                return
            }
            metadata.zone = zone
            metadata.share = record
            metadata.role = WireParticipantRole(found.role)
            metadata.status = WireParticipantStatus(found.status)
            metadata.permission = WireSharePermission(found.permission)
            if let owner = record.share.participants.first { metadata.owner = owner }
            metadata.root = found.share.rootName ?? ""
            if let root = found.root, let fields = roots.fields(of: root),
                let message = writer.message(of: root, fields)
            {
                metadata.rootRecord = message
            }
        }
    }

    /// A share that was declined. Nothing more is said of it.
    package init(declined result: Result<Void, FailureReason>) {
        self.init()
        switch result {
        case .failure(let reason): failure = reason.wire()
        case .success: metadata = WireShareMetadata()
        }
    }
}

extension WireRequestShareAccessAnswer {
    package init(_ asked: [Result<Void, FailureReason>]) {
        self.init()
        results = asked.map { result in
            var wire = WireShareAccessResult()
            if case .failure(let reason) = result { wire.failure = reason.wire() }
            return wire
        }
    }
}

// MARK: Numbers, which are CloudKit's on both sides

extension WireSharePermission {
    fileprivate init(_ permission: SharePermission) { self.init(rawValue: Int32(permission.rawValue)) }
}

extension WireParticipantRole {
    fileprivate init(_ role: ParticipantRole) { self.init(rawValue: Int32(role.rawValue)) }
}

extension WireParticipantStatus {
    fileprivate init(_ status: ParticipantStatus) { self.init(rawValue: Int32(status.rawValue)) }
}
