// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The identity of a user, as far as others may know it.
///
/// Servers make identities. Two are equal if user and lookup are.
public class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The user, if known.
    public let userRecordID: CKRecord.ID?

    /// The lookup that found the user.
    public let lookupInfo: CKUserIdentity.LookupInfo?

    /// The user's name, for the app to show: given name, family name or both, as an operator has set them. Nil if the user has none, or has
    /// not joined the share.
    public let nameComponents: PersonNameComponents?

    /// Whether there is an account: false for an address that belongs to no user.
    public let hasiCloudAccount: Bool

    /// Always empty: there are no contacts here.
    @available(*, deprecated, message: "There are no contacts here")
    public var contactIdentifiers: [String] { [] }

    package init(
        userRecordID: CKRecord.ID? = nil, lookupInfo: CKUserIdentity.LookupInfo? = nil,
        nameComponents: PersonNameComponents? = nil, hasiCloudAccount: Bool = false
    ) {
        self.userRecordID = userRecordID
        self.lookupInfo = lookupInfo
        self.nameComponents = nameComponents
        self.hasiCloudAccount = hasiCloudAccount
        super.init()
    }

    /// Whether both are the same user, or have the same address if the users are unknown.
    func isSamePerson(as other: CKUserIdentity) -> Bool {
        if let userRecordID, let otherID = other.userRecordID { return userRecordID == otherID }
        return lookupInfo != nil && lookupInfo == other.lookupInfo
    }

    /// Whether both name the same person by the user or by the lookup.
    func matches(_ other: CKUserIdentity) -> Bool {
        if let userRecordID, userRecordID == other.userRecordID { return true }
        return lookupInfo != nil && lookupInfo == other.lookupInfo
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    private static let nameParts: [(String, any WritableKeyPath<PersonNameComponents, String?> & Sendable)] = [
        ("NamePrefix", \.namePrefix), ("GivenName", \.givenName), ("MiddleName", \.middleName),
        ("FamilyName", \.familyName), ("NameSuffix", \.nameSuffix), ("Nickname", \.nickname),
    ]

    /// An identity from an archive. If the archive holds none, that of nobody.
    public required init?(coder: NSCoder) {
        userRecordID = coder.optionalObject(of: CKRecord.ID.self, forKey: "UserRecordID")
        lookupInfo = coder.optionalObject(of: CKUserIdentity.LookupInfo.self, forKey: "LookupInfo")
        var name = PersonNameComponents()
        for (key, part) in Self.nameParts { name[keyPath: part] = coder.optionalString(forKey: key) }
        nameComponents = coder.containsValue(forKey: "HasName") ? name : nil
        hasiCloudAccount = coder.containsValue(forKey: "HasAccount") && coder.decodeBool(forKey: "HasAccount")
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        if let userRecordID { coder.encode(userRecordID, forKey: "UserRecordID") }
        if let lookupInfo { coder.encode(lookupInfo, forKey: "LookupInfo") }
        if let nameComponents {
            coder.encode(true, forKey: "HasName")
            for (key, part) in Self.nameParts { coder.encode(string: nameComponents[keyPath: part], forKey: key) }
        }
        coder.encode(hasiCloudAccount, forKey: "HasAccount")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether user and lookup are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKUserIdentity else { return false }
        return userRecordID == other.userRecordID && lookupInfo == other.lookupInfo
    }

    /// Equal for equal identities.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(userRecordID)
        hasher.combine(lookupInfo)
        return hasher.finalize()
    }

    /// For people to read, without the person's identity.
    public override var description: String { "<CKUserIdentity hasiCloudAccount=\(hasiCloudAccount)>" }
}
