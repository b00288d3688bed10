// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkAdmin

@Suite struct CKToolValueReaderTests {
    private static let reader = CKToolValueReader(timeZone: .gmt)

    private static func place(_ latitude: Double, _ longitude: Double) throws -> FieldValue {
        .location(try #require(FieldLocation(latitude: latitude, longitude: longitude)))
    }

    @Test func `R-894: the type of a value is guessed: number, place, date, or else string`() throws {
        let rows: [(String, FieldValue)] = [
            ("123", .int64(123)), ("-7", .int64(-7)), ("+7", .int64(7)), ("6.123", .double(6.123)),
            ("1e3", .double(1_000)), ("9223372036854775808", .double(9_223_372_036_854_775_808)),
            ("40.712772,-74.006058", try Self.place(40.712772, -74.006058)), ("40, -74", try Self.place(40, -74)),
            ("91,0", .string("91,0")), ("0,181", .string("0,181")), ("1,2,3", .string("1,2,3")),
            ("2021-01-01", .date(milliseconds: 1_609_459_200_000)), ("Appleseed", .string("Appleseed")),
            ("nan", .string("nan")), ("infinity", .string("infinity")), ("0x10", .string("0x10")),
            ("1e999", .string("1e999")), ("-", .string("-")), ("true", .string("true")), ("a,b", .string("a,b")),
            (#""123""#, .string("123")), (#""a \"b\" \\ c""#, .string(#"a "b" \ c"#)), (#""""#, .string("")),
            (#"""#, .string("\"")), (#""a" b"#, .string(#""a" b"#)), (#""a"b""#, .string(#""a"b""#)),
            (#""a\nb""#, .string(#"a\nb"#)), (#""a\""#, .string(#""a\""#)), ("x:1", .string("x:1")),
        ]
        for (text, value) in rows { #expect(try Self.reader.value(text) == value, "\(text)") }
    }

    @Test func `R-894: a type before a colon says what the value is`() throws {
        let rows: [(String, FieldValue)] = [
            ("stringType:2021-01-01", .string("2021-01-01")), ("stringType:", .string("")),
            (#"stringType:"a""#, .string("a")), ("stringType:a:b", .string("a:b")), ("int64Type:7", .int64(7)),
            ("doubleType:7", .double(7)), ("timestampType:2021-01-01", .date(milliseconds: 1_609_459_200_000)),
            ("locationType:1,2", try Self.place(1, 2)), ("bytesType:AQI=", .bytes([1, 2])),
            ("referenceType:7F3A", .reference(FieldReference(recordName: "7F3A"))),
            ("stringListType:a, b", .strings(["a", "b"])), ("int64ListType:1,2", .int64s([1, 2])),
            ("doubleListType:1", .doubles([1])),
            (
                "referenceListType:a,b",
                .references([FieldReference(recordName: "a"), FieldReference(recordName: "b")])
            ),
        ]
        for (text, value) in rows { #expect(try Self.reader.value(text) == value, "\(text)") }
    }

    @Test(arguments: [
        "int64Type:1.5", "int64Type:", "doubleType:nan", "timestampType:soon", "locationType:1", "bytesType:%",
        "assetType:x", "int64ListType:1,b", "int64ListType:",
    ])
    func `R-894: a value that is none of its type is refused`(_ text: String) {
        #expect(throws: InputMistake.self) { try Self.reader.value(text) }
    }

    @Test func `R-894: commas separate the values of a list`() throws {
        let rows: [(String, [FieldValue])] = [
            ("a,b", [.string("a"), .string("b")]), ("1, 2.5", [.int64(1), .double(2.5)]), ("a", [.string("a")]),
            (#""a,b""#, [.string("a,b")]), ("stringListType:1,2", [.string("1"), .string("2")]),
            ("stringType:1,2", [.string("1,2")]),
        ]
        for (text, values) in rows { #expect(try Self.reader.list(text) == values, "\(text)") }
        #expect(CKToolValueReader.plain(#"stringType:"a b""#) == "a b")
        #expect(CKToolValueReader.plain("42") == "42")
    }

    @Test func `R-894: types have the names of Apple's tool`() {
        let names = [
            "stringType", "int64Type", "doubleType", "timestampType", "locationType", "bytesType", "referenceType",
            "assetType",
        ]
        #expect(CKToolType.Element.allCases.map { CKToolType($0).name } == names)
        for element in CKToolType.Element.allCases {
            for isList in [false, true] {
                let type = CKToolType(element, isList: isList)
                #expect(CKToolType(name: type.name) == type)
            }
        }
        #expect(CKToolType(name: "stringListType") == CKToolType(.string, isList: true))
        for name in ["STRING", "stringtype", "listType", "", "stringListTyp"] { #expect(CKToolType(name: name) == nil) }
        for type in FieldType.allCases where type != .removed && type != .emptyList {
            #expect(CKToolType(of: type)?.isList == type.isList, "\(type)")
        }
        #expect(CKToolType(of: .emptyList) == nil && CKToolType(of: .removed) == nil)
    }
}
