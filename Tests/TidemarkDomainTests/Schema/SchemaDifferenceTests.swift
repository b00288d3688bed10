// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct SchemaDifferenceTests {
    private static func schema(_ text: String) throws -> Schema { try Schema(parsing: "DEFINE SCHEMA " + text) }

    private static let rows: [(String, String, [String], isDestructive: Bool)] = [
        ("", "", [], false),
        ("CREATE ROLE A;", "CREATE ROLE B;", ["+ ROLE B", "- ROLE A"], false),
        ("", "RECORD TYPE A ( b STRING );", ["+ RECORD TYPE A", "+ A.b STRING"], false),
        ("RECORD TYPE A ( b STRING );", "", ["- RECORD TYPE A"], true),
        ("RECORD TYPE A ( b STRING );", "RECORD TYPE A ();", ["- A.b STRING"], true),
        (
            "RECORD TYPE A ( b STRING );", "RECORD TYPE A ( b LIST<STRING> QUERYABLE );",
            ["~ A.b STRING -> LIST<STRING> QUERYABLE"], true
        ),
        (
            "RECORD TYPE A ( b STRING );", "RECORD TYPE A ( b ENCRYPTED STRING );",
            ["~ A.b STRING -> ENCRYPTED STRING"], true
        ),
        (
            "RECORD TYPE A ( b STRING );", "RECORD TYPE A ( b STRING QUERYABLE SORTABLE );",
            ["~ A.b no marks -> QUERYABLE SORTABLE"], false
        ),
        (
            "RECORD TYPE A ( \"___recordID\" REFERENCE QUERYABLE );", "RECORD TYPE A ();",
            ["~ A.___recordID QUERYABLE -> no marks"], false
        ),
        (
            "RECORD TYPE A ();", "RECORD TYPE A ( GRANT READ TO \"_icloud\" );",
            [
                "~ A GRANT WRITE TO \"_creator\", GRANT CREATE TO \"_icloud\", GRANT READ TO \"_world\" -> "
                    + "GRANT READ TO \"_icloud\""
            ], false
        ),
    ]

    @Test func `differences are lines for people, and those that cost data are known`() throws {
        for (old, new, lines, isDestructive) in Self.rows {
            let differences = try Self.schema(old).differences(to: try Self.schema(new))
            #expect(differences.map(\.text) == lines)
            #expect(differences.filter(\.isDestructive).isEmpty != isDestructive, "\(old) to \(new)")
        }
    }

    @Test func `a schema has no difference only to itself`() {
        var random = SeededRandom()
        for _ in 0..<500 {
            let (one, two) = (Schema.random(using: &random), Schema.random(using: &random))
            #expect(one.differences(to: two).isEmpty == (one == two), "seed \(random.seed)")
            #expect(one.differences(to: one).isEmpty)
        }
    }

    @Test func `promotion adds and changes nothing that production has otherwise`() throws {
        let production = try Self.schema("RECORD TYPE A ( b STRING, c INT64 ); RECORD TYPE Z ();")
        let development = try Self.schema(
            "CREATE ROLE R; RECORD TYPE A ( b STRING QUERYABLE, d DOUBLE, GRANT READ TO R ); RECORD TYPE B ();")
        let result = try production.promoting(development)
        let expected = try Self.schema(
            """
            CREATE ROLE R; RECORD TYPE A ( b STRING QUERYABLE, c INT64, d DOUBLE, GRANT READ TO R );
            RECORD TYPE B (); RECORD TYPE Z ();
            """)
        #expect(result == expected)
        let conflict = #expect(throws: SchemaConflict.self) {
            try production.promoting(try Self.schema("RECORD TYPE A ( c STRING );"))
        }
        #expect(conflict?.differences.map(\.text) == ["~ A.c INT64 -> STRING"])
    }

    @Test func `promotion never takes away`() throws {
        var random = SeededRandom()
        for _ in 0..<500 {
            let (production, development) = (Schema.random(using: &random), Schema.random(using: &random))
            guard let result = try? production.promoting(development) else { continue }
            let lost = production.differences(to: result).filter(\.isDestructive)
            #expect(lost == [], "seed \(random.seed)")
            #expect(try result.promoting(development) == result, "seed \(random.seed)")
        }
    }
}
