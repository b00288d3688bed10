// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct RecordCSVTests {
    private func record(_ value: FieldValue?) -> RecordLine {
        let fields = value.map { ["f": RecordLineField($0)] } ?? [:]
        return RecordLine(recordName: "a \"b\",c", recordType: "Note", parent: nil, fields: fields)
    }

    private func read(_ text: String) throws -> [RecordLine] {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/records.csv"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        var source = try #require(RecordCSVSource(try CSVReader(try InputFile(path: path))))
        var records: [RecordLine] = []
        while let row = try source.next() { records.append(try row.record.get()) }
        return records
    }

    @Test(arguments: RecordLineTests.values)
    func `R-910: a value comes back from its cell as it was, whatever it is`(_ value: FieldValue) throws {
        let type = value == .emptyList ? "list<date>" : RecordLineField.name(of: value.type)
        let column = try #require(RecordCSVColumn(title: "f:\(type)"))
        let rows = try [value, nil, value].map { try RecordCSV.text(record($0), [column]) }
        #expect(rows.allSatisfy { $0.leftOutCount == 0 })
        let text = CSVLine.text(RecordCSV.head + [column.title]) + rows.map(\.text).joined()
        let back = try read(text)
        #expect(back.map(\.recordName) == ["a \"b\",c", "a \"b\",c", "a \"b\",c"])
        #expect(try back[0].fieldMap() == FieldMap([Field("f", value)]), "\(text)")
        #expect(back[1].fields.isEmpty, "no value is no text")
    }

    @Test func `R-910: the row of a record of 1 MiB is read back`() throws {
        let value = FieldValue.strings([String(repeating: "\u{1}", count: 1_000_000)])
        let column = try #require(RecordCSVColumn(title: "f:list<string>"))
        let row = try RecordCSV.text(record(value), [column]).text
        #expect(row.utf8.count > InputLimits.rowBytesMax)
        let back = try read(CSVLine.text(RecordCSV.head + [column.title]) + row)
        #expect(try back.first?.fieldMap() == FieldMap([Field("f", value)]))
    }

    @Test func `R-910: a value of another type than its column is left out, and counted`() throws {
        let column = try #require(RecordCSVColumn(title: "f:int64"))
        let row = try RecordCSV.text(record(.string("7")), [column])
        #expect(row.leftOutCount == 1 && row.text.hasSuffix(",Note,,\r\n"), "\(row.text)")
        #expect(try RecordCSV.text(record(.int64(7)), [], isWhole: true).leftOutCount == 1, "it has no column")
        #expect(try RecordCSV.text(record(.int64(7)), []).leftOutCount == 0, "it was not wanted")
    }

    @Test func `R-910: columns have the types of the schema, and the operator chooses between two`() throws {
        var note = RecordTypeSchema()
        note.fields = [
            "n": FieldSchema(SchemaFieldType(.int64)), "l": FieldSchema(.list(.date)),
            "s": FieldSchema(SchemaFieldType(.string), isEncrypted: true),
        ]
        var page = RecordTypeSchema()
        page.fields = ["n": FieldSchema(SchemaFieldType(.double))]
        let schema = Schema(types: ["Note": note, "Page": page])
        func titles(_ keys: [String], _ type: String?) throws -> [String] {
            try RecordCSV.fields(keys, of: type, in: schema).map(\.title)
        }
        #expect(try titles([], "Note") == ["l:list<date>", "n:int64", "s:encrypted"])
        #expect(try titles(["n"], "Page") == ["n:double"])
        for (keys, type) in [(["n"], nil), (["n", "n"], "Note"), (["x"], "Note"), ([], nil)] as [([String], String?)] {
            #expect(throws: AdminFailure.self) { try titles(keys, type) }
        }
    }

    @Test(arguments: ["f", "f:", ":int64", "f:text", "f:list<list>"])
    func `R-910: what is no column of an export is none`(_ title: String) throws {
        #expect(RecordCSVColumn(title: title) == nil)
    }

    @Test func `R-910: what is no value of its type is told, and the next row is read`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/records.csv"
        try "recordName,recordType,parent,f:int64\na,N,,x\n,N,,1\nb,N,a,1\n".write(
            toFile: path, atomically: false, encoding: .utf8)
        var source = try #require(RecordCSVSource(try CSVReader(try InputFile(path: path))))
        #expect(throws: InputMistake.self) { try source.next()?.record.get() }
        #expect(throws: InputMistake.self) { try source.next()?.record.get() }
        let row = try #require(try source.next())
        #expect(row.line == 4)
        #expect(try row.record.get().parent == "a")
    }
}
