// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Client code writes `date as CVarArg` and `reference as CVarArg` in the arguments of NSPredicate(format:). In
// the original that works because NSObject conforms. Here each type conforms separately, even those that no query can
// compare: then the code compiles, and the query says why it fails. Numbers, booleans and strings conform
// already.

extension CVarArg where Self: NSObject {
    /// For C functions: the object, which lives as long as its owner retains it. Predicates do not use it.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension CVarArg where Self: _ObjectiveCBridgeable {
    /// For C functions: the value's object, which is never freed. Predicates do not use it.
    public var _cVarArgEncoding: [Int] {
        [Int(bitPattern: Unmanaged.passRetained(_bridgeToObjectiveC() as AnyObject).toOpaque())]
    }
}

extension Array: @retroactive CVarArg {}
extension Data: @retroactive CVarArg {}
extension Date: @retroactive CVarArg {}
extension Set: @retroactive CVarArg {}
extension URL: @retroactive CVarArg {}
extension UUID: @retroactive CVarArg {}
extension NSArray: @retroactive CVarArg {}
extension NSData: @retroactive CVarArg {}
extension NSDate: @retroactive CVarArg {}
extension NSNull: @retroactive CVarArg {}
extension NSNumber: @retroactive CVarArg {}
extension NSOrderedSet: @retroactive CVarArg {}
extension NSSet: @retroactive CVarArg {}
extension NSURL: @retroactive CVarArg {}
extension NSUUID: @retroactive CVarArg {}
extension CKRecord: CVarArg {}
extension CKRecord.ID: CVarArg {}
extension CKRecord.Reference: CVarArg {}
extension CLLocation: CVarArg {}
