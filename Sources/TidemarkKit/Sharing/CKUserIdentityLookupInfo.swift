// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKUserIdentity {
    /// By what a user is looked up.
    public typealias LookupInfo = CKUserIdentityLookupInfo
}

// NB: Not nested in CKUserIdentity, for the reason given for `CKRecord.Reference`.

/// By what a user is looked up. Use its name `CKUserIdentity.LookupInfo`.
///
/// Two are equal if all their values are.
public class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The e-mail address, if the lookup is by one.
    public let emailAddress: String?
    /// The telephone number, if the lookup is by one.
    public let phoneNumber: String?
    /// The user record's ID, if the lookup is by one.
    public let userRecordID: CKRecord.ID?

    private init(email: String?, phone: String?, user: CKRecord.ID?) {
        emailAddress = email
        phoneNumber = phone
        userRecordID = user
        super.init()
    }

    /// By an e-mail address.
    public convenience init(emailAddress: String) {
        self.init(email: emailAddress, phone: nil, user: nil)
    }

    /// By a telephone number.
    public convenience init(phoneNumber: String) {
        self.init(email: nil, phone: phoneNumber, user: nil)
    }

    /// By a user record's ID.
    public convenience init(userRecordID: CKRecord.ID) {
        self.init(email: nil, phone: nil, user: userRecordID)
    }

    /// One for each e-mail address.
    public class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
        emails.map { CKUserIdentity.LookupInfo(emailAddress: $0) }
    }

    /// One for each telephone number.
    public class func lookupInfos(withPhoneNumbers phoneNumbers: [String]) -> [CKUserIdentity.LookupInfo] {
        phoneNumbers.map { CKUserIdentity.LookupInfo(phoneNumber: $0) }
    }

    /// One for each user record's ID.
    public class func lookupInfos(with userRecordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
        userRecordIDs.map { CKUserIdentity.LookupInfo(userRecordID: $0) }
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKUserIdentityLookupInfo.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKUserIdentityLookupInfo.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// A lookup from an archive. If the archive holds none, one for nothing.
    public required init?(coder: NSCoder) {
        emailAddress = coder.optionalString(forKey: "EmailAddress")
        phoneNumber = coder.optionalString(forKey: "PhoneNumber")
        userRecordID = coder.optionalObject(of: CKRecord.ID.self, forKey: "UserRecordID")
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        coder.encode(string: emailAddress, forKey: "EmailAddress")
        coder.encode(string: phoneNumber, forKey: "PhoneNumber")
        if let userRecordID { coder.encode(userRecordID, forKey: "UserRecordID") }
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether all their values are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKUserIdentity.LookupInfo else { return false }
        return emailAddress == other.emailAddress && phoneNumber == other.phoneNumber
            && userRecordID == other.userRecordID
    }

    /// Equal for equal lookups.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(emailAddress)
        hasher.combine(phoneNumber)
        hasher.combine(userRecordID)
        return hasher.finalize()
    }

    /// For people to read, without the person's identity.
    public override var description: String {
        let kind = emailAddress != nil ? "e-mail address" : phoneNumber != nil ? "telephone number" : "user record"
        return "<CKUserIdentity.LookupInfo by \(kind)>"
    }
}
