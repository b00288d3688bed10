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

    @Test func `I-7: nobody makes a server compare many long names`() {
        for (length, isCompared) in [(64, true), (65, false)] {
            let name = String(repeating: "a", count: length)
            #expect((NearestName.of(name, among: [name.dropLast() + "b"]) != nil) == isCompared)
        }
        let others = (0..<1_000).map { String(1_000_000 + $0) }
        #expect(NearestName.of("meaning", among: others.dropLast() + ["meanign"]) == "meanign")
        #expect(NearestName.of("meaning", among: others + ["meanign"]) == nil)
        let longer = others.map { $0 + "00" }
        #expect(NearestName.of("meaning", among: longer + ["meanign"]) == "meanign", "not as long")
        let long = String(repeating: "a", count: 64)
        let longOthers = (0..<64).map { String(repeating: "b", count: 60) + String(1_000 + $0) }
        #expect(NearestName.of(long, among: longOthers.dropLast() + [long]) == long)
        #expect(NearestName.of(long, among: longOthers + [long]) == nil, "long ones count more")
    }
}
