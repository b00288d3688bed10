// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkPostgres

/// How SQL is shown to somebody who debugs.
@Suite struct StatementTraceTests {
    private struct Place: Sendable {
        let zone: Int64
        let name: String
    }

    @Test func `R-835: each parameter is a variable of psql with the name of what is given`() {
        let statement = DeclaredStatement<Place, Void>(
            .read, "some", "SELECT \(\.zone), \(\.name) WHERE \(\.zone) > 0")
        let lines = statement.statement.traceText.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix(": zone bigint, name text"), "\(lines)")
        #expect(lines[1] == "SELECT (:'zone'::bigint), (:'name'::text) WHERE (:'zone'::bigint) > 0;")
    }

    @Test func `R-835: a statement without names or without parameters is shown as well`() {
        let raw = Statement(.read, "raw", "SELECT $1, $2", [.int8, .textArray])
        #expect(raw.traceText.hasSuffix(": p1 bigint, p2 text[]\nSELECT (:'p1'::bigint), (:'p2'::text[]);"))
        let none = Statement(.read, "none", "SELECT 1")
        #expect(none.traceText.hasPrefix("-- none_") && none.traceText.hasSuffix("\nSELECT 1;"))
    }

    @Test(arguments: [
        (#"\ZoneKey.database"#, "database"), (#"\(account: String, key: ZoneKey).key.name"#, "name"),
        (#"\String.self"#, "value"), (#"\Place.zone?"#, "zone"), (#"\Place.<computed 0x00007f (String)>"#, ""),
        (#"\Place.<offset 8 (String)>"#, ""), (#"\(Int, Int).1"#, ""), ("", ""), (".", ""), (#"\Place.a-b"#, ""),
    ])
    func `R-835: a parameter has the last word of its path, if that is one`(_ path: String, _ word: String) {
        #expect(ParameterName.word(of: path) == word)
    }

    @Test func `R-835: no two parameters of a statement have one name`() {
        #expect(ParameterName.unique(["a", "", "a", "a"], count: 5) == ["a", "p2", "a_2", "a_3", "p5"])
        #expect(ParameterName.unique(["a_2", "a", "a"], count: 3) == ["a_2", "a", "a_3"])
    }

    @Test(arguments: [
        ("$1", "(:'a'::text)"), ("$1$2", "(:'a'::text)(:'b'::bigint)"), ("$10", "$10"), ("$0", "$0"), ("$", "$"),
        ("$$ $1", "$$ (:'a'::text)"), ("a$99999999999999999999", "a$99999999999999999999"),
        ("$2[1]", "(:'b'::bigint)[1]"), ("", ""),
    ])
    func `R-835: only what is a parameter is replaced`(_ sql: String, _ shown: String) {
        #expect(ParameterName.naming(sql, ["a", "b"], types: ["text", "bigint"]) == shown)
    }
}
