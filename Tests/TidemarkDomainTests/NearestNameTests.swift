// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct NearestNameTests {
    @Test func `R-014: the nearest name is what a slip of the finger or of case made of it, and no other`() {
        let cases: [(String, [String], String?)] = [
            (
                "iCloud.org.exmaple.notes", ["iCloud.org.example.mail", "iCloud.org.example.notes"],
                "iCloud.org.example.notes"
            ),
            ("icloud.ORG.example.notes", ["iCloud.org.example.notes"], "iCloud.org.example.notes"),
            ("titel", ["text", "title"], "title"), ("nme", ["name", "zone"], "name"),
            ("modified", ["modifiedAt"], "modifiedAt"),
            ("text", ["Text", "next"], "Text"), ("bat", ["cat", "bar"], "bar"),
            ("iCloud.dev.tidemark", ["iCloud.org.example.notes"], nil), ("a", ["xyz"], nil), ("", ["a"], nil),
            ("n", ["s", "m"], nil), ("N", ["n"], "n"),
            ("x", [], nil),
        ]
        for (name, names, expected) in cases {
            #expect(NearestName.of(name, among: names) == expected, "\(name)")
            #expect(NearestName.of(name, among: names.reversed()) == expected, "\(name)")
        }
    }
}
