// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkDomain

/// What equality and search ignore of a text.
@Suite struct TextFoldingTests {
    private func plain(_ text: String) -> String { String(String.UnicodeScalarView(TextFolding.plain(text))) }

    @Test(arguments: [
        ("MiXed", "mixed"), ("ÄB", "a\u{308}b"), ("Straße", "STRASSE"), ("ẞ", "ss"), ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("\u{1E69}", "S\u{307}\u{323}"), ("", ""), ("ﬁn", "FIN"),
    ])
    func `texts that differ in case, or in how accents are written, are equal`(one: String, other: String) {
        #expect(TextFolding.caseless(one) == TextFolding.caseless(other))
        #expect(plain(one) == plain(other))
    }

    @Test(arguments: [("a", "ä"), ("o", "ø"), ("a", "b"), ("か", "が"), ("s", "ss")])
    func `other texts are not equal`(one: String, other: String) {
        #expect(TextFolding.caseless(one) != TextFolding.caseless(other))
    }

    @Test(arguments: [
        ("Ärger", "arger"), ("Łódź", "lodz"), ("SMØRREBRØD", "smorrebrod"), ("naïve", "naive"), ("plain", "plain"),
    ])
    func `search ignores accents and strokes`(text: String, expected: String) {
        #expect(plain(text) == expected)
    }

    @Test func `marks that make another letter stay`() {
        // Voicing in kana, and nukta in Devanagari.
        for (text, other) in [("が", "か"), ("क़", "क")] {
            #expect(plain(text) != plain(other))
            #expect(TextFolding.plain(text).count == 2)
        }
    }
}
