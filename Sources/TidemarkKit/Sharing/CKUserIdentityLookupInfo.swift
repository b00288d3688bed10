// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKUserIdentity {
    /// What a user is looked up by.
    public typealias LookupInfo = CKUserIdentityLookupInfo
}

// NB: Not nested in CKUserIdentity, for the reason that is given for `CKRecord.Reference`.

/// What a user is looked up by: use its name `CKUserIdentity.LookupInfo`.
///
/// Two are equal when all of what they hold is.
public class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// An e-mail address, if it is that.
    public let emailAddress: String?
    /// A telephone number, if it is that.
    public let phoneNumber: String?
    /// A user record's ID, if it is that.
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

    /// Archives call the class by the name that they always had.
    public override var classForKeyedArchiver: AnyClass? { _CKUserIdentityLookupInfo.self }

    /// What archives of that name are read as.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKUserIdentityLookupInfo.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// A lookup from an archive; of nothing, if the archive holds none.
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

    /// The same object: it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether all of what they hold is equal.
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

    /// For people to read, without who it is.
    public override var description: String {
        let kind = emailAddress != nil ? "e-mail address" : phoneNumber != nil ? "telephone number" : "user record"
        return "<CKUserIdentity.LookupInfo by \(kind)>"
    }
}
