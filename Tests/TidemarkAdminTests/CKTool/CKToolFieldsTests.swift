// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkAdmin

@Suite struct CKToolFieldsTests {
    private static let asset = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: 3)

    private static func value(_ type: String, _ json: String) throws -> FieldValue? {
        let fields = try CKToolFields(parsing: #"{"k": {"type": "\#(type)", "value": \#(json)}}"#)
        return try fields.fieldMap(files: ["A": asset], in: .gmt)["k"]?.value()
    }

    @Test func `R-895: each type of a field is read from JSON`() throws {
        var place = try #require(FieldLocation(latitude: 64.1, longitude: -21.9))
        let plain = place
        (place.altitude, place.verticalAccuracy) = (30, 0)
        let rows: [(String, String, FieldValue)] = [
            ("stringType", #""Kim""#, .string("Kim")), ("stringType", #""""#, .string("")),
            ("int64Type", "1464", .int64(1_464)), ("int64Type", "-1", .int64(-1)), ("int64Type", "2.0", .int64(2)),
            ("doubleType", "4.5", .double(4.5)), ("doubleType", "4", .double(4)),
            ("timestampType", #""2021-01-01""#, .date(milliseconds: 1_609_459_200_000)),
            ("timestampType", #""2021-01-01T00:00:00.250Z""#, .date(milliseconds: 1_609_459_200_250)),
            ("bytesType", #""AQI=""#, .bytes([1, 2])),
            ("locationType", #"{"latitude": 64.1, "longitude": -21.9}"#, .location(plain)),
            ("locationType", #"{"latitude": 64.1, "longitude": -21.9, "altitude": 30}"#, .location(place)),
            ("referenceType", #"{"recordName": "r"}"#, .reference(FieldReference(recordName: "r"))),
            (
                "referenceType", #"{"recordName": "r", "action": "DELETE_SELF"}"#,
                .reference(FieldReference(recordName: "r", action: .deleteSelf))
            ),
            (
                "referenceType", #"{"recordName": "r", "action": "none"}"#,
                .reference(FieldReference(recordName: "r"))
            ),
            ("assetType", #""A""#, .asset(Self.asset)), ("stringListType", #"["a", "b"]"#, .strings(["a", "b"])),
            ("int64ListType", "[1, 2]", .int64s([1, 2])), ("doubleListType", "[1.5]", .doubles([1.5])),
            ("timestampListType", #"["2021-01-01"]"#, .dates(milliseconds: [1_609_459_200_000])),
            ("bytesListType", #"["AQI="]"#, .bytesList([[1, 2]])),
            ("locationListType", #"[{"latitude": 64.1, "longitude": -21.9}]"#, .locations([plain])),
            ("referenceListType", #"[{"recordName": "r"}]"#, .references([FieldReference(recordName: "r")])),
            ("assetListType", #"["A", "A"]"#, .assets([Self.asset, Self.asset])), ("stringListType", "[]", .emptyList),
        ]
        for (type, json, value) in rows { #expect(try Self.value(type, json) == value, "\(type) \(json)") }
    }

    @Test(
        arguments: [
            ("stringType", "1"), ("int64Type", #""1""#), ("int64Type", "1.5"), ("int64Type", "true"),
            ("doubleType", #""4""#), ("timestampType", "0"), ("timestampType", #""soon""#), ("bytesType", #""%""#),
            ("locationType", #"{"latitude": 91, "longitude": 0}"#), ("locationType", #"{"latitude": 1}"#),
            ("referenceType", #""r""#), ("referenceType", #"{"recordName": "r", "action": "NULLIFY"}"#),
            ("assetType", #""B""#), ("assetType", "1"), ("stringListType", #""a""#), ("stringListType", #"["a", 1]"#),
            ("stringListType", #"[["a"]]"#), ("STRING", #""a""#), ("", #""a""#), ("listType", "[]"),
        ] as [(String, String)])
    func `R-895: a value that is none of its type is refused`(_ type: String, _ json: String) {
        #expect(throws: InputMistake.self) { try Self.value(type, json) }
    }

    @Test func `R-895: a field whose value is null is none`() throws {
        #expect(try Self.value("stringType", "null") == nil)
        let fields = try CKToolFields(
            parsing: #"{"a": {"type": "stringType"}, "b": {"type": "int64Type", "value": 1}}"#)
        #expect(fields.entries.map(\.key) == ["b"])
        #expect(try CKToolFields(parsing: "{}").entries.isEmpty)
    }

    @Test(arguments: [
        "", "[]", "1", "{", #"{"a": 1}"#, #"{"a": {"value": 1}}"#, #"{"a": {"type": 1, "value": 1}}"#,
        #"{"a": {"type": "noType", "value": 1}}"#,
    ])
    func `R-895: any other JSON is refused`(_ text: String) {
        #expect(throws: InputMistake.self) { try CKToolFields(parsing: text) }
    }

    @Test func `R-895: assets name the keys of files`() throws {
        let fields = try CKToolFields(
            parsing: """
                {"a": {"type": "assetType", "value": "X"}, "b": {"type": "assetListType", "value": ["Y", "X"]},
                 "c": {"type": "stringType", "value": "Z"}}
                """)
        #expect(fields.fileKeys == ["X", "Y"])
    }
}
