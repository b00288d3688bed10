// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKShare {
    /// A person with whom something is, or will be, shared.
    public typealias Participant = CKShareParticipant
}

// NB: Not nested in CKShare, for the reason given for `CKRecord.Reference`.

/// A person with whom something is, or will be, shared. Use its name `CKShare.Participant`.
///
/// Servers make participants. Two are equal if their `participantID`s are.
public class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The name of a participant, which is unique in a share.
    public typealias ID = String
    /// Whether an invited person takes part.
    public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
    /// What a participant may do.
    public typealias Permission = CKShare.ParticipantPermission
    /// In which role a person takes part.
    public typealias Role = CKShare.ParticipantRole
    /// In which role a person takes part: the older form of `Role`.
    @available(*, deprecated, message: "Use CKShare.ParticipantRole")
    public typealias ParticipantType = CKShare.ParticipantType

    /// This participant's name.
    public let participantID: CKShare.Participant.ID

    /// The person.
    public let userIdentity: CKUserIdentity

    private struct Settings {
        var role: CKShare.ParticipantRole
        var permission: CKShare.ParticipantPermission
        /// The share to which the object belongs, once it belongs to one.
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

    /// Their role; default `privateUser`.
    public var role: CKShare.ParticipantRole {
        get { settings.withLock { $0.role } }
        set { settings.withLock { $0.role = newValue } }
    }

    /// What they may do; default `readOnly`.
    public var permission: CKShare.ParticipantPermission {
        get { settings.withLock { $0.permission } }
        set { settings.withLock { $0.permission = newValue } }
    }

    /// Their role.
    @available(*, deprecated, message: "Use role")
    public var type: CKShare.ParticipantType {
        get { CKShare.ParticipantType(rawValue: role.rawValue) ?? .unknown }
        set { role = CKShare.ParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
    }

    // MARK: In a share

    /// The share to which the object belongs; nil until it is added to one.
    var shareID: CKRecord.ID? { settings.withLock { $0.shareID } }

    /// Adds the object to that share, unless it belongs to one.
    func join(_ shareID: CKRecord.ID) {
        settings.withLock { $0.shareID = $0.shareID ?? shareID }
    }

    func isSamePerson(as other: CKShare.Participant) -> Bool {
        participantID == other.participantID || userIdentity.isSamePerson(as: other.userIdentity)
    }

    /// Takes over the values that an app can set.
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

    /// For people to read, without the person's identity.
    public override var description: String {
        "<CKShare.Participant \(participantID) role=\(role) permission=\(permission) status=\(acceptanceStatus)>"
    }
}
