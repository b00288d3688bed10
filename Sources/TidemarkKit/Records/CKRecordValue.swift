// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a record's field can hold.
public protocol CKRecordValueProtocol {}

/// What a field is set to with `as CKRecordValue`: an object as a record keeps it, or a value of Swift's that is
/// turned into one when it is set.
///
/// It is wider than CloudKit's, where `CKRecordValue` is another name of ``__CKRecordObjCValue``: Linux has no bridging that
/// would make `"text" as CKRecordValue` an NSString. Extend `__CKRecordObjCValue`, so that no member of yours is one of
/// `String` and `Int64` too. Each has a `description`, as objects do.
public protocol CKRecordValue: CKRecordValueProtocol, CustomStringConvertible {}

/// What reading a field gives: one of Foundation's objects, `CKRecord.Reference`, `CKAsset` or `CLLocation`.
public protocol __CKRecordObjCValue: CKRecordValue {}

extension CKRecordValue {
    /// Whether both are the same to a record: compared as the objects that it keeps of them, so that `2` is equal to
    /// an NSNumber.
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

// NB: To the compiler these are not there: a member of an app's extension is not one of String or Data. They are there for two
// reasons. `record["text"] as? String` brings no warning that it always fails, as it brings none where NSString is bridged. And
// `CKRecord` hands out a Data for what it keeps as NSData, which is a thousand times faster to read.
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
