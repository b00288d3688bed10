// SPDX-License-Identifier: Apache-2.0

/// Splits a predicate's format into words and signs.
struct PredicateLexer {
    struct Token: Hashable {
        enum Kind: Hashable {
            /// A key, a keyword or the name of a function.
            case word(String)
            case string(String)
            case integer(Int64)
            case double(Double)
            /// %@, %K, %d …: the letter after the per cent sign, without a length.
            case argument(Character)
            case sign(String)
            case end
        }

        let kind: Kind
        /// Counted from 1.
        let column: Int
    }

    /// Code points, not characters: a quotation mark before an accent is still a quotation mark.
    private let characters: [Unicode.Scalar]
    private var place = 0

    private init(_ format: String) {
        characters = Array(format.unicodeScalars)
    }

    static func tokens(of format: String) throws(PredicateMistake) -> [Token] {
        var lexer = PredicateLexer(format)
        var tokens: [Token] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        place + offset < characters.count ? characters[place + offset] : nil
    }

    private mutating func next() throws(PredicateMistake) -> Token {
        while let character = peek(), character.properties.isWhitespace { place += 1 }
        let column = place + 1
        guard let character = peek() else { return Token(kind: .end, column: column) }
        if character == "'" || character == "\"" { return Token(kind: .string(try string(character)), column: column) }
        if character == "%" { return Token(kind: .argument(try argument()), column: column) }
        if character.isDigit || (character == "-" || character == ".") && (peek(1)?.isDigit ?? false) {
            return Token(kind: try number(), column: column)
        }
        if character.isWordStart { return Token(kind: .word(word()), column: column) }
        return Token(kind: .sign(try sign()), column: column)
    }

    private mutating func word() -> String {
        var word = String.UnicodeScalarView()
        // Colons and dots may be part of function names and paths.
        while let character = peek(), character.isWordStart || character.isDigit || character == ":" || character == "."
        {
            word.append(character)
            place += 1
        }
        return String(word)
    }

    private mutating func sign() throws(PredicateMistake) -> String {
        let signs = [
            "==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", ",", "[", "]",
        ]
        for sign in signs where characters[place...].starts(with: sign.unicodeScalars) {
            place += sign.unicodeScalars.count
            return sign
        }
        if characters[place] == "$" { throw PredicateMistake("variables ($…) are not offered.", at: place + 1) }
        throw PredicateMistake("'\(characters[place])' has no meaning here.", at: place + 1)
    }

    /// %@, %K, %d, %i, %u, %x, %f, %g, %e, with h, l, ll, q or z before integers.
    private mutating func argument() throws(PredicateMistake) -> Character {
        let column = place + 1
        place += 1
        while let character = peek(), "hlqz".unicodeScalars.contains(character) { place += 1 }
        guard let character = peek().map(Character.init), "@KdDiuUxXfFgGeE".contains(character) else {
            throw PredicateMistake("% is followed by @, K, d, ld, u, f or g.", at: column)
        }
        place += 1
        return character
    }

    private mutating func string(_ quote: Unicode.Scalar) throws(PredicateMistake) -> String {
        let column = place + 1
        place += 1
        var text = String.UnicodeScalarView()
        while let character = peek() {
            place += 1
            if character == quote { return String(text) }
            text.append(character == "\\" ? try escaped(column) : character)
        }
        throw PredicateMistake("the string that begins here has no end.", at: column)
    }

    private mutating func escaped(_ column: Int) throws(PredicateMistake) -> Unicode.Scalar {
        guard let character = peek() else {
            throw PredicateMistake("the string that begins here has no end.", at: column)
        }
        place += 1
        switch character {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "u":
            let digits = String(String.UnicodeScalarView(characters[place...].prefix(4)))
            guard digits.unicodeScalars.count == 4, let code = UInt32(digits, radix: 16),
                let scalar = Unicode.Scalar(code)
            else {
                throw PredicateMistake("\\u is followed by four hexadecimal digits.", at: place)
            }
            place += 4
            return scalar
        default: return character
        }
    }

    private mutating func number() throws(PredicateMistake) -> Token.Kind {
        let column = place + 1
        var text = ""
        while let character = peek(), character.isNumberPart || (character == "-" || character == "+") && isSign(text) {
            text.unicodeScalars.append(character)
            place += 1
        }
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        if digits.hasPrefix("0x"), let number = Int64((isNegative ? "-" : "") + digits.dropFirst(2), radix: 16) {
            return .integer(number)
        }
        if let number = Int64(text) { return .integer(number) }
        if text.contains(where: { ".eE".contains($0) }), let number = Double(text) { return .double(number) }
        throw PredicateMistake("'\(text)' is no number of at most 64 bits.", at: column)
    }

    /// Whether a sign may follow this beginning of a number.
    private func isSign(_ text: String) -> Bool {
        text.isEmpty || !text.hasPrefix("0x") && (text.hasSuffix("e") || text.hasSuffix("E"))
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
    fileprivate var isWordStart: Bool {
        isASCII && properties.isAlphabetic || self == "_" || self == "@" || self == "#"
    }
    fileprivate var isNumberPart: Bool { isDigit || self == "." || isASCII && properties.isAlphabetic }
}
