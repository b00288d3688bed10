// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Client code writes `date as CVarArg` and `reference as CVarArg` in the arguments of NSPredicate(format:). In the
// original that works by way of NSObject, which conforms; here these conform one by one.

extension Date: @retroactive CVarArg {
    /// For C functions: an NSDate, which is never freed.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passRetained(self as NSDate).toOpaque())] }
}

extension Array: @retroactive CVarArg {
    /// For C functions: an NSArray, which is never freed.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passRetained(NSArray(array: self)).toOpaque())] }
}

extension NSDate: @retroactive CVarArg {
    /// For C functions: the object, which lives as long as its owner keeps it.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension NSNumber: @retroactive CVarArg {
    /// For C functions: the object, which lives as long as its owner keeps it.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension NSArray: @retroactive CVarArg {
    /// For C functions: the object, which lives as long as its owner keeps it.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension CKRecord.ID: CVarArg {
    /// For C functions: the object, which lives as long as its owner keeps it.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension CKRecord.Reference: CVarArg {
    /// For C functions: the object, which lives as long as its owner keeps it.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension CLLocation: CVarArg {
    /// For C functions: the object, which lives as long as its owner keeps it.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}
