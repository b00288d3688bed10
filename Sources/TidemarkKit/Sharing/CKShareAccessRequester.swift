// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKShare {
    /// A person who has asked for access to a share.
    public typealias AccessRequester = CKShareAccessRequester
    /// A person who may no longer ask for access to a share.
    public typealias BlockedIdentity = CKShareBlockedIdentity
}

// NB: Not nested in CKShare, for the reason given for `CKRecord.Reference`.

/// A person who has asked for access to a share. Use its name `CKShare.AccessRequester`.
///
/// Servers make them. Two are equal if they are the same user.
public class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The person who asks, with the name that an operator has set for the account.
    public let userIdentity: CKUserIdentity

    /// With it, `CKFetchShareParticipantsOperation` finds the person, whom you add to the share to approve the request. It uses the user
    /// record, because the server knows the person only by that and reveals no address.
    public var participantLookupInfo: CKUserIdentity.LookupInfo {
        userIdentity.userRecordID.map { CKUserIdentity.LookupInfo(userRecordID: $0) }
            ?? userIdentity.lookupInfo ?? CKUserIdentity.LookupInfo(emailAddress: "")
    }

    init(_ identity: CKUserIdentity) {
        userIdentity = identity
        super.init()
    }

    /// The user's record name.
    var userName: String { userIdentity.userRecordID?.recordName ?? "" }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil if the archive does not hold a requester.
    public required init?(coder: NSCoder) {
        guard let identity = coder.optionalObject(of: CKUserIdentity.self, forKey: "UserIdentity") else { return nil }
        userIdentity = identity
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both are the same user.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShare.AccessRequester)?.userIdentity == userIdentity
    }

    /// Equal for the same user.
    public override var hash: Int { userIdentity.hash }

    /// For people to read, without the person's identity.
    public override var description: String { "<CKShare.AccessRequester>" }
}

/// A person who may no longer ask for access to a share. Use its name `CKShare.BlockedIdentity`.
///
/// Servers make them. Two are equal if they are the same user.
public class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The person who is blocked.
    public let userIdentity: CKUserIdentity

    init(_ identity: CKUserIdentity) {
        userIdentity = identity
        super.init()
    }

    /// The user's record name.
    var userName: String { userIdentity.userRecordID?.recordName ?? "" }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil if the archive does not hold an identity.
    public required init?(coder: NSCoder) {
        guard let identity = coder.optionalObject(of: CKUserIdentity.self, forKey: "UserIdentity") else { return nil }
        userIdentity = identity
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both are the same user.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShare.BlockedIdentity)?.userIdentity == userIdentity
    }

    /// Equal for the same user.
    public override var hash: Int { userIdentity.hash }

    /// For people to read, without the person's identity.
    public override var description: String { "<CKShare.BlockedIdentity>" }
}
