// SPDX-License-Identifier: Apache-2.0

/// Splits text into the words of full-text search. Records and search texts follow the same rule.
///
/// A word is a run of letters, digits and marks, without case and accents. Ideographs have no spaces between them, so
/// each is a word. Stop words are left out, and so is the rest of a word after wordScalarsMax.
package enum IndexWords {
    /// The code points of a word that count.
    package static let wordScalarsMax = 64

    /// The words, sorted by their bytes, each once.
    package static func of(_ strings: some Sequence<String>) -> [IndexText] {
        var words: Set<IndexText> = []
        for string in strings { collect(TextFolding.plain(string), into: &words) }
        return words.sorted()
    }

    private static func collect(_ scalars: [Unicode.Scalar], into words: inout Set<IndexText>) {
        var word = String.UnicodeScalarView()
        func end() {
            guard !word.isEmpty else { return }
            let text = String(word)
            if !stopWords.contains(text) { words.insert(.exact(text)) }
            word = String.UnicodeScalarView()
        }
        for scalar in scalars {
            let properties = scalar.properties
            if properties.isIdeographic {
                end()
                words.insert(.exact(String(scalar)))
            } else if isWordPart(properties.generalCategory) {
                if word.count < wordScalarsMax { word.append(scalar) }
            } else {
                end()
            }
        }
        end()
    }

    private static func isWordPart(_ category: Unicode.GeneralCategory) -> Bool {
        switch category {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    /// English words that say nothing on their own.
    static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
        "of",
        "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will",
        "with",
    ]
}
