// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTelemetry

@Suite struct StatementHashTests {
    /// Published values of FNV-1a.
    @Test(arguments: [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")])
    func `R-824: a hash of a statement is the same everywhere, and the statement brings it to PostgreSQL`(
        _ sql: String, _ hash: String
    ) {
        #expect(StatementHash.text(of: sql) == hash)
        #expect(StatementHash.marked(sql) == "\(sql) /* sql_id=\(hash) */")
    }

    @Test(arguments: [" ", "\n", "\n    "])
    func `R-824: the hash is behind the first word, where each version of PostgreSQL keeps it`(_ space: String) {
        let sql = "SELECT\(space)a FROM b"
        #expect(StatementHash.marked(sql) == "SELECT /* sql_id=\(StatementHash.text(of: sql)) */\(space)a FROM b")
    }

    @Test func `R-824: a hash has 16 digits, also one that begins with zeros`() {
        var hashes: Set<String> = []
        for number in 0..<2_000 {
            let text = "SELECT \(number), a, b, c FROM t"
            hashes.insert(StatementHash.text(of: text))
            let marked = StatementHash.marked(text)
            #expect(marked.wholeMatch(of: /SELECT \/\* sql_id=[0-9a-f]{16} \*\/ [0-9]+, a, b, c FROM t/) != nil)
        }
        #expect(hashes.count == 2_000 && hashes.contains { $0.hasPrefix("0") })
    }
}
