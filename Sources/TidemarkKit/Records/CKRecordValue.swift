// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a record's field can hold.
public protocol CKRecordValueProtocol {}

/// What reading a field gives: one of Foundation's objects, `CKRecord.Reference`, `CKAsset` or `CLLocation`.
///
/// Swift's own types have it too, because Linux has no bridging that would make `"text" as CKRecordValue` an NSString.
/// A value is turned into its object when it is set. Each has a `description`, as objects do.
public protocol __CKRecordObjCValue: CKRecordValueProtocol, CustomStringConvertible {}

extension __CKRecordObjCValue {
    /// Whether both are the same to a record: compared as the objects that it keeps of them, so that `2` is equal to
    /// an NSNumber.
    public func isEqual(_ object: Any?) -> Bool {
        guard let object, let mine = RecordObject.make(of: self), let other = RecordObject.make(of: object) else {
            return false
        }
        return mine.isEqual(other)
    }
}

/// The name under which code uses `__CKRecordObjCValue`.
public typealias CKRecordValue = __CKRecordObjCValue

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
extension Array: __CKRecordObjCValue where Element: CKRecordValueProtocol {}
extension NSString: CKRecordValue {}
extension NSDate: CKRecordValue {}
extension NSData: CKRecordValue {}
extension NSNumber: CKRecordValue {}
extension NSArray: CKRecordValue {}
extension CKRecord.Reference: CKRecordValue {}
extension CKAsset: CKRecordValue {}
extension CLLocation: CKRecordValue {}
