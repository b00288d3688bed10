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
        #expect(StatementHash.marked(sql) == "/* sql_id=\(hash) */ \(sql)")
    }

    @Test func `R-824: a hash has 16 digits, also one that begins with zeros`() {
        var hashes: Set<String> = []
        for number in 0..<2_000 {
            let text = "*/ \(number)"
            hashes.insert(StatementHash.text(of: text))
            #expect(StatementHash.marked(text).wholeMatch(of: /\/\* sql_id=[0-9a-f]{16} \*\/ \*\/ [0-9]+/) != nil)
        }
        #expect(hashes.count == 2_000 && hashes.contains { $0.hasPrefix("0") })
    }
}
