// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The `NSError` behind a ``CKError`` of this library. Its archives keep what put into `userInfo`:
/// records, errors of items, seconds.
///
/// NB: swift-corelibs-foundation cannot read an archive of its own NSError with secure coding if its userInfo holds
/// anything other than property lists.
final class CKErrorObject: NSError, @unchecked Sendable {
    private enum Key {
        static let domain = "domain"
        static let code = "code"
        static let userInfo = "userInfo"
    }

    /// The parts of userInfo that are archived. Anything else is left out.
    private static let classes: [AnyClass] = [
        NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSData.self, NSDate.self, NSURL.self,
        CKRecord.self, CKRecord.ID.self, CKRecordZone.ID.self, CKErrorObject.self,
    ]

    override init(domain: String, code: Int, userInfo: [String: Any]? = nil) {
        super.init(domain: domain, code: code, userInfo: userInfo)
    }

    /// Nil if it is not an archive of an error.
    required init?(coder: NSCoder) {
        guard let domain = coder.decodeObject(of: NSString.self, forKey: Key.domain),
            let userInfo = coder.decodeObject(of: Self.classes, forKey: Key.userInfo) as? NSDictionary
        else { return nil }
        var values: [String: Any] = [:]
        for (key, value) in userInfo {
            guard let key = key as? String else { continue }
            values[key] = (value as? NSDictionary).map(Self.errors) ?? value
        }
        super.init(domain: domain as String, code: coder.decodeInteger(forKey: Key.code), userInfo: values)
    }

    // NB: an archiver hashes the objects that it archives. NSError's own hash uses userInfo, and does not terminate for
    // certain objects.
    override var hash: Int { code }

    /// NB: swift-corelibs-foundation would print `Code=3 "(null)"`.
    override var description: String {
        domain == CKErrorDomain ? "CKError(\(CKErrorText(self).text))" : "\(domain) \(code): \(localizedDescription)"
    }

    override var debugDescription: String { description }

    override func encode(with coder: NSCoder) {
        coder.encode(domain as NSString, forKey: Key.domain)
        coder.encode(code, forKey: Key.code)
        let values = NSMutableDictionary()
        for (key, value) in userInfo {
            if let value = Self.archivable(value) { values.setObject(value, forKey: key as NSString) }
        }
        coder.encode(values, forKey: Key.userInfo)
    }

    /// In the form of `CKPartialErrorsByItemIDKey`.
    private static func errors(_ dictionary: NSDictionary) -> [AnyHashable: any Error] {
        var errors: [AnyHashable: any Error] = [:]
        for (key, value) in dictionary {
            if let key = key as? AnyHashable, let error = value as? NSError { errors[key] = CKError(_nsError: error) }
        }
        return errors
    }

    private static func archivable(_ value: Any) -> NSObject? {
        if let errors = value as? [AnyHashable: any Error] {
            let dictionary = NSMutableDictionary()
            for (key, error) in errors where key.base is NSObject || key.base is String {
                dictionary.setObject(
                    object(error), forKey: (key.base as? String).map { $0 as NSString as AnyHashable } ?? key)
            }
            return dictionary
        }
        if let error = value as? any Error { return object(error) }
        switch value {
        case let value as String: return value as NSString
        case let value as NSObject: return classes.contains { value.isKind(of: $0) } ? value : nil
        case let value as URL: return value as NSURL
        case let value as Data: return value as NSData
        case let value as Date: return value as NSDate
        default: return nil
        }
    }

    private static func object(_ error: any Error) -> CKErrorObject {
        let error = error as NSError
        return error as? CKErrorObject
            ?? CKErrorObject(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }
}
