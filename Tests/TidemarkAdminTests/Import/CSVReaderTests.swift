// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkAdmin

/// What files say, and what is made of it; without a server.
@Suite struct CSVReaderTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func file(_ bytes: [UInt8]) throws -> InputFile {
        let path = "\(directory.path)/\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return try InputFile(path: path)
    }

    private func rows(_ reader: some InputReader) throws -> [InputRow] {
        var (reader, rows) = (reader, [InputRow]())
        while let row = try reader.next() { rows.append(row) }
        return rows
    }

    private func csv(_ text: String, delimiter: UInt8 = UInt8(ascii: ",")) throws -> [InputRow] {
        try rows(try CSVReader(try file(Array(text.utf8)), delimiter: delimiter))
    }

    @Test func `CSV: quotes, line breaks, empty cells, and the lines at which records begin`() throws {
        let found = try csv("\u{FEFF}\"a\",b c,d\r\n1,\"x, \"\"y\"\"\n z\",\r\n\n\"\",é,\"\"\n7,8,9")
        #expect(found.map(\.line) == [2, 5, 6])
        let expected: [[String: InputValue]] = [
            ["a": .text("1"), "b c": .text("x, \"y\"\n z")], ["b c": .text("é")],
            ["a": .text("7"), "b c": .text("8"), "d": .text("9")],
        ]
        #expect(try found.map { try $0.values.get() } == expected)
        let tabs = try csv("a\tb\n1,2\t3\n", delimiter: UInt8(ascii: "\t"))
        #expect(try tabs[0].values.get() == ["a": .text("1,2"), "b": .text("3")])
    }

    @Test func `CSV: a row that cannot be read is told, and the next one is read`() throws {
        let found = try csv("a,b\n1\n\"x\"y,2\n3,4\n\"5,6\n7,8\n")
        #expect(found.map(\.line) == [2, 3, 4, 5])
        #expect(try found[2].values.get() == ["a": .text("3"), "b": .text("4")])
        for (index, word) in [(0, "1 cells, but 2 columns"), (1, "closing quotation mark"), (3, "without an end")] {
            #expect(throws: InputMistake.self) { try found[index].values.get() }
            if case .failure(let mistake) = found[index].values { #expect(mistake.text.contains(word)) }
        }
        let bytes = try rows(try CSVReader(try file(Array("a\n".utf8) + [0xFF, 0x0A])))
        #expect(throws: InputMistake.self) { try bytes[0].values.get() }
        for text in ["", "\n", "a,a\n1,2\n"] {
            #expect(throws: AdminFailure.self, "\(text)") { try csv(text) }
        }
    }

    @Test func `JSON lines: values keep their types, and a bad line costs itself alone`() throws {
        let text = """
            {"n": 7, "d": 1.5, "t": true, "s": "x", "z": null, "l": [1, 2], "o": {"a": 1}}

            {"n":
            {"s": "y"}
            """
        let found = try rows(JSONLinesReader(try file(Array(text.utf8))))
        #expect(found.map(\.line) == [1, 3, 4])
        let expected: [String: InputValue] = [
            "n": .integer(7), "d": .number(1.5), "t": .truth(true), "s": .text("x"),
            "l": .list([.integer(1), .integer(2)]), "o": .object,
        ]
        #expect(try found[0].values.get() == expected)
        #expect(throws: InputMistake.self) { try found[1].values.get() }
        #expect(try found[2].values.get() == ["s": .text("y")])
    }

    /// `printf 'a,b\n1,2\n' | gzip -n`
    private static let packed: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x4B, 0xD4, 0x49, 0xE2, 0x32, 0xD4, 0x31, 0xE2,
        0x02,
        0x00, 0x7B, 0x07, 0x97, 0x0A, 0x08, 0x00, 0x00, 0x00,
    ]

    @Test func `gzip: unpacked by itself, several in one file too; damaged or cut off, it is told`() throws {
        #expect(try rows(try CSVReader(try file(Self.packed))).count == 1)
        let twice = try rows(try CSVReader(try file(Self.packed + Self.packed)))
        #expect(try twice.map { try $0.values.get()["a"] } == [.text("1"), .text("a"), .text("1")])
        for count in [10, 15, 20, Self.packed.count - 1] {
            #expect(throws: AdminFailure.self, "\(count)") {
                try rows(try CSVReader(try file(Array(Self.packed.prefix(count)))))
            }
        }
        var damaged = Self.packed
        damaged[21] ^= 1
        #expect(throws: AdminFailure.self) { try rows(try CSVReader(try file(damaged))) }
    }

    // MARK: Rules

    private func field(_ rule: String, _ row: [String: InputValue]) throws -> FieldValue? {
        try FieldRule(try ImportMapping.words(of: rule)).value(of: row) { $0 }
    }

    @Test func `fields are made of columns as their rules say`() throws {
        let rows: [(String, [String: InputValue], FieldValue?)] = [
            ("a string", ["a": .integer(7)], .string("7")),
            ("a int64 b", ["b": .text(" -7 ")], .int64(-7)),
            ("a double", ["a": .text("1e3")], .double(1_000)),
            ("a double", ["b": .text("1e3")], nil),
            ("a bool", ["a": .text("Yes")], .int64(1)),
            ("a bool", ["a": .truth(false)], .int64(0)),
            ("a date", ["a": .text("1970-01-02")], .date(milliseconds: 86_400_000)),
            ("a date", ["a": .text("1970-01-01T00:00:01Z")], .date(milliseconds: 1_000)),
            ("a date", ["a": .text("1970-01-01T01:00:01.250+01:00")], .date(milliseconds: 1_250)),
            ("a date", ["a": .text("2001-01-01T00:00:00.1000Z")], FieldDate(secondsSince2001: 0.1).map { .date($0) }),
            ("a date", ["a": .text("2000-12-31T23:59:59,9000Z")], FieldDate(secondsSince2001: -0.1).map { .date($0) }),
            ("a date", ["a": .number(-1.5)], .date(milliseconds: -1_500)),
            ("a bytes", ["a": .text("AAH/")], .bytes([0, 1, 255])),
            ("a list<int64> \"the numbers\" separator=,", ["the numbers": .text("1, 2")], .int64s([1, 2])),
            ("a list<string>", ["a": .list([.text("x"), .integer(2)])], .strings(["x", "2"])),
            ("a list<double>", ["a": .list([])], .emptyList),
            ("a reference", ["a": .text("IS")], .reference(FieldReference(recordName: "IS"))),
            (
                "a reference b deleteSelf", ["b": .text("IS")],
                .reference(FieldReference(recordName: "IS", action: .deleteSelf))
            ),
            ("a location lat lon", ["x": .text("1")], nil),
        ]
        for (rule, row, expected) in rows { #expect(try field(rule, row) == expected, "\(rule)") }
        #expect(throws: InputMistake.self) { try field("a date", ["a": .text("2001-01-01T00:00:00.Z")]) }
        let row: [String: InputValue] = ["lat": .text("64.1"), "lon": .text("-21.9"), "feet": .integer(100)]
        guard case .location(let place)? = try field("a location lat lon feet*0.3048", row) else {
            Issue.record("no location")
            return
        }
        #expect(place.latitude == 64.1 && place.longitude == -21.9 && abs(place.altitude - 30.48) < 1e-9)
        #expect(place.verticalAccuracy == 0)
    }

    @Test func `what does not fit its rule is told with the column and what is expected`() throws {
        let rows: [(String, [String: InputValue], String)] = [
            ("a int64", ["a": .text("1.5")], "The column a is \"1.5\", which is not a whole number."),
            ("a double", ["a": .text("high")], "not a number"), ("a date", ["a": .text("31.5.2024")], "2024-05-31"),
            ("a bool", ["a": .integer(2)], "true or false"), ("a bytes", ["a": .text("?")], "Base64"),
            ("a string", ["a": .list([])], "not a string"),
            ("a reference", ["a": .object], "cannot be a record's name"),
            ("a list<int64>", ["a": .text("1;x")], "a whole number"),
            ("a location lat lon", ["lat": .text("1")], "There is a lat without a lon."),
            ("a location lat lon", ["lat": .text("91"), "lon": .text("0")], "between -90 and 90"),
        ]
        for (rule, row, text) in rows {
            do {
                let value = try field(rule, row)
                Issue.record("\(rule): \(String(describing: value))")
            } catch let mistake as InputMistake {
                #expect(mistake.text.contains(text), "\(mistake.text)")
            }
        }
        for rule in ["a", "1a string", "a text", "a string b c", "a location lat", "a reference b c", "a list<list>"] {
            #expect(throws: AdminFailure.self, "\(rule)") { try field(rule, [:]) }
        }
    }

    @Test func `a mapping says type, name and fields, and its mistakes by line`() throws {
        let text = """
            # The airports of the world.
            type Airport
            name icao   # four characters
            underscore x
            field elevation double
            field location location lat "the lon"
            field elevation int64 feet
            skip lid
            only
            """
        let mapping = try ImportMapping(parsing: text, file: "m")
        #expect(mapping.recordType == "Airport" && mapping.nameColumn == "icao" && mapping.underscorePrefix == "x")
        #expect(mapping.rules.map(\.columns) == [["lat", "the lon"], ["feet"]] && !mapping.takesOthers)
        #expect(mapping.missingColumns(of: ["icao", "lat", "feet"]) == ["the lon", "lid"])
        for (text, line) in [("type", 1), ("only\nfield a text", 2), ("name \"x", 1), ("\n\nkey b", 3)] {
            do {
                _ = try ImportMapping(parsing: text, file: "m")
                Issue.record("\(text)")
            } catch {
                #expect(error.description.hasPrefix("m:\(line): "), "\(error)")
            }
        }
    }

    @Test func `R-040, R-042: rows become records; columns that cannot be keys are renamed, and clashes told`() throws {
        var mapping = ImportMapping()
        mapping.underscorePrefix = "x"
        mapping.skipped = ["lid"]
        try mapping.add(rule: ["home", "reference", "country"])
        var converter = RowConverter(mapping, nameColumn: "id")
        let record = try converter.record(of: [
            "id": .text("_A1"), "country": .text("_B2"), "lid": .text("?"), "ISO3166-1": .text("352"),
            "2nd": .integer(7),
        ])
        #expect(record.name == "x_A1")
        #expect(record.fields.keys == ["ISO3166_1", "column_2nd", "home"])
        #expect(try record.fields["home"]?.value() == .reference(FieldReference(recordName: "x_B2")))
        let rows: [([String: InputValue], String)] = [
            (["a": .text("x")], "The column id is empty"),
            (["id": .text("a"), "ISO3166_1": .text("x")], "which exists already"),
            (["id": .text("a"), "home": .text("x")], "which exists already"),
            (["id": .text("a"), "o": .object], "no field can hold"),
            (["id": .text("a"), "l": .list([.integer(1), .text("x")])], "several types"),
            (["id": .text("a"), "country": .text("Ísland")], "cannot be a record's name"),
        ]
        for (row, text) in rows {
            do {
                _ = try converter.record(of: row)
                Issue.record("\(text)")
            } catch {
                #expect(error.text.contains(text), "\(error.text)")
            }
        }
    }

    @Test func `the bar shows how far it is`() {
        #expect(
            ProgressBar.text(0.5, recordCount: 100, seconds: 2)
                == "[###############...............] 50 %  100 records, 50 per second")
        #expect(ProgressBar.text(nil, recordCount: 3, seconds: 1) == "3 records, 3 per second")
    }
}
