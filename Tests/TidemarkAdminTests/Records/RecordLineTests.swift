// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct RecordLineTests {
    private func record(_ fields: [Field]) throws -> RecordState {
        RecordState(
            name: "a", type: "Note", fields: try FieldMap(fields), changeNumber: 3, isDeleted: false, parent: "p",
            createdAt: Timestamp(milliseconds: 1_700_000_000_123), createdBy: UserID(1),
            createdByDevice: DeviceID(high: 1, low: 2), modifiedAt: Timestamp(milliseconds: 1_700_000_001_000),
            modifiedBy: UserID(1), batchEnd: 3)
    }

    private static let place = FieldLocation(
        latitude: 64.1466, longitude: -21.9426, altitude: 0.1, horizontalAccuracy: 5, verticalAccuracy: -1, course: -1,
        speed: 1.5, timestampMilliseconds: 1_700_000_000_001)
    private static let asset = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: 12)

    static let values: [FieldValue] = [
        .string(""), .string("1"), .string("a \"b\" \u{1F600} /\n\u{7}"),
        .string("a\"\u{301}"), .int64(.min), .int64(.max), .int64(0),
        .double(0.1), .double(1), .double(-0.0), .double(.infinity), .double(-.infinity),
        .double(.leastNonzeroMagnitude),
        .double(1.7976931348623157e308), .date(milliseconds: 0), .date(milliseconds: -1),
        .date(milliseconds: .max / 2_000), .bytes([]), .bytes([0, 255, 10]),
        .reference(FieldReference(recordName: "x")),
        .reference(FieldReference(recordName: "y", action: .deleteSelf)), .asset(asset), .location(place), .emptyList,
        .strings(["a", ""]), .int64s([1, -1]), .doubles([1, 0.5]), .dates(milliseconds: [1, 2]),
        .bytesList([[1], []]), .references([FieldReference(recordName: "x", action: .deleteSelf)]), .assets([asset]),
        .locations([place, place]), .location(nowhere), .locations([nowhere]), .double(.nan),
        .doubles([.nan, .infinity]),
    ]
    private static let nowhere = FieldLocation(
        latitude: .nan, longitude: .infinity, altitude: -.infinity, horizontalAccuracy: -0.0, verticalAccuracy: 0,
        course: .nan, speed: 1, timestampMilliseconds: 0)

    /// The largest lines of records that an app may save: they must come back.
    @Test(arguments: [
        FieldValue.string(String(repeating: "\u{1}", count: 1_000_000)),
        .references((0..<60_000).map { FieldReference(recordName: "\($0)", action: .deleteSelf) }),
    ])
    func `R-868: the line of a record of 1 MiB is read back`(_ value: FieldValue) throws {
        let text = try RecordLine(try record([Field("f", value)]), zone: nil).text
        #expect(text.utf8.count > InputLimits.rowBytesMax / 2)
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/records.jsonl"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        var reader = JSONLinesReader(try InputFile(path: path), lineBytesMax: InputLimits.recordLineBytesMax)
        let line = try #require(try reader.nextLine())
        #expect(try RecordLine(parsing: line).fieldMap() == FieldMap([Field("f", value)]))
    }

    @Test(arguments: values)
    func `R-868: a value comes back from its line as it was`(_ value: FieldValue) throws {
        let line = try RecordLine(try record([Field("f", value)]), zone: "Notes").text
        #expect(!line.contains("\n"))
        let back = try RecordLine(parsing: Array(line.utf8))
        #expect(back.recordName == "a" && back.recordType == "Note" && back.zone == "Notes" && back.parent == "p")
        #expect(try back.fieldMap() == FieldMap([Field("f", value)]), "\(line)")
    }

    @Test func `R-868: of an account's archive the records of the zone are taken, and of no other place`() throws {
        let key = ContainerKey(identifier: "iCloud.a", environment: .development)
        var lines = SavedLines(container: key, zone: "Notes")
        func name(_ text: String) throws -> String? { try lines.record(in: Array(text.utf8))?.recordName }
        func record(_ name: String) -> String { #"{"recordName":"\#(name)","recordType":"N","fields":{}}"# }
        #expect(try name(record("alone")) == "alone")
        #expect(try name(#"{"account":{"account":"x","version":1}}"#) == nil)
        for container in ["iCloud.b", "iCloud.a"] {
            _ = try name(#"{"container":{"container":"\#(container)","environment":"development","user":"_x"}}"#)
            for zone in ["Other", "Notes"] {
                _ = try name(#"{"zone":{"zone":"\#(zone)","isPerZone":false}}"#)
                let found = try name(#"{"record":\#(record("a"))}"#)
                #expect((found == "a") == (container == "iCloud.a" && zone == "Notes"))
            }
        }
        #expect(throws: InputMistake.self) { try name("{}") }
        #expect(try name(#"{"record":\#(record("a"))}"#) == "a")
        // The records behind a line of a zone that cannot be read are of no known zone.
        #expect(throws: InputMistake.self) { try name(#"{"zone":{"zone":"Oth"#) }
        #expect(try name(#"{"record":\#(record("a"))}"#) == nil)
    }

    @Test func `R-868: an exact date that has no milliseconds comes back as it was`() throws {
        let date = try #require(FieldDate(secondsSince2001: 0.1 + 1e-9))
        let line = try RecordLine(try record([Field("f", .date(date))]), zone: nil).text
        #expect(try RecordLine(parsing: Array(line.utf8)).fieldMap() == FieldMap([Field("f", .date(date))]))
    }

    @Test func `R-868: a line gives a terminal no commands`() throws {
        let line = try RecordLine(try record([Field("f", .string("a\u{9B}31mb\u{7F}\u{1B}[0m"))]), zone: nil).text
        #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(
            try RecordLine(parsing: Array(line.utf8)).fieldMap()
                == FieldMap([Field("f", .string("a\u{9B}31mb\u{7F}\u{1B}[0m"))]))
    }

    @Test(arguments: [
        "", "[]", "{\"recordName\":\"a\"}", "{\"recordName\":1,\"recordType\":\"N\",\"fields\":{}}",
        "{\"recordName\":\"a\",\"recordType\":\"N\",\"fields\":{\"f\":7}}",
    ])
    func `R-868: what is no record is refused`(_ line: String) {
        #expect(throws: InputMistake.self) { try RecordLine(parsing: Array(line.utf8)) }
    }

    @Test(arguments: [
        #"{"type":"int64","value":"7"}"#, #"{"type":"int64","value":1.5}"#, #"{"type":"int64"}"#,
        #"{"type":"date","value":"tomorrow"}"#, #"{"type":"bytes","value":"?"}"#, #"{"type":"removed","value":1}"#,
        #"{"type":"list<int64>","value":[1,"a"]}"#, #"{"type":"list","value":[1]}"#,
        #"{"type":"asset","value":{"sha256":"07","bytes":1}}"#,
    ])
    func `R-868: a value that is not of its type is refused`(_ field: String) throws {
        let line = "{\"recordName\":\"a\",\"recordType\":\"N\",\"fields\":{\"f\":\(field)}}"
        let parsed = try RecordLine(parsing: Array(line.utf8))
        #expect(throws: InputMistake.self) { try parsed.fieldMap() }
    }
}
