// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKShare {
    /// Somebody with whom a share is, or is to be, shared.
    public typealias Participant = CKShareParticipant
}

// NB: Not nested in CKShare, for the reason that is given for `CKRecord.Reference`.

/// Somebody with whom a share is, or is to be, shared: use its name `CKShare.Participant`.
///
/// Servers make participants. Two are equal when their `participantID`s are.
public class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The name of a participant, unique in a share.
    public typealias ID = String
    /// Whether somebody who was invited takes part.
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
    /// What somebody may do.
    public typealias Permission = CKShare.ParticipantPermission
    /// As what somebody takes part.
    public typealias Role = CKShare.ParticipantRole
    /// As what somebody takes part: the older form of `Role`.
    @available(*, deprecated, message: "Use CKShare.ParticipantRole")
    public typealias ParticipantType = CKShare.ParticipantType

    /// This participant's name.
    public let participantID: CKShare.Participant.ID

    /// Who it is.
    public let userIdentity: CKUserIdentity

    private struct Settings {
        var role: CKShare.ParticipantRole
        var permission: CKShare.ParticipantPermission
        /// The share that the object belongs to, once it belongs to one.
        var shareID: CKRecord.ID?
    }

    private let settings: Locked<Settings>

    /// Whether they have accepted.
    public let acceptanceStatus: CKShare.ParticipantAcceptanceStatus

    package init(
        _ identity: CKUserIdentity, role: CKShare.ParticipantRole = .privateUser,
        permission: CKShare.ParticipantPermission = .readOnly,
        acceptanceStatus: CKShare.ParticipantAcceptanceStatus = .pending, id: ID = UUID().uuidString
    ) {
        participantID = id
        userIdentity = identity
        self.acceptanceStatus = acceptanceStatus
        settings = Locked(Settings(role: role, permission: permission))
        super.init()
    }

    /// As what they take part; default `privateUser`.
    public var role: CKShare.ParticipantRole {
        get { settings.withLock { $0.role } }
        set { settings.withLock { $0.role = newValue } }
    }

    /// What they may do; default `readOnly`.
    public var permission: CKShare.ParticipantPermission {
        get { settings.withLock { $0.permission } }
        set { settings.withLock { $0.permission = newValue } }
    }

    /// As what they take part.
    @available(*, deprecated, message: "Use role")
    public var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(rawValue: role.rawValue) ?? .unknown }
        set { role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    // MARK: In a share

    /// The share that the object belongs to; nil until it is added to one.
    var shareID: CKRecord.ID? { settings.withLock { $0.shareID } }

    /// Belongs to that share, unless it belongs to one.
    func join(_ shareID: CKRecord.ID) {
        settings.withLock { $0.shareID = $0.shareID ?? shareID }
    }

    func isSamePerson(as other: CKShare.Participant) -> Bool {
        participantID == other.participantID || userIdentity.isSamePerson(as: other.userIdentity)
    }

    /// Takes over what an app can set.
    func update(from other: CKShare.Participant) {
        let (role, permission) = other.settings.withLock { ($0.role, $0.permission) }
        settings.withLock {
            $0.role = role
            $0.permission = permission
        }
    }

    var copied: CKShare.Participant {
        let now = settings.withLock { $0 }
        let copy = CKShare.Participant(
            userIdentity, role: now.role, permission: now.permission, acceptanceStatus: acceptanceStatus,
            id: participantID)
        if let shareID = now.shareID { copy.join(shareID) }
        return copy
    }

    // MARK: NSSecureCoding, NSCopying

    /// Archives call the class by the name that they always had.
    public override var classForKeyedArchiver: AnyClass? { _CKShareParticipant.self }

    /// What archives of that name are read as.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKShareParticipant.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a participant.
    public required init?(coder: NSCoder) {
        guard let id = coder.optionalString(forKey: "ParticipantID"),
            let identity = coder.optionalObject(of: CKUserIdentity.self, forKey: "UserIdentity")
        else { return nil }
        func number(_ key: String) -> Int { coder.optionalInt64(forKey: key).flatMap { Int(exactly: $0) } ?? 0 }
        participantID = id
        userIdentity = identity
        acceptanceStatus = CKShare.ParticipantAcceptanceStatus(rawValue: number("AcceptanceStatus")) ?? .unknown
        settings = Locked(
            Settings(
                role: CKShare.ParticipantRole(rawValue: number("Role")) ?? .unknown,
                permission: CKShare.ParticipantPermission(rawValue: number("Permission")) ?? .unknown,
                shareID: coder.optionalObject(of: CKRecord.ID.self, forKey: "ShareID")))
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        let now = settings.withLock { $0 }
        coder.encode(string: participantID, forKey: "ParticipantID")
        coder.encode(userIdentity, forKey: "UserIdentity")
        coder.encode(Int64(acceptanceStatus.rawValue), forKey: "AcceptanceStatus")
        coder.encode(Int64(now.role.rawValue), forKey: "Role")
        coder.encode(Int64(now.permission.rawValue), forKey: "Permission")
        if let shareID = now.shareID { coder.encode(shareID, forKey: "ShareID") }
    }

    /// An independent participant with the same name and settings.
    public func copy(with zone: NSZone? = nil) -> Any { copied }

    // MARK: NSObject

    /// Whether both have the same name.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShare.Participant)?.participantID == participantID
    }

    /// Equal for equal names.
    public override var hash: Int { participantID.hashValue }

    /// For people to read, without who it is.
    public override var description: String {
        "<CKShare.Participant \(participantID) role=\(role) permission=\(permission) status=\(acceptanceStatus)>"
    }
}
