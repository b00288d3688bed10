// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct SchemaSavesTests {
    private static func schema(isFrozen: Bool, _ fields: [String: FieldSchema] = [:]) -> ContainerSchema {
        ContainerSchema(
            container: ContainerID(1), version: 1, isFrozen: isFrozen,
            schema: Schema(types: ["Note": RecordTypeSchema(fields: fields)]))
    }

    private static func map(_ fields: [Field]) throws -> FieldMap { try FieldMap(fields) }

    /// A value of each type that a record can hold, but for those that teach nothing.
    private static let values: [FieldValue] = [
        .string("a"), .int64(1), .double(1), .date(milliseconds: 1), .bytes([1]),
        .reference(FieldReference(recordName: "r")), .location(place), .strings(["a"]), .int64s([1]), .doubles([1]),
        .dates(milliseconds: [1]), .bytesList([[1]]), .references([FieldReference(recordName: "r")]),
        .locations([place]),
    ]
    private static let place = FieldLocation(
        latitude: 1, longitude: 2, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
        timestampMilliseconds: 0)

    private static func type(_ value: FieldValue) throws -> SchemaFieldType {
        try #require(SchemaFieldType(code: value.type.rawValue))
    }

    @Test func `R-062, R-067: a known key takes its own type in its own space and nothing else, frozen or not`() throws
    {
        for (isFrozen, hasEncrypted, wantsEncrypted) in [
            (false, false, false), (true, false, false), (false, true, true), (true, true, true),
            (false, true, false), (false, false, true), (true, false, true), (true, true, false),
        ] {
            for has in Self.values {
                let hasType = try Self.type(has)
                let schema = Self.schema(
                    isFrozen: isFrozen, ["key": FieldSchema(hasType, isEncrypted: hasEncrypted)])
                for wants in Self.values {
                    let fields = try Self.map([Field("key", wants, isEncrypted: wantsEncrypted)])
                    let verdict = schema.verdict(onSaving: fields, type: "Note")
                    if hasEncrypted != wantsEncrypted {
                        let refusal = SchemaRefusal.spaceDiffers(type: "Note", key: "key", isEncrypted: hasEncrypted)
                        #expect(verdict == .refused(refusal))
                    } else if has.type == wants.type || (wantsEncrypted && wants.type == .bytes) {
                        // Which type an encrypted value has, only devices know.
                        #expect(verdict == .fits)
                    } else {
                        let name = try Self.type(wants).name
                        #expect(
                            verdict
                                == .refused(.typeDiffers(type: "Note", key: "key", has: hasType, wants: name)))
                    }
                }
            }
        }
    }

    @Test func `R-061, R-063: a removal fits everything and an empty list every list; neither teaches`() throws {
        for has in Self.values {
            let type = try Self.type(has)
            let schema = Self.schema(isFrozen: false, ["key": FieldSchema(type)])
            #expect(schema.verdict(onSaving: try Self.map([Field("key", .removed)]), type: "Note") == .fits)
            #expect(schema.verdict(onSaving: try Self.map([Field("other", .removed)]), type: "Note") == .fits)
            #expect(schema.verdict(onSaving: try Self.map([Field("other", .emptyList)]), type: "Note") == .fits)
            let empty = schema.verdict(onSaving: try Self.map([Field("key", .emptyList)]), type: "Note")
            let refusal = SchemaRefusal.typeDiffers(type: "Note", key: "key", has: type, wants: "an empty list")
            #expect(empty == (type.isList ? .fits : .refused(refusal)))
        }
    }

    @Test func `R-012: the first save of a type and a key teaches them`() throws {
        for isEncrypted in [false, true] {
            for value in Self.values {
                let fields = try Self.map([Field("key", value, isEncrypted: isEncrypted), Field("gone", .removed)])
                for type in ["Note", "New"] {
                    let verdict = Self.schema(isFrozen: false).verdict(onSaving: fields, type: type)
                    guard case .teaches(let lesson) = verdict else {
                        Issue.record("\(verdict)")
                        continue
                    }
                    let field = FieldSchema(try Self.type(value), isEncrypted: isEncrypted)
                    #expect(lesson.fields == [type: ["key": field]])
                    let learned = Self.schema(isFrozen: false).schema.learning(lesson)
                    #expect(learned.types[type]?.fields == ["key": field])
                    #expect(learned.types[type]?.grants == .standard)
                }
            }
        }
        let verdict = Self.schema(isFrozen: false).verdict(onSaving: FieldMap(), type: "New")
        guard case .teaches(let lesson) = verdict else { throw IssueRecorded() }
        #expect(lesson.fields == ["New": [:]] && SchemaLesson().newEntryCount(of: lesson) == 1)
    }

    @Test func `R-013: a frozen schema refuses what it does not know, by name`() throws {
        let schema = Self.schema(isFrozen: true, ["a": FieldSchema(SchemaFieldType(.int64))])
        #expect(schema.verdict(onSaving: fields(["a": 1]), type: "Note") == .fits)
        #expect(schema.verdict(onSaving: fields(["b": nil]), type: "Note") == .fits)
        #expect(
            schema.verdict(onSaving: fields(["a": 1, "b": 1]), type: "Note")
                == .refused(.fieldUnknown(type: "Note", key: "b")))
        #expect(schema.verdict(onSaving: FieldMap(), type: "New") == .refused(.typeUnknown(type: "New")))
        #expect(
            SchemaRefusal.typeUnknown(type: "New").text.hasPrefix("Cannot create new type New in production schema"))
    }

    @Test func `R-062: of two that teach a key, the first is right`() throws {
        var lesson = SchemaLesson()
        for value: FieldValue in [.int64(1), .string("a")] {
            let verdict = Self.schema(isFrozen: false).verdict(
                onSaving: try Self.map([Field("key", value)]), type: "Note")
            guard case .teaches(let part) = verdict else { throw IssueRecorded() }
            lesson.merge(part)
        }
        #expect(lesson.fields == ["Note": ["key": FieldSchema(SchemaFieldType(.int64))]])
        let known = Self.schema(isFrozen: false, ["key": FieldSchema(SchemaFieldType(.double), marks: .queryable)])
        #expect(known.schema.learning(lesson) == known.schema)
    }

    @Test func `every refusal names what it is about, and has the reason's code`() {
        let refusals: [SchemaRefusal] = [
            .typeUnknown(type: "TheType"), .fieldUnknown(type: "TheType", key: "theKey"),
            .typeDiffers(type: "TheType", key: "theKey", has: .list(.string), wants: "INT64"),
            .spaceDiffers(type: "TheType", key: "theKey", isEncrypted: true), .full(type: "TheType", entriesMax: 7),
            .taughtEnough(type: "TheType", entriesMax: 7),
        ]
        #expect(Set(refusals.map(\.reason)).count == refusals.count - 1)
        for refusal in refusals {
            #expect(refusal.text.contains("TheType") && refusal.text.hasSuffix("."), "\(refusal)")
        }
        #expect(refusals[2].text.contains("'theKey'") && refusals[2].text.contains("LIST<STRING>"))
        #expect(refusals[2].text.contains("INT64"))
    }

    @Test func `a type's code is what a field map has, and comes back`() {
        for type in SchemaFieldType.all { #expect(SchemaFieldType(code: type.code) == type) }
        #expect(Set(SchemaFieldType.all.map(\.name)).count == 16)
        for code: UInt8 in [0, 9, 14, 15, 16, 25, 255] { #expect(SchemaFieldType(code: code) == nil) }
        for type in FieldType.allCases where type != .removed && type != .emptyList {
            #expect(SchemaFieldType(code: type.rawValue)?.isList == type.isList)
        }
    }
}

private struct IssueRecorded: Error {}
