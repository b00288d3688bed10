// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkAdmin

/// Each form of output, letter by letter.
@Suite struct RowWriterTests {
    private static let columns = [
        ColumnHead(title: "NAME", key: "name", isName: true), ColumnHead(title: "COUNT", key: "count"),
        ColumnHead(title: "SHARE", key: "share", isWide: true), ColumnHead(title: "ON", key: "on"),
        ColumnHead(title: "SEEN", key: "seen"), ColumnHead(title: "MORE", key: "more"),
    ]
    private static let rows: [[OutputValue]] = [
        [
            .text("alice"), .number(7), .decimal(0.5), .flag(true), .date(Timestamp(milliseconds: 1_700_000_000_005)),
            .list([.text("a"), .object([("k", .number(1))])]),
        ],
        [.text("ß \"\\"), .number(-1), .decimal(.infinity), .flag(false), .none, .list([])],
    ]

    private func text(_ format: OutputFormat, hasColor: Bool = false) -> String {
        var writer = format.writer(hasColor: hasColor)
        return writer.text(Self.columns, Self.rows)
    }

    @Test func `R-830: a table has a head, as wide columns as its cells, and no empty cell`() {
        #expect(
            text(.table) == """
                NAME   COUNT  ON   SEEN                  MORE
                alice  7      yes  2023-11-14T22:13:20Z  a, k=1
                ß "\\   -1     no   -                     -

                """)
        #expect(text(.wide).hasPrefix("NAME   COUNT  SHARE  ON   SEEN"))
        #expect(
            text(.table, hasColor: true).hasPrefix("\u{1B}[1mNAME   COUNT  ON   SEEN                  MORE\u{1B}[0m\n"))
    }

    @Test func `R-830: JSON is one object a line, with all columns in their order`() {
        #expect(
            text(.json) == #"""
                {"name":"alice","count":7,"share":0.5,"on":true,"seen":"2023-11-14T22:13:20.005Z","more":["a",{"k":1}]}
                {"name":"ß \"\\","count":-1,"share":"inf","on":false,"seen":null,"more":[]}

                """#)
    }

    @Test func `R-830: YAML is a list of mappings, and its strings are in quotation marks`() {
        #expect(
            text(.yaml) == #"""
                - name: "alice"
                  count: 7
                  share: 0.5
                  on: true
                  seen: "2023-11-14T22:13:20.005Z"
                  more: ["a", {"k": 1}]
                - name: "ß \"\\"
                  count: -1
                  share: .inf
                  on: false
                  seen: null
                  more: []

                """#)
        var writer = OutputFormat.yaml.writer(hasColor: false)
        for text in ["no", "0x1", "- a", "# b", "null", "", " ", "a: b", "2001-01-01", "&x", "*x", "!t", "%d", "@"] {
            let written = writer.text([ColumnHead(title: "A", key: "a")], [[.text(text)]])
            #expect(written == "- a: \"\(text)\"\n")
        }
    }

    @Test func `R-830: names alone, one a line`() {
        #expect(text(.name) == "alice\nß \"\\\n")
        // Such as the requests that xray shows beside devices.
        var writer = OutputFormat.name.writer(hasColor: false)
        #expect(writer.text([ColumnHead(title: "COUNT", key: "count")], [[.number(7)]]) == "")
    }

    @Test func `R-830: rows may come in several calls, and the head comes once`() {
        var writer = OutputFormat.table.writer(hasColor: false)
        let columns = [ColumnHead(title: "A", key: "a"), ColumnHead(title: "B", key: "b")]
        #expect(writer.text(columns, []) == "")
        #expect(writer.text(columns, [[.text("one"), .text("x")]]) == "A    B\none  x\n")
        #expect(writer.text(columns, [[.text("three"), .text("y")]]) == "three  y\n")
        #expect(writer.text([columns[0]], [[.text("z")]]) == "\nA\nz\n")
    }

    @Test func `R-831: what users stored gives a terminal no commands, in any form`() {
        let text = "a\u{1B}[31m\u{9B}2J\u{7F}\u{7}\r\n\u{2028}\u{202E}b"
        let columns = [ColumnHead(title: "A", key: "a", isName: true)]
        for format in OutputFormat.allCases {
            var writer = format.writer(hasColor: false)
            let written = writer.text(columns, [[.text(text)]])
            let controls = written.unicodeScalars.filter { $0.controlsTerminals && $0 != "\n" }
            #expect(controls.isEmpty, "\(format): \(written.debugDescription)")
            #expect(written.split(separator: "\n").count == (format == .table || format == .wide ? 2 : 1))
        }
        var writer = OutputFormat.json.writer(hasColor: false)
        #expect(
            writer.text(columns, [[.text(text)]])
                == #"{"a":"a\u001b[31m\u009b2J\u007f\u0007\r\n\u2028\u202eb"}"# + "\n")
    }

    @Test func `R-830: characters that take two cells are counted as two`() {
        var writer = OutputFormat.table.writer(hasColor: false)
        let columns = [ColumnHead(title: "A", key: "a"), ColumnHead(title: "B", key: "b")]
        #expect(
            writer.text(columns, [[.text("日本"), .text("x")], [.text("e\u{301}👩‍👩‍👧"), .text("y")]])
                == "A     B\n日本  x\ne\u{301}👩‍👩‍👧   y\n")
    }
}
