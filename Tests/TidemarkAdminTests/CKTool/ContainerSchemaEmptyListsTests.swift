// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkAdmin

/// Empty lists, which have no type where they are stored.
@Suite struct ContainerSchemaEmptyListsTests {
    private static let types: [(String, SchemaFieldType)] = [
        ("stringListType", .list(.string)), ("int64ListType", .list(.int64)), ("doubleListType", .list(.double)),
        ("timestampListType", .list(.date)), ("locationListType", .list(.location)), ("bytesListType", .list(.bytes)),
        ("referenceListType", .list(.reference)), ("assetListType", .list(.asset)),
    ]

    @Test(arguments: types)
    func `R-895: an empty list keeps the type of elements that it declares`(_ name: String, _ type: SchemaFieldType)
        throws
    {
        let fields = try CKToolFields(parsing: #"{"k": {"type": "\#(name)", "value": []}}"#)
        #expect(fields.emptyLists == ["k": type])
        #expect(try fields.fieldMap(files: [:], in: .gmt) == (try FieldMap([Field("k", .emptyList)])))
        #expect(CKToolType(listOf: type)?.name == name)
    }

    @Test func `R-895: only empty lists have to keep it`() throws {
        let fields = try CKToolFields(
            parsing: """
                {"a": {"type": "stringListType", "value": ["x"]}, "b": {"type": "stringType", "value": ""},
                 "c": {"type": "int64ListType", "value": null}, "d": {"type": "emptyListType", "value": []}}
                """)
        #expect(fields.emptyLists.isEmpty)
        // It is read as it is written.
        #expect(try fields.fieldMap(files: [:], in: .gmt)["d"]?.value() == .emptyList)
        for value in ["[1]", "null", #""a""#] {
            #expect(throws: InputMistake.self) {
                try CKToolFields(parsing: #"{"d": {"type": "emptyListType", "value": \#(value)}}"#)
            }
        }
        #expect(CKToolType(listOf: SchemaFieldType(.string)) == nil)
    }

    private static func schema(_ fields: [String: FieldSchema]?, isFrozen: Bool = false) -> ContainerSchema {
        ContainerSchema(
            container: ContainerID(1), version: 1, isFrozen: isFrozen,
            schema: Schema(types: fields.map { ["T": RecordTypeSchema(fields: $0)] } ?? [:]))
    }

    @Test func `R-895: an empty list teaches its type, as one with elements does`() throws {
        let lists = ["a": SchemaFieldType.list(.string), "b": .list(.int64)]
        let new = SchemaLesson(fields: ["T": ["a": FieldSchema(.list(.string)), "b": FieldSchema(.list(.int64))]])
        #expect(try Self.schema(nil).lesson(of: lists, type: "T", entriesMax: 3) == new)
        let known = Self.schema(["a": FieldSchema(.list(.string), marks: .queryable)])
        #expect(
            try known.lesson(of: lists, type: "T", entriesMax: 10)
                == SchemaLesson(fields: ["T": ["b": FieldSchema(.list(.int64))]]))
        #expect(try Self.schema([:], isFrozen: true).lesson(of: lists, type: "T", entriesMax: 10).isEmpty)
        let both = Self.schema(["a": FieldSchema(.list(.string)), "b": FieldSchema(.list(.int64))])
        #expect(try both.lesson(of: lists, type: "T", entriesMax: 0).isEmpty)
    }

    @Test func `R-895: an empty list of another type, or one for which there is no room, is refused`() {
        let lists = ["a": SchemaFieldType.list(.string)]
        for has in [SchemaFieldType.list(.int64), SchemaFieldType(.string)] {
            for isFrozen in [false, true] {
                #expect(throws: SchemaRefusal.typeDiffers(type: "T", key: "a", has: has, wants: "LIST<STRING>")) {
                    try Self.schema(["a": FieldSchema(has)], isFrozen: isFrozen)
                        .lesson(of: lists, type: "T", entriesMax: 10)
                }
            }
        }
        #expect(throws: SchemaRefusal.full(type: "T", entriesMax: 1)) {
            try Self.schema(nil).lesson(of: lists, type: "T", entriesMax: 1)
        }
    }

    @Test func `R-896: an empty list is written with the type that its field has in the schema`() throws {
        let state = RecordState(
            name: "r", type: "T", fields: try FieldMap([Field("a", .emptyList), Field("b", .emptyList)]),
            changeNumber: 5, isDeleted: false, parent: nil, createdAt: Timestamp(milliseconds: 0),
            createdBy: UserID(1), createdByDevice: .nobody, modifiedAt: Timestamp(milliseconds: 0),
            modifiedBy: UserID(1), batchEnd: 5)
        let text = CKToolJSONText.text(
            CKToolRecord(
                record: state, zone: ZoneID(3), zoneName: "Notes", store: StoreIncarnation(1), userNames: [:],
                schema: ["a": FieldSchema(.list(.date))]
            ).output())
        let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let fields = parsed?["fields"] as? [String: [String: Any]]
        #expect(fields?["a"]?["type"] as? String == "timestampListType")
        #expect(fields?["b"]?["type"] as? String == "emptyListType")
    }
}
