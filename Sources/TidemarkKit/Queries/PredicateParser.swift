// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Parses a predicate's format: the part of NSPredicate's language that CloudKit supports (R-177). Keywords may be in
/// any case.
struct PredicateParser {
    private let tokens: [PredicateLexer.Token]
    private var place = 0
    private var arguments: PredicateArguments

    /// How deep parentheses and NOT may be nested. A server accepts less.
    private static let depthMax = 64

    private init(_ tokens: [PredicateLexer.Token], _ arguments: [Any]) {
        self.tokens = tokens
        self.arguments = PredicateArguments(arguments)
    }

    static func parse(_ format: String, _ arguments: [Any]) throws(PredicateMistake) -> PredicateNode {
        var parser = PredicateParser(try PredicateLexer.tokens(of: format), arguments)
        let node = try parser.conjunction(depth: 0)
        guard parser.token.kind == .end else {
            throw PredicateMistake("the predicate should end here, or go on with AND.", at: parser.token.column)
        }
        guard parser.arguments.isAtEnd else {
            throw PredicateMistake("there are more arguments than %.", at: parser.token.column)
        }
        return node
    }

    // MARK: Tokens

    private var token: PredicateLexer.Token { tokens[place] }

    private mutating func advance() {
        if place + 1 < tokens.count { place += 1 }
    }

    private func isWord(_ words: String...) -> Bool {
        guard case .word(let word) = token.kind else { return false }
        return words.contains(word.uppercased())
    }

    private func isSign(_ signs: String...) -> Bool {
        guard case .sign(let sign) = token.kind else { return false }
        return signs.contains(sign)
    }

    private mutating func expect(_ sign: String) throws(PredicateMistake) {
        guard isSign(sign) else { throw PredicateMistake("'\(sign)' is expected here.", at: token.column) }
        advance()
    }

    // MARK: AND, NOT, parentheses

    private mutating func conjunction(depth: Int) throws(PredicateMistake) -> PredicateNode {
        guard depth < Self.depthMax else {
            throw PredicateMistake("the predicate is nested too deep: the limit is \(Self.depthMax).", at: token.column)
        }
        var parts = [try term(depth: depth)]
        while isWord("AND") || isSign("&&") {
            advance()
            parts.append(try term(depth: depth))
        }
        if isWord("OR") || isSign("||") {
            throw PredicateMistake("OR is not offered. Use IN, or several queries.", at: token.column)
        }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func term(depth: Int) throws(PredicateMistake) -> PredicateNode {
        guard depth < Self.depthMax else {
            throw PredicateMistake("the predicate is nested too deep: the limit is \(Self.depthMax).", at: token.column)
        }
        if isWord("NOT") || isSign("!") {
            advance()
            return .not(try term(depth: depth + 1))
        }
        if isSign("(") {
            advance()
            let node = try conjunction(depth: depth + 1)
            try expect(")")
            return node
        }
        if isWord("TRUEPREDICATE", "FALSEPREDICATE") {
            defer { advance() }
            return .always(isWord("TRUEPREDICATE"))
        }
        return try comparison()
    }

    // MARK: Comparisons

    private mutating func comparison() throws(PredicateMistake) -> PredicateNode {
        let isAny = isModifier("ANY", "SOME")
        if isAny {
            advance()
        } else if isModifier("ALL", "NONE") {
            throw PredicateMistake("ALL and NONE are not offered. Use ANY … IN, or NOT.", at: token.column)
        }
        let left = try operand()
        let column = token.column
        let sign = try comparisonOperator()
        let right = try operand()
        do throws(PredicateMistake) {
            return try PredicateComparison(left: left, sign: sign, right: right, isAny: isAny).node
        } catch {
            throw PredicateMistake(error.message, at: column)
        }
    }

    /// Whether one of these words stands here as a keyword. If an operator follows, it is the name of a field.
    private func isModifier(_ words: String...) -> Bool {
        guard case .word(let word) = token.kind, words.contains(word.uppercased()), place + 1 < tokens.count else {
            return false
        }
        switch tokens[place + 1].kind {
        case .sign(let sign): return PredicateComparison.Sign(named: sign) == nil
        case .word(let next): return PredicateComparison.Sign(named: next.uppercased()) == nil
        default: return true
        }
    }

    private mutating func comparisonOperator() throws(PredicateMistake) -> PredicateComparison.Sign {
        let column = token.column
        let name: String
        switch token.kind {
        case .sign(let sign): name = sign
        case .word(let word): name = word.uppercased()
        default: throw PredicateMistake("an operator such as == or IN is expected here.", at: column)
        }
        guard let sign = PredicateComparison.Sign(named: name) else {
            throw PredicateMistake("'\(name)' is not an operator that queries offer.", at: column)
        }
        advance()
        guard isSign("[") else { return sign }
        advance()
        guard case .word(let options) = token.kind else {
            throw PredicateMistake("options such as c or cd are expected here.", at: token.column)
        }
        // R-180.
        guard sign.allows(options: options.lowercased()) else {
            throw PredicateMistake("\(name)[\(options)] is not offered: \(sign.caseText).", at: token.column)
        }
        advance()
        try expect("]")
        return sign
    }

    // MARK: Operands

    private mutating func operand() throws(PredicateMistake) -> PredicateOperand {
        let token = token
        advance()
        switch token.kind {
        case .string(let text): return .constant(.string(text))
        case .integer(let number): return .constant(.integer(number))
        case .double(let number): return .constant(.double(number))
        case .argument("@"): return try arguments.takeObject(at: token.column)
        case .argument("K"): return .key(try key(arguments.takeKey(at: token.column), at: token.column))
        case .argument(let kind): return .constant(try arguments.takeNumber(kind, at: token.column))
        case .sign("{"): return .list(try list())
        case .word(let word): return try named(word, at: token.column)
        case .sign, .end: throw PredicateMistake("a key or a value is expected here.", at: token.column)
        }
    }

    private mutating func named(_ word: String, at column: Int) throws(PredicateMistake) -> PredicateOperand {
        switch word.uppercased() {
        case "SELF", "ALLTOKENS": return .words
        case "NIL", "NULL": return .null
        case "TRUE", "YES": return .constant(.integer(1))
        case "FALSE", "NO": return .constant(.integer(0))
        case "NOW":
            if isSign("(") {
                advance()
                try expect(")")
            }
            return .constant(.now)
        case "DISTANCETOLOCATION:FROMLOCATION:": return try distance(at: column)
        default: return .key(try key(word, at: column))
        }
    }

    private func key(_ name: String, at column: Int) throws(PredicateMistake) -> String {
        guard !name.isEmpty, !name.hasPrefix("@"), name != "#" else {
            throw PredicateMistake("'\(name)' is not a field's name.", at: column)
        }
        // A field that is named like a keyword is written with a leading #.
        if name.hasPrefix("#") { return String(name.dropFirst()) }
        guard !name.contains(":"), !isSign("(") else {
            throw PredicateMistake("the function '\(name)' is not offered.", at: column)
        }
        guard !name.contains(".") || name.hasPrefix("cloudkit.") else {
            throw PredicateMistake("paths such as '\(name)' are not offered: a field is named alone.", at: column)
        }
        return name
    }

    private mutating func list() throws(PredicateMistake) -> [PredicateConstant] {
        var constants: [PredicateConstant] = []
        if isSign("}") {
            advance()
            return []
        }
        while true {
            let column = token.column
            guard case .constant(let constant) = try operand() else {
                throw PredicateMistake("a list holds values.", at: column)
            }
            constants.append(constant)
            if isSign("}") {
                advance()
                return constants
            }
            try expect(",")
        }
    }

    /// After the function's name: a key and a location, in either order.
    private mutating func distance(at column: Int) throws(PredicateMistake) -> PredicateOperand {
        try expect("(")
        let first = try operand()
        try expect(",")
        let second = try operand()
        try expect(")")
        switch (first, second) {
        case (.key(let key), .location(let place)), (.location(let place), .key(let key)): return .distance(key, place)
        default:
            throw PredicateMistake(
                "distanceToLocation:fromLocation: takes a field's name and a CLLocation.", at: column)
        }
    }
}
