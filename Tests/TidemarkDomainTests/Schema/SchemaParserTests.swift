// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct SchemaParserTests {
    @Test func `a schema that CloudKit exports is read`() throws {
        let schema = try Schema(
            parsing: """
                DEFINE SCHEMA
                    CREATE ROLE Editor;

                    RECORD TYPE Note ( // one note
                        "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                        "___createdBy"  REFERENCE,
                        "___etag"       STRING,
                        "___modTime"    TIMESTAMP,
                        "___modifiedBy" REFERENCE,
                        "___recordID"   REFERENCE QUERYABLE,
                        text            STRING QUERYABLE SEARCHABLE SORTABLE, -- what it says
                        "count"         int64 sortable,
                        place           LOCATION,
                        tags            LIST<STRING> QUERYABLE,
                        secret          ENCRYPTED BYTES,
                        secrets         LIST<ENCRYPTED STRING>,
                        rate            NUMBER PREFERRED AS DOUBLE,
                        picture         ASSET,
                        GRANT READ, WRITE TO Editor,
                        GRANT WRITE TO "_creator",
                        GRANT CREATE TO "_icloud",
                        GRANT READ TO "_world"
                    );
                    RECORD TYPE Users (
                        roles LIST<INT64>
                    );
                """)
        let note = RecordTypeSchema(
            fields: [
                "text": FieldSchema(SchemaFieldType(.string), marks: .all),
                "count": FieldSchema(SchemaFieldType(.int64), marks: .sortable),
                "place": FieldSchema(SchemaFieldType(.location)),
                "tags": FieldSchema(.list(.string), marks: .queryable),
                "secret": FieldSchema(SchemaFieldType(.bytes), isEncrypted: true),
                "secrets": FieldSchema(.list(.string), isEncrypted: true),
                "rate": FieldSchema(SchemaFieldType(.double)), "picture": FieldSchema(SchemaFieldType(.asset)),
            ],
            systemMarks: [.creationDate: [.queryable, .sortable], .recordID: .queryable],
            grants: Grants([
                .custom("Editor"): [.read, .write], .creator: .write, .authenticated: .create, .world: .read,
            ]))
        let users = RecordTypeSchema(fields: ["roles": FieldSchema(.list(.int64))])
        #expect(schema == Schema(types: ["Note": note, "Users": users], roles: ["Editor"]))
    }

    @Test func `a schema is printed as CloudKit does`() {
        let note = RecordTypeSchema(
            fields: [
                "text": FieldSchema(SchemaFieldType(.string), marks: [.queryable, .sortable]),
                "list": FieldSchema(.list(.date), isEncrypted: true),
            ], systemMarks: [.recordID: .queryable])
        #expect(
            Schema(types: ["Note": note], roles: ["Editor"]).text == """
                DEFINE SCHEMA

                    CREATE ROLE Editor;

                    RECORD TYPE Note (
                        "___createTime" TIMESTAMP,
                        "___createdBy"  REFERENCE,
                        "___etag"       STRING,
                        "___modTime"    TIMESTAMP,
                        "___modifiedBy" REFERENCE,
                        "___recordID"   REFERENCE QUERYABLE,
                        "list"          ENCRYPTED LIST<TIMESTAMP>,
                        text            STRING QUERYABLE SORTABLE,
                        GRANT WRITE TO "_creator",
                        GRANT CREATE TO "_icloud",
                        GRANT READ TO "_world"
                    );

                """)
        #expect(Schema().text == "DEFINE SCHEMA\n")
    }

    /// Text, where it is wrong, and words of the message.
    private static let wrong: [(String, Int, Int, String)] = [
        ("", 1, 1, "expected DEFINE, found the end"),
        ("DEFINE\n  SCHEME", 2, 3, "expected SCHEMA, found SCHEME"),
        ("DEFINE SCHEMA RECORD Note", 1, 22, "expected TYPE"),
        ("DEFINE SCHEMA\nRECORD TYPE Note (\n  text STRNG\n);", 3, 8, "expected a type"),
        ("DEFINE SCHEMA RECORD TYPE Note ( text STRING )", 1, 47, "expected ;, found the end"),
        ("DEFINE SCHEMA RECORD TYPE Note ( text STRING, );", 1, 47, "expected a field's name or GRANT"),
        ("DEFINE SCHEMA RECORD TYPE Note ( text STRING text2 STRING );", 1, 46, "expected )"),
        ("DEFINE SCHEMA RECORD TYPE _Note ();", 1, 27, "cannot name a record type"),
        ("DEFINE SCHEMA RECORD TYPE Note ( \"a b\" STRING );", 1, 34, "cannot name a field"),
        ("DEFINE SCHEMA RECORD TYPE Note ( \"___other\" STRING );", 1, 34, "cannot name a field"),
        ("DEFINE SCHEMA RECORD TYPE Note ( a STRING, a INT64 );", 1, 44, "there twice"),
        ("DEFINE SCHEMA RECORD TYPE A (); RECORD TYPE A ();", 1, 45, "there twice"),
        ("DEFINE SCHEMA CREATE ROLE A; CREATE ROLE A;", 1, 42, "there twice"),
        ("DEFINE SCHEMA RECORD TYPE A ( \"___etag\" STRING, \"___etag\" STRING );", 1, 49, "there twice"),
        ("DEFINE SCHEMA RECORD TYPE A ( \"___etag\" INT64 );", 1, 41, "___etag is a STRING"),
        ("DEFINE SCHEMA RECORD TYPE A ( \"___etag\" STRING QUERYABLE );", 1, 48, "cannot be QUERYABLE"),
        ("DEFINE SCHEMA RECORD TYPE A ( b BYTES QUERYABLE );", 1, 39, "cannot be QUERYABLE"),
        ("DEFINE SCHEMA RECORD TYPE A ( b ENCRYPTED STRING QUERYABLE );", 1, 50, "cannot be QUERYABLE"),
        ("DEFINE SCHEMA RECORD TYPE A ( b INT64 searchable );", 1, 39, "cannot be SEARCHABLE"),
        ("DEFINE SCHEMA RECORD TYPE A ( b ENCRYPTED REFERENCE );", 1, 33, "cannot be ENCRYPTED"),
        ("DEFINE SCHEMA RECORD TYPE A ( b LIST<ENCRYPTED ASSET> );", 1, 33, "cannot be ENCRYPTED"),
        ("DEFINE SCHEMA RECORD TYPE A ( b LIST<LIST<STRING>> );", 1, 38, "expected a type"),
        ("DEFINE SCHEMA RECORD TYPE A ( b LIST STRING );", 1, 38, "expected <"),
        ("DEFINE SCHEMA RECORD TYPE A ( GRANT READ TO Editor );", 1, 45, "there is no role Editor"),
        ("DEFINE SCHEMA RECORD TYPE A ( GRANT READ TO \"_other\" );", 1, 45, "cannot name a role"),
        ("DEFINE SCHEMA RECORD TYPE A ( GRANT ALL TO \"_world\" );", 1, 37, "expected READ, CREATE or WRITE"),
        ("DEFINE SCHEMA RECORD TYPE A ( GRANT READ \"_world\" );", 1, 42, "expected TO"),
        ("DEFINE SCHEMA RECORD TYPE A ( \"GRANT STRING );", 1, 31, "does not end on its line"),
        ("DEFINE SCHEMA # more", 1, 15, "unexpected character #"),
        ("DEFINE SCHEMA \u{0} more", 1, 15, "unexpected character \\0"),
        ("DEFINE SCHEMA ümlaut", 1, 15, "unexpected character ü"),
        ("DEFINE SCHEMA / one", 1, 15, "unexpected character /"),
    ]

    @Test func `what is wrong is told with its line and column`() {
        for (text, line, column, words) in Self.wrong {
            do throws(SchemaSyntaxError) {
                _ = try Schema(parsing: text)
                Issue.record("read: \(text)")
            } catch {
                #expect(error.position.line == line && error.position.column == column, "\(text): \(error)")
                #expect(error.message.contains(words), "\(text): \(error)")
            }
        }
    }

    @Test func `what is printed is read as it was`() throws {
        var random = SeededRandom()
        for _ in 0..<500 {
            let schema = Schema.random(using: &random)
            #expect(try Schema(parsing: schema.text) == schema, "seed \(random.seed): \(schema.text)")
        }
    }

    @Test func `no text stops the parser, whatever is in it`() {
        var random = SeededRandom()
        for _ in 0..<2_000 {
            var text = Array(Schema.random(using: &random).text.unicodeScalars)
            for _ in 0...Int.random(in: 0...3, using: &random) where !text.isEmpty {
                let index = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text.remove(at: index)
                case 1:
                    text.insert(
                        "\"(),;<>-/\n\u{301}é\u{0}".unicodeScalars.randomElement(using: &random) ?? " ", at: index)
                default: text = Array(text[..<max(1, index)])
                }
            }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: text)
            _ = try? Schema(parsing: String(view))
        }
    }
}

extension Schema {
    /// Any schema that can be written down; its names are few, so that two of them have much in common.
    static func random(using random: inout SeededRandom) -> Schema {
        let names = ["Note", "a", "List", "GRANT", "x_1", "Z9", "string"]
        var schema = Schema(roles: Set(names.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))))
        for name in names.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
            schema.types[name] = .random(using: &random, keys: names, roles: schema.roles)
        }
        return schema
    }
}

extension RecordTypeSchema {
    fileprivate static func random(
        using random: inout SeededRandom, keys: [String], roles: Set<String>
    ) -> RecordTypeSchema {
        var type = RecordTypeSchema()
        for key in keys.shuffled(using: &random).prefix(Int.random(in: 0...5, using: &random)) {
            guard let fieldType = SchemaFieldType.all.randomElement(using: &random) else { continue }
            let mayEncrypt = fieldType.element != .reference && fieldType.element != .asset
            var field = FieldSchema(fieldType, isEncrypted: mayEncrypt && Int.random(in: 0..<4, using: &random) == 0)
            field.marks = .random(within: field.possibleMarks, using: &random)
            type.fields[key] = field
        }
        for field in SystemField.allCases {
            let marks = FieldMarks.random(within: field.possibleMarks, using: &random)
            if !marks.isEmpty { type.systemMarks[field] = marks }
        }
        if Bool.random(using: &random) {
            var grants = Grants([.world: .read])
            for role in roles.map(Role.custom) + [.creator, .authenticated] {
                grants.add(Permissions(rawValue: Int16.random(in: 0...7, using: &random)), to: role)
            }
            type.grants = grants
        }
        return type
    }
}

extension FieldMarks {
    fileprivate static func random(within possible: FieldMarks, using random: inout SeededRandom) -> FieldMarks {
        FieldMarks(rawValue: Int16.random(in: 0...7, using: &random)).intersection(possible)
    }
}
