// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A value that can be converted to the object that a record keeps. All casts in client code work with NSNumber,
/// NSString, NSDate, NSData and NSArray, but not with a Swift `Int`.
protocol RecordObjectConvertible {
    /// Immutable.
    func recordObject() -> NSObject
}

enum RecordObject {
    /// Nil for a type that a record cannot hold.
    static func make(of value: Any) -> NSObject? {
        (value as? any RecordObjectConvertible)?.recordObject()
    }

    /// The result of a record's typed subscript: the object as `Value`. Numbers are converted if nothing but a
    /// fraction's last digits is lost.
    static func convert<Value>(_ object: NSObject, to type: Value.Type) -> Value? {
        if let value = object as? Value { return value }
        switch object {
        case let number as NSNumber:
            if type == Double.self { return number.doubleValue as? Value }
            if type == Float.self { return number.floatValue as? Value }
        case let array as NSArray:
            guard let numbers = array as? [NSNumber] else { return nil }
            if type == [Double].self { return numbers.map(\.doubleValue) as? Value }
            if type == [Float].self { return numbers.map(\.floatValue) as? Value }
        default: break
        }
        return nil
    }
}

extension String: RecordObjectConvertible {
    func recordObject() -> NSObject { NSString(string: self) }
}

extension Date: RecordObjectConvertible {
    func recordObject() -> NSObject { NSDate(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate) }
}

extension Data: RecordObjectConvertible {
    func recordObject() -> NSObject { NSData(data: self) }
}

extension Bool: RecordObjectConvertible {
    func recordObject() -> NSObject { NSNumber(value: Int64(self ? 1 : 0)) }
}

extension Double: RecordObjectConvertible {
    func recordObject() -> NSObject { NSNumber(value: self) }
}

extension Float: RecordObjectConvertible {
    func recordObject() -> NSObject { NSNumber(value: Double(self)) }
}

// Not a field's value by itself, but Foundation accepts it in key-value coding and among the arguments of predicates.
extension CGFloat: RecordObjectConvertible {
    func recordObject() -> NSObject { NSNumber(value: Double(self)) }
}

extension RecordObjectConvertible where Self: SignedInteger {
    func recordObject() -> NSObject { NSNumber(value: Int64(self)) }
}

extension RecordObjectConvertible where Self: UnsignedInteger {
    func recordObject() -> NSObject {
        Int64(exactly: self).map { NSNumber(value: $0) } ?? NSNumber(value: UInt64(self))
    }
}

extension Int: RecordObjectConvertible {}
extension Int8: RecordObjectConvertible {}
extension Int16: RecordObjectConvertible {}
extension Int32: RecordObjectConvertible {}
extension Int64: RecordObjectConvertible {}
extension UInt: RecordObjectConvertible {}
extension UInt8: RecordObjectConvertible {}
extension UInt16: RecordObjectConvertible {}
extension UInt32: RecordObjectConvertible {}
extension UInt64: RecordObjectConvertible {}

extension Array: RecordObjectConvertible {
    func recordObject() -> NSObject {
        NSArray(array: map { RecordObject.make(of: $0) ?? NSNull() })
    }
}

// Copies, because each of these objects may be of a mutable subclass.
extension NSString: RecordObjectConvertible {
    func recordObject() -> NSObject { NSString(string: String(describing: self)) }
}

extension NSData: RecordObjectConvertible {
    func recordObject() -> NSObject { NSData(data: Data(referencing: self)) }
}

extension NSArray: RecordObjectConvertible {
    func recordObject() -> NSObject { Array(self).recordObject() }
}

extension NSDate: RecordObjectConvertible {
    func recordObject() -> NSObject { self }
}

extension NSNumber: RecordObjectConvertible {
    /// The number that a fetch would return: a 64-bit integer or a double. A number that is neither stays as it
    /// is, and is refused when the record is saved.
    func recordObject() -> NSObject {
        guard let value = try? FieldObjects.value(of: self, zoneID: .default) else { return self }
        return FieldObjects.object(of: value, zoneID: .default) ?? self
    }
}

extension CKRecord.Reference: RecordObjectConvertible {
    func recordObject() -> NSObject { self }
}

extension CKAsset: RecordObjectConvertible {
    func recordObject() -> NSObject { self }
}

extension CLLocation: RecordObjectConvertible {
    func recordObject() -> NSObject { self }
}
