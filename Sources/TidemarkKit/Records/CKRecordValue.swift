// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A value that a record's field can hold.
public protocol CKRecordValueProtocol {}

/// A value for a field, written `as CKRecordValue`. It is an object as a record keeps it, or a Swift value that
/// is converted to one.
///
/// It is wider than CloudKit's, where `CKRecordValue` is another name of `__CKRecordObjCValue`: Linux has no bridging
/// that would make `"text" as CKRecordValue` an NSString. In your own extensions, extend `__CKRecordObjCValue`, so that
/// your members do not appear on `String` and `Int64`. Every value has a `description`, as objects do.
public protocol CKRecordValue: CKRecordValueProtocol, CustomStringConvertible {}

/// A value that was read from a field: one of Foundation's objects, `CKRecord.Reference`, `CKAsset` or `CLLocation`
///
public protocol __CKRecordObjCValue: CKRecordValue {}

extension CKRecordValue {
    /// Whether a record treats both as the same. They are compared as the objects that it would keep, so `2`
    /// equals an NSNumber.
    @_disfavoredOverload
    public func isEqual(_ object: Any?) -> Bool {
        guard let object, let mine = RecordObject.make(of: self), let other = RecordObject.make(of: object) else {
            return false
        }
        return mine.isEqual(other)
    }
}

extension String: CKRecordValue {}
extension Date: CKRecordValue {}
extension Data: CKRecordValue {}
extension Bool: CKRecordValue {}
extension Double: CKRecordValue {}
extension Float: CKRecordValue {}
extension Int: CKRecordValue {}
extension UInt: CKRecordValue {}
extension Int8: CKRecordValue {}
extension Int16: CKRecordValue {}
extension Int32: CKRecordValue {}
extension Int64: CKRecordValue {}
extension UInt8: CKRecordValue {}
extension UInt16: CKRecordValue {}
extension UInt32: CKRecordValue {}
extension UInt64: CKRecordValue {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}
extension Array: CKRecordValue where Element: CKRecordValueProtocol {}
extension NSString: __CKRecordObjCValue {}
extension NSDate: __CKRecordObjCValue {}
extension NSData: __CKRecordObjCValue {}
extension NSNumber: __CKRecordObjCValue {}
extension NSArray: __CKRecordObjCValue {}
extension CKRecord.Reference: __CKRecordObjCValue {}
extension CKAsset: __CKRecordObjCValue {}
extension CLLocation: __CKRecordObjCValue {}

// NB: For the compiler these conformances do not exist: members of an app's extension do not appear on String or Data.
// There are two reasons for them. `record["text"] as? String` gives no warning that it always fails, as it gives none
// where NSString is bridged. And `CKRecord` can return a Data for a value that it keeps as NSData, which is a thousand
// times faster to read.
@available(*, unavailable) extension String: __CKRecordObjCValue {}
@available(*, unavailable) extension Date: __CKRecordObjCValue {}
@available(*, unavailable) extension Data: __CKRecordObjCValue {}
@available(*, unavailable) extension Bool: __CKRecordObjCValue {}
@available(*, unavailable) extension Double: __CKRecordObjCValue {}
@available(*, unavailable) extension Float: __CKRecordObjCValue {}
@available(*, unavailable) extension Int: __CKRecordObjCValue {}
@available(*, unavailable) extension UInt: __CKRecordObjCValue {}
@available(*, unavailable) extension Int8: __CKRecordObjCValue {}
@available(*, unavailable) extension Int16: __CKRecordObjCValue {}
@available(*, unavailable) extension Int32: __CKRecordObjCValue {}
@available(*, unavailable) extension Int64: __CKRecordObjCValue {}
@available(*, unavailable) extension UInt8: __CKRecordObjCValue {}
@available(*, unavailable) extension UInt16: __CKRecordObjCValue {}
@available(*, unavailable) extension UInt32: __CKRecordObjCValue {}
@available(*, unavailable) extension UInt64: __CKRecordObjCValue {}
@available(*, unavailable) extension Array: __CKRecordObjCValue where Element: CKRecordValueProtocol {}
