// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing

/// An app's own members of what records hold, as libraries on top of CloudKit write them. That this compiles is the test:
/// members of `Int64` or `Data` must not be those of the app's extension too.
@Suite struct CKRecordValueExtensionTests {
    @Test func `R-060: an app may extend the objects that reading gives, whatever Swift's types have by the same name`()
    {
        let record = CKRecord(recordType: "Item")
        record["number"] = Int64(7)
        record["text"] = "seven"
        record["data"] = Data([7])
        record["flag"] = true as CKRecordValue
        record["list"] = ["a", "b"] as CKRecordValue
        #expect(record["number"]?.binding == "integer 7")
        #expect(record["text"]?.binding == "text seven")
        #expect(record["data"]?.binding == "data 1")
        #expect(record["nothing"]?.binding == nil)
        #expect(record["text"]?.string == "seven" && record["number"]?.string == nil)
        #expect(record["list"]?.first as? String == "a" && record["text"]?.first == nil)
        #expect(record.object(forKey: "text")?.isEmpty == false)
        // Swift's own, and the other extension's.
        #expect(Int64(7).binding == "integer 7" && "x".binding == "text x" && Data().binding == "data 0")
        #expect(Data([7]).first == 7 && "seven".first == "s" && ["a"].first == "a" && "".isEmpty && Data().isEmpty)
        #expect(Int64(7).isEqual(7) && "a".description == "a" && Int64(7).description == "7")
    }
}

/// As a library's that binds values to statements.
private protocol Binding {}

extension Binding {
    fileprivate var binding: String {
        switch self {
        case let number as Int64: "integer \(number)"
        case let text as String: "text \(text)"
        case let data as Data: "data \(data.count)"
        default: "none"
        }
    }
}

extension Int64: Binding {}
extension String: Binding {}
extension Data: Binding {}

extension BinaryInteger {
    fileprivate func isEqual(_ other: Self) -> Bool { self == other }
}

extension __CKRecordObjCValue {
    fileprivate var binding: String {
        if let value = self as? Int64 { return value.binding }
        if let value = self as? String { return value.binding }
        if let value = self as? Data { return value.binding }
        return "none"
    }

    fileprivate var string: String? { self as? String }
    fileprivate var first: Any? { (self as? [Any])?.first }
    fileprivate var isEmpty: Bool { string?.isEmpty ?? true }
}
