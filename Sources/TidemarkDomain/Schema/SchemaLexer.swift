// SPDX-License-Identifier: Apache-2.0

/// A place in a text. Line and column both count from 1, columns in characters.
package struct SchemaPosition: Hashable, Sendable {
    package let line: Int
    package let column: Int
}

/// An error in a schema's text, and its place.
package struct SchemaSyntaxError: Error, Equatable, CustomStringConvertible {
    package let position: SchemaPosition
    package let message: String
    /// The expected and the actual token; nil if something else is wrong.
    package let mismatch: Mismatch?

    /// A word or sign that the language does not allow at its place.
    package struct Mismatch: Equatable, Sendable {
        package let expected: String
        package let found: String
    }

    init(position: SchemaPosition, message: String) {
        self.position = position
        self.message = message
        mismatch = nil
    }

    init(position: SchemaPosition, expected: String, found: String) {
        self.position = position
        message = "expected \(expected), found \(found)"
        mismatch = Mismatch(expected: expected, found: found)
    }

    package var description: String { "\(position.line):\(position.column): \(message)" }
}

/// Splits a schema's text into words and signs, without comments and spaces.
struct SchemaLexer {
    enum Kind: Hashable {
        /// A word that may be a keyword, in any case.
        case word
        /// A name in quotation marks, which is never a keyword.
        case quoted
        /// One of `( ) , ; < >`.
        case sign
        case end
    }

    struct Token {
        let kind: Kind
        let text: String
        let position: SchemaPosition
    }

    private let characters: [Character]
    private var index = 0
    private var line = 1
    private var column = 1

    init(_ text: String) {
        characters = Array(text)
    }

    mutating func next() throws(SchemaSyntaxError) -> Token {
        skipSpacesAndComments()
        let position = SchemaPosition(line: line, column: column)
        guard let first = peek() else { return Token(kind: .end, text: "the end", position: position) }
        if "(),;<>".contains(first) {
            advance()
            return Token(kind: .sign, text: String(first), position: position)
        }
        if first == "\"" { return Token(kind: .quoted, text: try quoted(position), position: position) }
        guard isWord(first) else {
            throw SchemaSyntaxError(position: position, message: "unexpected character \(Self.visible(first))")
        }
        var text = ""
        while let character = peek(), isWord(character) {
            text.append(character)
            advance()
        }
        return Token(kind: .word, text: text, position: position)
    }

    private mutating func quoted(_ start: SchemaPosition) throws(SchemaSyntaxError) -> String {
        advance()
        var text = ""
        while let character = peek(), !character.isNewline {
            advance()
            if character == "\"" { return text }
            text.append(character)
        }
        throw SchemaSyntaxError(position: start, message: "this name in quotation marks does not end on its line")
    }

    private mutating func skipSpacesAndComments() {
        while let character = peek() {
            let isComment = (character == "/" || character == "-") && peek(1) == character
            guard isComment || character.isWhitespace else { return }
            if isComment { while let next = peek(), !next.isNewline { advance() } } else { advance() }
        }
    }

    private func peek(_ distance: Int = 0) -> Character? {
        index + distance < characters.count ? characters[index + distance] : nil
    }

    private mutating func advance() {
        if characters[index].isNewline {
            line += 1
            column = 1
        } else {
            column += 1
        }
        index += 1
    }

    private func isWord(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_")
    }

    /// The character in a form that can be read, even if it is invisible.
    private static func visible(_ character: Character) -> String {
        character.unicodeScalars.map { $0.isASCII ? $0.escaped(asASCII: true) : "\($0)" }.joined()
    }
}
