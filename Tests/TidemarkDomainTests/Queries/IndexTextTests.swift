// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct IndexTextTests {
    @Test func `R-180: equality is blind to case, in every script`() {
        let pairs = [
            ("Reykjavík", "REYKJAVÍK"), ("straße", "STRASSE"), ("STRAẞE", "straße"), ("ΌΣΟΣ", "όσος"),
            ("Москва", "мОСКВА"), ("ﬁn", "FIN"),
            ("e\u{301}a", "Éa"), ("\u{212B}", "å"), ("한글", "한글"), ("a\u{323}\u{307}", "a\u{307}\u{323}"),
            ("", ""), ("a\u{0}B", "A\u{0}b"),
        ]
        for (left, right) in pairs { #expect(IndexText.folded(left) == .folded(right), "\(left) \(right)") }
        let different = [
            ("e", "é"), ("a", "a "), ("ll", "l"), ("\u{0}", "\u{1}"), ("ł", "l"), ("か", "が"), ("", "\u{0}"),
        ]
        for (left, right) in different { #expect(IndexText.folded(left) != .folded(right), "\(left) \(right)") }
    }

    @Test func `R-180: strings that Unicode holds for equal are equal, code point by code point`() {
        var failures: [UInt32] = []
        for value in 0x80...0x2FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned else { continue }
            let string = String(scalar)
            let parts = string.decomposedStringWithCanonicalMapping
            if parts.unicodeScalars.count == 1, parts.unicodeScalars.first == scalar { continue }
            if IndexText.folded(string) != .folded(parts) { failures.append(value) }
        }
        #expect(failures.isEmpty, "\(failures.map { String($0, radix: 16) })")
    }

    @Test func `folding twice is folding once`() {
        // U+0000 and U+0001 are written as two characters.
        let unstable = (2...0x1FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init).filter { scalar in
            let once = IndexText.folded(String(scalar))
            return IndexText.folded(once.string) != once
        }
        #expect(unstable.isEmpty, "\(unstable.map { String($0.value, radix: 16) })")
    }

    @Test func `a text of PostgreSQL has no zero byte, and the order and the beginnings are kept`() {
        var random = SeededRandom()
        let alphabet: [Unicode.Scalar] = ["\u{0}", "\u{1}", "\u{2}", "a", "é", "\u{FFFF}", "\u{10000}"]
        func string(_ random: inout SeededRandom) -> [Unicode.Scalar] {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "a" }
        }
        for _ in 0..<5_000 {
            let (left, right) = (string(&random), string(&random))
            let leftText = IndexText.exact(String(String.UnicodeScalarView(left)))
            let rightText = IndexText.exact(String(String.UnicodeScalarView(right)))
            #expect(!leftText.utf8.contains(0))
            #expect((leftText < rightText) == left.lexicographicallyPrecedes(right), "seed \(random.seed)")
            #expect(leftText.hasPrefix(rightText) == left.starts(with: right), "seed \(random.seed)")
        }
    }

    @Test func `R-187: sorts look at the first 256 characters`() {
        #expect(IndexText.sortingScalarsMax == 256)
        #expect(IndexText.sorting("é") == .exact("é"))
        let long = String(repeating: "é", count: 256)
        #expect(IndexText.sorting(long + "a") == .exact(long))
        #expect(IndexText.sorting(String(repeating: "\u{0}", count: 300)).string.unicodeScalars.count == 256)
    }

    @Test func `I-6: many marks in the wrong order take no longer than sorting them`() {
        let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
        #expect(IndexText.folded("a" + marks).utf8.count == 400_001)
    }
}

@Suite struct IndexWordsTests {
    @Test(arguments: [
        ("The Quick, brown fox!", "brown fox quick"),
        ("Łódź — São Paulo's Øre", "lodz ore paulo s sao"),
        ("naïve NAIVE nai\u{308}ve", "naive"),
        ("it is not the", ""),
        ("a1-b2_c3 42", "42 a1 b2 c3"),
        ("東京都 タワー", "タワー 京 東 都"),
        ("हिन्दी", "हिन्दी"),
        ("Ёлка елка", "елка"),
        ("\u{0}\n\t", ""),
    ]) func `R-179: words`(text: String, words: String) {
        let expected = words.split(separator: " ").map {
            IndexText.exact(String($0).decomposedStringWithCanonicalMapping)
        }
        #expect(IndexWords.of([text]) == expected.sorted(), "\(IndexWords.of([text]).map(\.string))")
    }

    @Test func `R-179: a word counts to its 64th character`() {
        let words = IndexWords.of([String(repeating: "x", count: 100), String(repeating: "X", count: 64) + "y"])
        #expect(words.map(\.string) == [String(repeating: "x", count: 64)])
    }
}
