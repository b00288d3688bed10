// SPDX-License-Identifier: Apache-2.0

/// What is typed into the console, split into words as a shell splits them (R-900).
///
/// Spaces separate words. Single quotation marks keep everything as it is. In double ones, a backslash keeps a quotation
/// mark or a backslash. Elsewhere it keeps any character. A `#` that begins a word begins a comment. A backslash at the
/// end of a line, or an open quotation mark, continues the text on the next line.
package struct ConsoleText: Sendable, Equatable {
    package private(set) var words: [String] = []
    /// Whether a further line belongs to it.
    package private(set) var isOpen = false
    /// Whether what is typed next belongs to the last word.
    package private(set) var endsInWord = false
    /// The quotation mark in which the text ends.
    package private(set) var openQuote: Character?

    /// - Parameter text: one line or several, without the last line's end.
    package init(_ text: some StringProtocol) {
        var reader = ConsoleTextReader()
        for character in text { reader.take(character) }
        words = reader.words
        isOpen = reader.isOpen
        endsInWord = reader.endsInWord
        openQuote = reader.openQuote
    }

    /// A word, or the rest of one, as it must be typed after `quote`, or after nothing.
    static func typed(_ word: some StringProtocol, in quote: Character?) -> String {
        // Within single ones nothing is escaped: they end and begin again around a mark that is.
        if quote == "'" { return String(word).replacing("'", with: #"'\''"#) }
        var text = ""
        for character in word {
            if isEscaped(character, in: quote) { text.append(backslash) }
            text.append(character)
        }
        return text
    }

    private static func isEscaped(_ character: Character, in quote: Character?) -> Bool {
        if character == backslash || character == "\"" { return true }
        return quote == nil && (character.isWhitespace || character == "'" || character == "#")
    }
}

private let backslash: Character = "\\"

/// The states between words, in words and in quotation marks. It takes a text in parts, too.
struct ConsoleTextReader: Sendable {
    private enum Place: Equatable {
        case between, word, quoted(Character), comment
    }

    private(set) var words: [String] = []
    private var place = Place.between
    private var isEscaped = false

    var isOpen: Bool { isEscaped || openQuote != nil }
    var endsInWord: Bool { place != .between && place != .comment }
    var openQuote: Character? { if case .quoted(let quote) = place { quote } else { nil } }

    mutating func take(_ character: Character) {
        if isEscaped {
            isEscaped = false
            return takeEscaped(character)
        }
        switch place {
        case .between, .word: takePlain(character)
        case .quoted("'"): if character == "'" { place = .word } else { add(character) }
        case .quoted:
            switch character {
            case "\"": place = .word
            case backslash: isEscaped = true
            default: add(character)
            }
        case .comment: if character.isNewline { place = .between }
        }
    }

    private mutating func takePlain(_ character: Character) {
        switch character {
        case backslash: isEscaped = true
        case "'", "\"":
            beginWord()
            place = .quoted(character)
        case "#" where place == .between: place = .comment
        case _ where character.isWhitespace: place = .between
        default:
            beginWord()
            add(character)
        }
    }

    private mutating func takeEscaped(_ character: Character) {
        // A backslash before a line's end joins the lines.
        guard !character.isNewline else { return }
        if case .quoted = place, character != backslash, character != "\"" { add(backslash) }
        beginWord()
        add(character)
    }

    private mutating func beginWord() {
        guard place == .between else { return }
        place = .word
        words.append("")
    }

    private mutating func add(_ character: Character) { words[words.count - 1].append(character) }
}
