// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKShare {
    /// A person with whom something is, or will be, shared.
    public typealias Participant = CKShareParticipant
}

// NB: Not nested in CKShare, for the reason given for `CKRecord.Reference`.

/// A person with whom something is, or will be, shared. Use its name `CKShare.Participant`.
///
/// Servers make participants. Two are equal if they are the same person, also in two shares, and whatever their roles
/// and permissions are.
public class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The name of a participant, which is unique in a share.
    public typealias ID = String
    /// Whether an invited person takes part.
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
    /// What a participant may do.
    public typealias Permission = CKShare.ParticipantPermission
    /// The role of a person who takes part.
    public typealias Role = CKShare.ParticipantRole
    /// The role of a person who takes part: the older form of `Role`.
    @available(*, deprecated, message: "Use CKShare.ParticipantRole")
    public typealias ParticipantType = CKShare.ParticipantType

    private struct State {
        var id: ID
        var identity: CKUserIdentity
        var status: CKShare.ParticipantAcceptanceStatus
        var role: CKShare.ParticipantRole
        var permission: CKShare.ParticipantPermission
        /// The share to which the object belongs, once it belongs to one.
        var shareID: CKRecord.ID?
        var invitation = ParticipantInvitation()
    }

    private let state: Locked<State>

    package init(
        _ identity: CKUserIdentity, role: CKShare.ParticipantRole = .privateUser,
        permission: CKShare.ParticipantPermission = .readOnly,
        acceptanceStatus: CKShare.ParticipantAcceptanceStatus = .pending, id: ID = UUID().uuidString
    ) {
        state = Locked(
            State(id: id, identity: identity, status: acceptanceStatus, role: role, permission: permission))
        super.init()
    }

    convenience init(
        _ identity: CKUserIdentity, role: CKShare.ParticipantRole, permission: CKShare.ParticipantPermission,
        acceptanceStatus: CKShare.ParticipantAcceptanceStatus, id: ID, _ invitation: ParticipantInvitation
    ) {
        self.init(identity, role: role, permission: permission, acceptanceStatus: acceptanceStatus, id: id)
        state.withLock { $0.invitation = invitation }
    }

    /// A participant without a name: the first person who uses the participant's one-time URL.
    ///
    /// Add the participant to a share and save that. Then ``CKShare/oneTimeURL(for:)`` has the URL, which you send to one
    /// person. They pass it to ``CKContainer/shareMetadata(for:)`` and accept, as with any URL of a share. From then on the
    /// participant is that person, and the URL is of no use to anybody else. Until then `userIdentity` names nobody.
    ///
    /// In CloudKit it returns `Self`.
    public class func oneTimeURLParticipant() -> CKShare.Participant {
        CKShare.Participant(
            CKUserIdentity(), role: .privateUser, permission: .readOnly, acceptanceStatus: .pending,
            id: UUID().uuidString, ParticipantInvitation(isByLink: true))
    }

    /// This participant's name. Once the share is saved it is the one that the server has for the person.
    public var participantID: CKShare.Participant.ID { state.withLock { $0.id } }

    /// The person.
    public var userIdentity: CKUserIdentity { state.withLock { $0.identity } }

    /// Whether they have accepted.
    public var acceptanceStatus: CKShare.ParticipantAcceptanceStatus { state.withLock { $0.status } }

    /// When they were added to the share, on the server's clock. Nil for the owner, before the share is saved, and if the
    /// server is too old to say it.
    public var dateAddedToShare: Date? { state.withLock { $0.invitation.addedAt } }

    /// Whether they had asked for access when the owner or an administrator added them.
    public var isApprovedRequester: Bool { state.withLock { $0.invitation.isApprovedRequester } }

    /// Their role; default `privateUser`.
    public var role: CKShare.ParticipantRole {
        get { state.withLock { $0.role } }
        set { state.withLock { $0.role = newValue } }
    }

    /// The participant's permission; default `readOnly`.
    public var permission: CKShare.ParticipantPermission {
        get { state.withLock { $0.permission } }
        set { state.withLock { $0.permission = newValue } }
    }

    /// Their role.
    @available(*, deprecated, message: "Use role")
    public var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(rawValue: role.rawValue) ?? .unknown }
        set { role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    // MARK: In a share

    /// The URL of the participant's own; nil if they were not invited by one.
    var oneTimeURL: URL? { state.withLock { $0.invitation.url } }

    /// The share to which the object belongs; nil until it is added to one.
    var shareID: CKRecord.ID? { state.withLock { $0.shareID } }

    /// Adds the object to that share, unless it belongs to one.
    func join(_ shareID: CKRecord.ID) {
        state.withLock { $0.shareID = $0.shareID ?? shareID }
    }

    /// The object may be added to another share then.
    func leave(_ shareID: CKRecord.ID) {
        state.withLock { if $0.shareID == shareID { $0.shareID = nil } }
    }

    func isSamePerson(as other: CKShare.Participant) -> Bool {
        participantID == other.participantID || userIdentity.isSamePerson(as: other.userIdentity)
    }

    /// Takes over the values that an app can set.
    func update(from other: CKShare.Participant) {
        let (role, permission) = other.state.withLock { ($0.role, $0.permission) }
        state.withLock {
            $0.role = role
            $0.permission = permission
        }
    }

    /// Takes over the server's values of the person, except those that the app has set since `before`.
    ///
    /// - Parameter before: nil if the app has added the person since: all values that an app can set stay.
    func follow(_ server: CKShare.Participant, after before: ParticipantTerms?) {
        let theirs = server.state.withLock { $0 }
        // In one step: an app that sets a value meanwhile sets it before, and it stays, or after.
        state.withLock { mine in
            mine.id = theirs.id
            mine.identity = theirs.identity
            mine.status = theirs.status
            mine.invitation = theirs.invitation
            mine.shareID = mine.shareID ?? theirs.shareID
            guard let before else { return }
            if mine.role == before.role { mine.role = theirs.role }
            if mine.permission == before.permission { mine.permission = theirs.permission }
        }
    }

    /// The values of the participant that a save sends, at this moment.
    var terms: ParticipantTerms {
        let now = state.withLock { $0 }
        return ParticipantTerms(
            id: now.id, identity: now.identity, status: now.status, invitation: now.invitation, role: now.role,
            permission: now.permission)
    }

    var copied: CKShare.Participant {
        let now = state.withLock { $0 }
        let copy = CKShare.Participant(
            now.identity, role: now.role, permission: now.permission, acceptanceStatus: now.status, id: now.id,
            now.invitation)
        if let shareID = now.shareID { copy.join(shareID) }
        return copy
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKShareParticipant.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKShareParticipant.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a participant.
    public required init?(coder: NSCoder) {
        guard let id = coder.optionalString(forKey: "ParticipantID"),
            let identity = coder.optionalObject(of: CKUserIdentity.self, forKey: "UserIdentity")
        else { return nil }
        func number(_ key: String) -> Int { coder.optionalInt64(forKey: key).flatMap { Int(exactly: $0) } ?? 0 }
        state = Locked(
            State(
                id: id, identity: identity,
                status: CKShare.ParticipantAcceptanceStatus(rawValue: number("AcceptanceStatus")) ?? .unknown,
                role: CKShare.ParticipantRole(rawValue: number("Role")) ?? .unknown,
                permission: CKShare.ParticipantPermission(rawValue: number("Permission")) ?? .unknown,
                shareID: coder.optionalObject(of: CKRecord.ID.self, forKey: "ShareID"),
                invitation: ParticipantInvitation(coder: coder)))
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        let now = state.withLock { $0 }
        coder.encode(string: now.id, forKey: "ParticipantID")
        coder.encode(now.identity, forKey: "UserIdentity")
        coder.encode(Int64(now.status.rawValue), forKey: "AcceptanceStatus")
        coder.encode(Int64(now.role.rawValue), forKey: "Role")
        coder.encode(Int64(now.permission.rawValue), forKey: "Permission")
        if let shareID = now.shareID { coder.encode(shareID, forKey: "ShareID") }
        now.invitation.encode(with: coder)
    }

    /// An independent participant with the same name and settings.
    public func copy(with zone: NSZone? = nil) -> Any { copied }

    // MARK: NSObject

    /// Whether both are the same person, whatever their permissions: the `participantID`, the user record or the lookup is the same
    ///
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShare.Participant else { return false }
        if participantID == other.participantID { return true }
        return !ShareState.isArchiving && userIdentity.matches(other.userIdentity)
    }

    /// The same for all participants, because one object may equal one person by a name and another person by an
    /// address.
    public override var hash: Int { ObjectIdentifier(CKShareParticipant.self).hashValue }

    /// For people to read, without the person's identity.
    public override var description: String {
        "<CKShare.Participant \(participantID) role=\(role) permission=\(permission) status=\(acceptanceStatus)>"
    }
}
