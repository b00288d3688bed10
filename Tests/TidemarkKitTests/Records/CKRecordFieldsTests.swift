// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

@Suite struct CKRecordFieldsTests {
    /// The same fields, set by the app and come from a server.
    private static func records(_ key: String, _ value: any CKRecordValueProtocol) throws -> [CKRecord] {
        let local = CKRecord(recordType: "T")
        local[key] = value
        let fetched = CKRecord(
            recordID: local.recordID, recordType: "T", fields: try local.changes(all: false).fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        return [local, fetched]
    }

    nonisolated(unsafe) static let integers: [any CKRecordValueProtocol] = [
        Int(1), Int8(1), Int16(1), Int32(1), Int64(1), UInt(1), UInt8(1), UInt16(1), UInt32(1), UInt64(1), true,
        NSNumber(value: 1), NSNumber(value: true),
    ]

    @Test(arguments: integers.indices)
    func `R-064: an integer can be read with any width, whatever width was written`(index: Int) throws {
        for record in try Self.records("k", Self.integers[index]) {
            #expect(record["k"] as? Int == 1)
            #expect(record["k"] as? Int8 == 1)
            #expect(record["k"] as? Int16 == 1)
            #expect(record["k"] as? Int32 == 1)
            #expect(record["k"] as? Int64 == 1)
            #expect(record["k"] as? UInt == 1)
            #expect(record["k"] as? UInt8 == 1)
            #expect(record["k"] as? UInt64 == 1)
            #expect(record["k"] as? Double == 1)
            #expect(record["k"] as? Bool == true)
            #expect(record["k"] as? NSNumber == NSNumber(value: 1))
            #expect(record["k"] as? String == nil)
            let typed: (Int?, Int64?, Double?, Float?, Bool?, UInt8?) = (
                record["k"], record["k"], record["k"], record["k"], record["k"], record["k"]
            )
            #expect(typed == (1, 1, 1, 1, true, 1))
            #expect(try record.changes(all: true).fields["k"]?.value() == .int64(1))
        }
    }

    @Test func `R-064: other scalars are read as what they were written`() throws {
        let date = Date(timeIntervalSince1970: -1.5)
        let target = CKRecord.ID(recordName: "target")
        for record in try Self.records("k", date) {
            #expect(record["k"] as? Date == date)
            #expect(record["k"] as? NSDate == NSDate(timeIntervalSince1970: -1.5))
        }
        for record in try Self.records("k", Data([0, 255])) { #expect(record["k"] as? Data == Data([0, 255])) }
        for record in try Self.records("k", 2.5) {
            #expect(record["k"] as? Double == 2.5)
            #expect(record["k"] as? Int == nil)
        }
        for record in try Self.records("k", Float(0.1)) { #expect(record["k"] as? Float == 0.1) }
        for record in try Self.records("k", CKRecord.Reference(recordID: target, action: .deleteSelf)) {
            #expect((record["k"] as? CKRecord.Reference)?.recordID == target)
            #expect((record["k"] as? CKRecord.Reference)?.action == .deleteSelf)
        }
        for text in ["", "a\u{0}b", "👩‍👩‍👧", "e\u{301}"] {
            for record in try Self.records("k", text) {
                #expect((record["k"] as? String).map { Array($0.utf8) } == Array(text.utf8))
                #expect(record["k"] as? NSString == NSString(string: text))
            }
        }
    }

    @Test func `R-061, R-064: lists are read as what they were written, empty ones too`() throws {
        for record in try Self.records("k", ["a", ""]) { #expect(record["k"] as? [String] == ["a", ""]) }
        for record in try Self.records("k", [Int64.min, 0, Int64.max]) {
            #expect(record["k"] as? [Int] == [.min, 0, .max])
            #expect(record["k"] as? [Int64] == [.min, 0, .max])
        }
        for record in try Self.records("k", [0.5]) { #expect(record["k"] as? [Double] == [0.5]) }
        for record in try Self.records("k", [true, false]) { #expect(record["k"] as? [Bool] == [true, false]) }
        for record in try Self.records("k", [Data([1])]) { #expect(record["k"] as? [Data] == [Data([1])]) }
        let dates = [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: -2)]
        for record in try Self.records("k", dates) { #expect(record["k"] as? [Date] == dates) }
        let references = [CKRecord.Reference(recordID: CKRecord.ID(recordName: "r"), action: .none)]
        for record in try Self.records("k", references) {
            #expect(record["k"] as? [CKRecord.Reference] == references)
        }
        for record in try Self.records("k", [String]()) {
            #expect(record["k"] as? [String] == [])
            #expect(record.allKeys() == ["k"])
        }
    }

    @Test func `R-060: numbers at the limits come back as they are`() throws {
        for number in [Int64.min, .max, 0] {
            for record in try Self.records("k", number) { #expect(record["k"] as? Int64 == number) }
        }
        for number in [Double.infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -0.0, .nan] {
            for record in try Self.records("k", number) {
                let back = try #require(record["k"] as? Double)
                #expect(back.bitPattern == number.bitPattern || (back.isNaN && number.isNaN))
                #expect(try record.changes(all: true).fields["k"]?.type == .double)
            }
        }
        let record = CKRecord(recordType: "T")
        record["k"] = UInt64.max
        #expect(throws: CKError.self) { try record.changes(all: false) }
    }

    @Test func `R-060: dates keep their bits; what is no moment is refused, and the text says so`() throws {
        for milliseconds in [Int64(-62_135_596_800_000), -1, 0, 1, 1_700_000_000_123, 253_402_300_799_999] {
            let record = CKRecord(recordType: "T")
            record["k"] = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            #expect(try record.changes(all: false).fields["k"]?.value() == .date(milliseconds: milliseconds))
        }
        let clock = [Date(), .distantPast, .distantFuture]
        for seconds in clock.map(\.timeIntervalSinceReferenceDate) + [0.1, -5e-324, 1e300] {
            for record in try Self.records("k", Date(timeIntervalSinceReferenceDate: seconds)) {
                #expect((record["k"] as? Date)?.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
            }
        }
        for seconds in [Double.nan, .infinity, -.infinity] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            for value in [date, [date], CLLocation.at(date)] as [any CKRecordValueProtocol] {
                let record = CKRecord(recordType: "T")
                record["k"] = value
                let error = #expect(throws: CKError.self) { try record.changes(all: false) }
                #expect(error?.code == .invalidArguments)
                #expect(error?.localizedDescription.contains("is a date whose number of seconds is ") == true)
            }
        }
    }

    @Test func `R-062: integers and doubles are different types`() throws {
        let record = CKRecord(recordType: "T")
        record["i"] = 1
        record["d"] = 1.0
        record["b"] = true
        record["f"] = Float(1)
        let fields = try record.changes(all: false).fields
        #expect(fields.map(\.key) == ["b", "d", "f", "i"])
        #expect(fields.map(\.type) == [.int64, .double, .double, .int64])
    }

    @Test func `R-065: typed reading converts numbers where possible, else gives nil`() {
        let record = CKRecord(recordType: "T")
        record["fraction"] = 1.5
        record["whole"] = 2.0
        record["large"] = Int64.max
        record["tenth"] = 0.1
        record["text"] = "5"
        record["list"] = [0.1, 2]
        let fraction: Int? = record["fraction"]
        let whole: Int? = record["whole"]
        let large: Double? = record["large"]
        let small: Int8? = record["large"]
        let tenth: Float? = record["tenth"]
        let text: Int? = record["text"]
        let list: [Float]? = record["list"]
        let missing: String? = record["missing"]
        #expect(fraction == nil && whole == 2 && large == Double(Int64.max) && small == nil)
        #expect(tenth == 0.1 && text == nil && list == [0.1, 2] && missing == nil)
    }

    @Test func `R-053: allKeys are those with a value, changedKeys those that were set, also to nil`() {
        let record = CKRecord(recordType: "T")
        #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
        record["a"] = 1
        record["b"] = "x"
        record["b"] = nil
        #expect(record.allKeys() == ["a"])
        #expect(record.changedKeys() == ["a", "b"])
    }

    @Test func `R-063: a key set to nil is sent as a removal`() throws {
        let record = CKRecord(recordType: "T")
        record["a"] = nil
        let changes = try record.changes(all: false)
        #expect(try changes.fields["a"]?.value() == .removed)
    }

    @Test func `R-067, R-069: plain and encrypted keys are two spaces`() throws {
        let record = CKRecord(recordType: "T")
        record["plain"] = 1
        record.encryptedValues["secret"] = "s"
        #expect(record.allKeys() == ["plain"])
        #expect(record.encryptedValues.allKeys() == ["secret"])
        #expect(record.changedKeys() == ["plain", "secret"])
        #expect(record.encryptedValues.changedKeys() == ["secret"])
        #expect(record["secret"] == nil && record.encryptedValues["plain"] == nil)
        let fields = try record.changes(all: false).fields
        #expect(fields.map(\.isEncrypted) == [false, true])
        let fetched = CKRecord(
            recordID: record.recordID, recordType: "T", fields: fields,
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        #expect(fetched.encryptedValues["secret"] as? String == "s")
        #expect(fetched["secret"] == nil && fetched["plain"] as? Int == 1)
    }

    @Test func `R-067: a key in both spaces, and an encrypted reference, are invalid arguments`() {
        let both = CKRecord(recordType: "T")
        both["k"] = 1
        both.encryptedValues["k"] = 1
        let reference = CKRecord(recordType: "T")
        reference.encryptedValues["k"] = CKRecord.Reference(recordID: both.recordID, action: .none)
        for record in [both, reference] {
            do {
                _ = try record.changes(all: false)
                Issue.record("no error")
            } catch {
                #expect(error.code == .invalidArguments)
            }
        }
    }

    @Test func `R-042, R-061, R-082: what cannot be saved is refused with the key's name`() throws {
        let cases: [(String, any CKRecordValueProtocol, CKError.Code, String)] = [
            ("_k", 1, .invalidArguments, "_k"), ("9k", 1, .invalidArguments, "9k"),
            ("k", NSArray(array: ["a", 1]), .invalidArguments, "k"),
            ("k", NSArray(array: [1, 1.5]), .invalidArguments, "k"),
            ("k", [[1], [2]], .invalidArguments, "k"),
            ("k", NSArray(array: [NSNull()]), .invalidArguments, "k"),
            ("k", Data(count: 1_100_000), .limitExceeded, "record too large"),
        ]
        for (key, value, code, text) in cases {
            let record = CKRecord(recordType: "T")
            record[key] = value
            do {
                _ = try record.changes(all: false)
                Issue.record("\(key) = \(value) was accepted")
            } catch {
                #expect(error.code == code)
                #expect(error.localizedDescription.hasPrefix(text))
            }
        }
        let share = CKRecord(recordType: CKRecord.SystemType.share)
        share["cloudkit.title"] = "t"
        #expect(try share.changes(all: false).fields.map(\.key) == ["cloudkit.title"])
    }

    @Test func `R-066: what a record cannot hold stops the process`() async {
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "T").setValue(NSObject(), forKey: "k")
        }
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "T").setValue(URL(fileURLWithPath: "/none"), forKey: "k")
        }
        await #expect(processExitsWith: .success) {
            CKRecord(recordType: "T").setValue(NSNumber(value: 1), forKey: "k")
            CKRecord(recordType: "T").setValue(nil, forKey: "k")
        }
    }

    @Test func `R-057: allTokens splits strings at white space`() {
        let record = CKRecord(recordType: "T")
        record["a"] = "one  two\nthree"
        record["b"] = 4
        #expect(record.allTokens() == ["one", "two", "three"])
    }

    @Test func `R-064: what was set does not change with the object that was given`() {
        let record = CKRecord(recordType: "T")
        let text = NSMutableString(string: "a")
        let list = NSMutableArray(array: ["a"])
        let data = NSMutableData(data: Data([1]))
        record["text"] = text
        record["list"] = list
        record["data"] = data
        text.append("b")
        list.add("b")
        data.append(Data([2]))
        #expect(record["text"] as? String == "a")
        #expect(record["list"] as? [String] == ["a"])
        #expect(record["data"] as? Data == Data([1]))
    }

    @Test func `a record may be used from many threads`() async {
        let record = CKRecord(recordType: "T")
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        record["k\(task)"] = number
                        _ = record.changedKeys()
                        _ = record["k\((task + 1) % 8)"] as? Int
                        _ = record.copy()
                    }
                }
            }
        }
        #expect(record.allKeys() == (0..<8).map { "k\($0)" })
        #expect((0..<8).allSatisfy { record["k\($0)"] as? Int == 199 })
    }
}

extension CLLocation {
    fileprivate static func at(_ date: Date) -> CLLocation {
        CLLocation(
            coordinate: CLLocationCoordinate2D(), altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0,
            timestamp: date)
    }
}
