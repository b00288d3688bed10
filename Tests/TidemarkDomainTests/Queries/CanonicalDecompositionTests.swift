// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkDomain

/// Unicode's normalization form D, compared with what Swift takes for equal.
@Suite struct CanonicalDecompositionTests {
    private func decomposed(_ text: String) -> [UInt32] {
        CanonicalDecomposition.of(text.unicodeScalars).map(\.value)
    }

    @Test(arguments: [
        ("abc", [0x61, 0x62, 0x63]), ("é", [0x65, 0x301]), ("\u{212B}", [0x41, 0x30A]),
        ("\u{1E69}", [0x73, 0x323, 0x307]), ("\u{AC00}", [0x1100, 0x1161]), ("\u{AC01}", [0x1100, 0x1161, 0x11A8]),
        ("\u{D7A3}", [0x1112, 0x1175, 0x11C2]),
    ] as [(String, [UInt32])])
    func `characters are taken apart as far as it goes`(text: String, expected: [UInt32]) {
        #expect(decomposed(text) == expected)
    }

    @Test func `marks are in the order of their classes, and those of one class keep theirs`() {
        #expect(decomposed("a\u{301}\u{323}") == [0x61, 0x323, 0x301])
        #expect(decomposed("a\u{301}\u{300}b\u{307}\u{323}") == [0x61, 0x301, 0x300, 0x62, 0x323, 0x307])
    }

    @Test func `the result is equal to the text for Swift, and is not taken apart again`() {
        for scalar in (0xC0...0x2FFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init) {
            let parts = CanonicalDecomposition.of(CollectionOfOne(scalar))
            #expect(String(String.UnicodeScalarView(parts)) == String(Character(scalar)), "\(scalar.value)")
            #expect(CanonicalDecomposition.of(parts) == parts, "\(scalar.value)")
        }
    }

    @Test func `of random texts, those that Swift takes for equal have one form`() {
        var random = SeededRandom()
        let pool: [Unicode.Scalar] = ["a", "s", "é", "\u{301}", "\u{323}", "\u{307}", "\u{1E69}", "\u{AC01}", "\u{308}"]
        for _ in 0..<2_000 {
            let scalars = (0..<Int.random(in: 0...6, using: &random)).map { _ in random.pick(pool) }
            let text = String(String.UnicodeScalarView(scalars))
            let form = CanonicalDecomposition.of(scalars)
            #expect(String(String.UnicodeScalarView(form)) == text, "seed \(random.seed)")
            let shuffled = CanonicalDecomposition.of(scalars.shuffled(using: &random))
            let other = String(String.UnicodeScalarView(shuffled))
            #expect((other == text) == (shuffled == form), "seed \(random.seed)")
        }
    }
}
