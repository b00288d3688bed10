// SPDX-License-Identifier: Apache-2.0

/// The metrics and labels that a query of Prometheus names. It knows as much of the language as our queries need, and
/// refuses the rest.
struct PromQLNames {
    /// A condition of a selector.
    struct Matcher: Hashable {
        let label: String
        /// What it may be, if that is a list of words. Empty: anything.
        let values: [String]
    }

    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    private enum Token: Equatable {
        case name(String), text(String), sign(Character)
    }

    /// Each metric with its conditions, as often as it is named.
    private(set) var selectors: [(metric: String, matchers: [Matcher])] = []
    /// Labels by which is grouped.
    private(set) var groups: Set<String> = []

    private static let functions: Set<String> = [
        "sum", "max", "min", "count", "rate", "increase", "changes", "histogram_quantile", "absent", "time",
        "clamp_min",
    ]
    private static let groupings: Set<String> = ["by", "without", "on", "ignoring"]
    private static let operators: Set<String> = ["and", "or", "unless"]

    private var tokens: ArraySlice<Token>

    init(_ query: String) throws {
        tokens = try Self.tokens(of: query)[...]
        var depth = 0
        while let token = tokens.popFirst() {
            switch token {
            case .name(let name): try take(name)
            case .text: throw Mistake(description: "a text at a wrong place: \(query)")
            case .sign("("): depth += 1
            case .sign(")"): depth -= 1
            case .sign("["): try takeRange()
            case .sign: break
            }
            guard depth >= 0 else { throw Mistake(description: "a bracket too many: \(query)") }
        }
        guard depth == 0, !selectors.isEmpty else { throw Mistake(description: "no whole query: \(query)") }
    }

    private mutating func take(_ name: String) throws {
        if Self.operators.contains(name) { return }
        if Self.groupings.contains(name) { return groups.formUnion(try takeList()) }
        if tokens.first == .sign("(") || tokens.first == .name("by") {
            guard Self.functions.contains(name) else { throw Mistake(description: "an unknown function \(name)") }
            return
        }
        // Numbers begin with a digit.
        if name.first?.isNumber == true { return }
        selectors.append((name, tokens.first == .sign("{") ? try takeMatchers() : []))
    }

    /// `(a, b)`
    private mutating func takeList() throws -> [String] {
        try expect("(")
        var names: [String] = []
        while case .name(let name)? = tokens.first {
            tokens.removeFirst()
            names.append(name)
            if tokens.first == .sign(",") { tokens.removeFirst() }
        }
        try expect(")")
        return names
    }

    /// `{a="b", c=~"d|e"}`
    private mutating func takeMatchers() throws -> [Matcher] {
        try expect("{")
        var matchers: [Matcher] = []
        while case .name(let label)? = tokens.first {
            tokens.removeFirst()
            var operation = ""
            while case .sign(let sign)? = tokens.first, "=!~".contains(sign) {
                operation.append(sign)
                tokens.removeFirst()
            }
            guard ["=", "!=", "=~", "!~"].contains(operation), case .text(let text)? = tokens.popFirst() else {
                throw Mistake(description: "a wrong condition of \(label)")
            }
            let values = text.split(separator: "|").map(String.init)
            let areWords = values.allSatisfy { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } }
            matchers.append(Matcher(label: label, values: areWords ? values : []))
            if tokens.first == .sign(",") { tokens.removeFirst() }
        }
        try expect("}")
        return matchers
    }

    /// `[5m]`, or a variable of Grafana.
    private mutating func takeRange() throws {
        guard case .name(let range)? = tokens.popFirst(),
            range == "$__rate_interval" || range.wholeMatch(of: /\d+[smhd]/) != nil
        else { throw Mistake(description: "a wrong range") }
        try expect("]")
    }

    private mutating func expect(_ sign: Character) throws {
        guard tokens.popFirst() == .sign(sign) else { throw Mistake(description: "\(sign) is missing") }
    }

    private static func tokens(of query: String) throws -> [Token] {
        var tokens: [Token] = []
        var rest = query[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest = rest.dropFirst()
            } else if first == "\"" {
                let text = rest.dropFirst().prefix { $0 != "\"" }
                guard text.endIndex < rest.endIndex, !text.contains("\\") else {
                    throw Mistake(description: "a text without an end")
                }
                tokens.append(.text(String(text)))
                rest = rest[text.endIndex...].dropFirst()
            } else if first.isLetter || first.isNumber || "_:$".contains(first) {
                let name = rest.prefix { $0.isLetter || $0.isNumber || "_:$.".contains($0) }
                tokens.append(.name(String(name)))
                rest = rest[name.endIndex...]
            } else if "(){}[],=!~<>+-*/".contains(first) {
                tokens.append(.sign(first))
                rest = rest.dropFirst()
            } else {
                throw Mistake(description: "an unknown sign \(first)")
            }
        }
        return tokens
    }
}
