// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

@Suite struct IndexColumnTests {
    private static func column(_ fields: [Field], _ schema: [String: FieldSchema]) throws -> String? {
        IndexColumnWriter(RecordTypeSchema(fields: schema)).column(of: try FieldMap(fields), scope: "1/2/")
    }

    private static let string = SchemaFieldType(.string)

    @Test func `nothing is kept of a record whose type has no marks`() throws {
        let fields = [Field("a", .string("x")), Field("b", .int64(1))]
        #expect(try Self.column(fields, [:]) == nil)
        #expect(
            try Self.column(fields, ["a": FieldSchema(Self.string), "b": FieldSchema(SchemaFieldType(.int64))]) == nil)
        #expect(try Self.column(fields, ["c": FieldSchema(Self.string, marks: .all)]) == nil)
        #expect(IndexColumnWriter(RecordTypeSchema(fields: ["a": FieldSchema(Self.string)])).isEmpty)
    }

    @Test func `R-186: each marked field has its forms`() throws {
        let place = FieldLocation(
            latitude: 0, longitude: 90, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
            timestampMilliseconds: 0)
        var nowhere = place
        nowhere.latitude = 91
        let queryable: FieldMarks = .queryable
        let rows: [(FieldValue, FieldSchema, String?)] = [
            (.string("Ab"), FieldSchema(Self.string, marks: queryable), #"{"=k":"ab","<k":"Ab"}"#),
            (.string("Ab"), FieldSchema(Self.string, marks: .sortable), #"{"=k":"ab","<k":"Ab"}"#),
            (.string("The Ab"), FieldSchema(Self.string, marks: .searchable), ##"{"#":["1/2/ab"]}"##),
            (.string("the"), FieldSchema(Self.string, marks: .searchable), nil),
            (.int64(0), FieldSchema(SchemaFieldType(.int64), marks: queryable), #"{"=k":"8000000000000000000"}"#),
            (
                .date(milliseconds: 1), FieldSchema(SchemaFieldType(.date), marks: queryable),
                #"{"=k":"8000000000000001"}"#
            ),
            (
                .reference(FieldReference(recordName: "r\"")),
                FieldSchema(SchemaFieldType(.reference), marks: queryable), #"{"=k":"r\""}"#
            ),
            (.strings(["B", "b"]), FieldSchema(.list(.string), marks: queryable), #"{"*k":["1/2/b","1/2/b"]}"#),
            (.emptyList, FieldSchema(.list(.int64), marks: queryable), #"{"*k":[]}"#),
            (.location(place), FieldSchema(SchemaFieldType(.location), marks: queryable), #"{"@k":[0.0,1.0,0.0]}"#),
            (.location(nowhere), FieldSchema(SchemaFieldType(.location), marks: queryable), #"{"@k":[]}"#),
            // Of another type than the schema's, which only force can bring about.
            (.int64(1), FieldSchema(Self.string, marks: queryable), nil),
        ]
        for (value, schema, expected) in rows {
            #expect(try Self.column([Field("k", value)], ["k": schema]) == expected, "\(value)")
        }
        let both = try Self.column(
            [Field("a", .string("one")), Field("b", .strings(["two", "one"])), Field("c", .int64(-1))],
            [
                "a": FieldSchema(Self.string, marks: .searchable), "b": FieldSchema(.list(.string), marks: .searchable),
                "c": FieldSchema(SchemaFieldType(.int64), marks: queryable),
            ])
        #expect(both == ##"{"=c":"400fffffffffffff000","#":["1/2/one","1/2/two"]}"##)
    }

    @Test func `R-067: encrypted fields are never kept`() throws {
        let fields = [Field("k", .string("secret"), isEncrypted: true)]
        #expect(try Self.column(fields, ["k": FieldSchema(Self.string, isEncrypted: true, marks: .all)]) == nil)
        #expect(try Self.column(fields, ["k": FieldSchema(Self.string, marks: .all)]) == nil)
    }

    @Test func `texts are in the order of the values`() {
        var random = SeededRandom()
        let doubles = [
            0, -0.0, 1, -1, 1.5, .infinity, -.infinity, .nan, -.nan, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
            1e300,
        ]
        var values = doubles.map { IndexValue.number(IndexNumber($0)) }
        values += [Int64.max, .min, .max - 1, 0, 1 << 53 + 1].map { .number(IndexNumber($0)) }
        for _ in 0..<100 {
            values.append(.number(IndexNumber(Double(bitPattern: random.next()))))
            values.append(.number(IndexNumber(Int64(bitPattern: random.next()))))
        }
        check(values, seed: random.seed)
        check([0, 1, -1, .max, .min, 1_700_000_000_000].map { .date(milliseconds: $0) }, seed: random.seed)
        check(["", "a", "A", "é", "\u{0}", "\u{1}", "\u{10FFFF}"].map { .text(.exact($0)) }, seed: random.seed)
    }

    private func check(_ values: [IndexValue], seed: UInt64) {
        for left in values {
            for right in values {
                let (first, second) = (Array(IndexColumn.text(of: left).utf8), Array(IndexColumn.text(of: right).utf8))
                #expect((left < right) == first.lexicographicallyPrecedes(second), "seed \(seed): \(left), \(right)")
            }
        }
    }

    @Test func `strings are JSON, whatever is in them`() throws {
        let fields = [Field("k", .strings(["A\"\\\u{1}\n", "é😀"]))]
        let column = try Self.column(fields, ["k": FieldSchema(.list(.string), marks: .queryable)])
        // U+0001 is two characters in what is indexed.
        #expect(column == #"{"*k":["1/2/a\"\\\u0001\u0002\u000a","1/2/é😀"]}"#)
        #expect(IndexColumn.scope(DatabaseID(1), ZoneID(2)) == "1/2/")
    }

    @Test func `what a query needs is what it names, as far as the schema has it`() throws {
        let schema = try Schema(
            parsing:
                "DEFINE SCHEMA RECORD TYPE T ( s STRING SEARCHABLE, n INT64, other STRING, b BYTES, e ENCRYPTED STRING );"
        )
        func needs(_ predicate: QueryPredicate, sorts: [QuerySort] = [], searchesAll: Bool = true) -> RecordMarks {
            let query = Query(recordType: "T", zoneName: nil, predicate: predicate, sorts: sorts)
            return schema.marksNeeded(by: query, searchesAll: searchesAll)
        }
        let all = needs(.always(true))
        #expect(all.fields.isEmpty && all.system == [.recordID: .queryable])
        let two = needs(
            .and([.not(.compare(.field("n"), .equal, .int64(1))), .isPresent(.field("b"), true)]),
            sorts: [QuerySort(.field("s")), QuerySort(.system(.modificationDate))])
        #expect(two.fields == ["n": .queryable, "s": .sortable])
        #expect(two.system == [.modificationDate: .sortable])
        let search: FieldMarks = .searchable
        #expect(needs(.not(.search("x"))).fields == ["s": search, "other": search])
        #expect(needs(.search("x"), searchesAll: false).fields == ["s": search])
        #expect(schema.marking("T", two).types["T"]?.fields["s"]?.marks == [.searchable, .sortable])
        #expect(schema.marking("Unknown", two) == schema)

        func knows(_ predicate: QueryPredicate, sorts: [QuerySort] = [], type: String = "T") -> Bool {
            schema.knows(Query(recordType: type, zoneName: nil, predicate: predicate, sorts: sorts))
        }
        #expect(knows(.always(true)) && knows(.isPresent(.field("n"), true), sorts: [QuerySort(.field("s"))]))
        #expect(!knows(.always(true), type: "Other") && !knows(.not(.isPresent(.field("x"), true))))
        #expect(!knows(.always(true), sorts: [QuerySort(.field("x"))]))
        #expect(!knows(.search("a")), "a search looks into fields that it does not name")
    }
}
