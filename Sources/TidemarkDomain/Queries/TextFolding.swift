// SPDX-License-Identifier: Apache-2.0

/// Removes from strings what equality and search ignore.
enum TextFolding {
    /// Equal for strings that differ only in case, or in whether accents are code points of their own. This is
    /// Unicode's canonical caseless matching (D145), with the upper and lower case mappings as its folding.
    static func caseless(_ string: String) -> String {
        if let ascii = lowercasedASCII(string) { return ascii }
        return String(String.UnicodeScalarView(caseless(string.unicodeScalars)))
    }

    /// The same without accents: marks above, below and through letters, and the strokes of ł and similar letters.
    /// Marks that make another letter or a vowel (in Indic scripts and in kana) stay.
    static func plain(_ string: String) -> [Unicode.Scalar] {
        if let ascii = lowercasedASCII(string) { return Array(ascii.unicodeScalars) }
        return caseless(string.unicodeScalars).filter { !isAccent($0) }.map { stroked[$0] ?? $0 }
    }

    private static func caseless(_ scalars: String.UnicodeScalarView) -> [Unicode.Scalar] {
        var folded: [Unicode.Scalar] = []
        for scalar in CanonicalDecomposition.of(scalars) {
            // Lower case first: the only upper case of ẞ is that of ß, which is SS.
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                for upper in lower.properties.uppercaseMapping.unicodeScalars {
                    folded += upper.properties.lowercaseMapping.unicodeScalars
                }
            }
        }
        return CanonicalDecomposition.of(folded)
    }

    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300, scalar.properties.generalCategory == .nonspacingMark else { return false }
        // Class 0: vowels and other parts of letters. Class 7: nukta. Class 8: kana voicing. Class 9: virama.
        let mark = scalar.properties.canonicalCombiningClass.rawValue
        return mark == 1 || mark > 9
    }

    private static let stroked: [Unicode.Scalar: Unicode.Scalar] = [
        "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ƀ": "b", "ɨ": "i", "ƶ": "z", "ǥ": "g",
    ]

    private static func lowercasedASCII(_ string: String) -> String? {
        string.utf8.allSatisfy { $0 < 0x80 } ? string.lowercased() : nil
    }
}
