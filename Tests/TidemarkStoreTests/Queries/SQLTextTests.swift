// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkStore

@Suite struct SQLTextTests {
    @Test(arguments: [
        ("", "''"), ("a", "'a'"), ("it's", "'it''s'"), ("'", "''''"), ("\\'", "'\\'''"), ("\"", "'\"'"),
        // To Swift, a quotation mark before an accent is a part of another character.
        ("'\u{301}", "'''\u{301}'"), ("\u{301}", "'\u{301}'"),
    ])
    func `a string cannot leave its literal`(_ text: String, _ literal: String) {
        #expect(Array(SQLText.literal(text).unicodeScalars) == Array(literal.unicodeScalars))
    }

    @Test(arguments: [("a", "\"a\""), ("a\"b", "\"a\"\"b\""), ("\"\u{301}", "\"\"\"\u{301}\"")])
    func `a name cannot leave its quotation marks`(_ name: String, _ identifier: String) {
        #expect(Array(SQLText.identifier(name).unicodeScalars) == Array(identifier.unicodeScalars))
    }

    private static let successors: [(String, String?)] = [
        ("a", "b"), ("az", "a{"), ("a\u{10FFFF}", "b"), ("a\u{10FFFF}\u{10FFFF}", "b"), ("x\u{D7FF}", "x\u{E000}"),
        ("", nil), ("\u{10FFFF}", nil),
    ]

    @Test(arguments: successors)
    func `the texts with a beginning end where the successor begins`(_ prefix: String, _ successor: String?) {
        #expect(SQLText.successor(of: prefix) == successor)
        guard let successor else { return }
        for rest in ["", "a", "\u{D7FF}", "\u{E000}", "\u{10FFFF}\u{10FFFF}"] {
            #expect((prefix + rest).unicodeScalars.lexicographicallyPrecedes(successor.unicodeScalars))
        }
        #expect(!successor.unicodeScalars.starts(with: prefix.unicodeScalars))
    }
}
