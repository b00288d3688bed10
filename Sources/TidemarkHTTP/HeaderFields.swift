// SPDX-License-Identifier: Apache-2.0

/// The fields of a head in the order of arrival. Names are case-insensitive (RFC 9110 §5.1).
package struct HeaderFields: Equatable, Sendable {
    /// One field line: a name and its value.
    package struct FieldLine: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [FieldLine] = []

    package init() {}

    package init(_ fields: [(name: String, value: String)]) {
        for field in fields { append(name: field.name, value: field.value) }
    }

    /// Adds a line. Name and value must be printable, because a line break in a value would start a second header.
    /// Invalid ones are our own mistake and trap; check values from outside with ``isValidValue(_:)`` first.
    package mutating func append(name: String, value: String) {
        precondition(Characters.isToken(name), "not a field name")
        precondition(Self.isValidValue(value), "not a field value")
        fields.append(FieldLine(name: name, value: value))
    }

    /// Whether `value` can be printed as a field's value.
    package static func isValidValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { Characters.isFieldValue($0) }
    }

    package var count: Int { fields.count }

    /// The values of all lines of that name, in order.
    package func values(_ name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// The value, if there is exactly one line of that name.
    package func onlyValue(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    package func contains(_ name: String) -> Bool {
        fields.contains { Self.isSame($0.name, name) }
    }

    /// The elements of a comma-separated list of tokens, which may be spread over lines (RFC 9110 §5.6.1). White space
    /// is trimmed, empty elements are left out. Nil if an element is not a token.
    package func tokens(_ name: String) -> [String]? {
        var tokens: [String] = []
        for value in values(name) {
            for element in value.utf8.split(separator: Characters.comma, omittingEmptySubsequences: true) {
                let token = Self.trimmed(Substring(element))
                if token.isEmpty { continue }
                guard Characters.isToken(token) else { return nil }
                tokens.append(token)
            }
        }
        return tokens
    }

    /// Whether a list of tokens has `token`, in any case. False when the list is malformed.
    package func hasToken(_ name: String, _ token: String) -> Bool {
        tokens(name)?.contains { Self.isSame($0, token) } ?? false
    }

    /// Whether two ASCII texts are equal, ignoring case.
    package static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { Characters.lowercased($0) == Characters.lowercased($1) }
    }

    /// `text` without spaces and tabs at its ends.
    package static func trimmed(_ text: Substring) -> String {
        var utf8 = text.utf8
        while let first = utf8.first, first == Characters.space || first == Characters.tab { utf8 = utf8.dropFirst() }
        while let last = utf8.last, last == Characters.space || last == Characters.tab { utf8 = utf8.dropLast() }
        return String(Substring(utf8))
    }

    /// For the parser, which has checked name and value.
    mutating func append(checked field: FieldLine) {
        fields.append(field)
    }
}
