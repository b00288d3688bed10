// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// Builds SQL from our own text, with values that are always parameters.
///
/// Names of types and keys are literals in the text. PostgreSQL uses an index only for exactly the expression and
/// condition with which it was created.
struct SQLParameters {
    private(set) var values: [PostgresValue] = []
    private(set) var types: [PostgresType] = []

    /// The next parameter, as `$1`.
    mutating func add(_ value: PostgresValue, _ type: PostgresType) -> String {
        values.append(value)
        types.append(type)
        return "$\(values.count)"
    }
}

enum SQLText {
    /// The only place where a string becomes part of a statement's text. Doubling quotation marks is enough with
    /// `standard_conforming_strings`, which has been on by default since PostgreSQL 9.1.
    static func literal(_ text: String) -> String {
        // Hardly any string has a quotation mark, and each query has several literals.
        "'" + (text.utf8.contains(UInt8(ascii: "'")) ? doubled("'", in: text) : text) + "'"
    }

    /// The only place where a string becomes an identifier; for our own names.
    static func identifier(_ name: String) -> String {
        "\"" + doubled("\"", in: name) + "\""
    }

    /// By code points: to PostgreSQL a quotation mark before an accent is a quotation mark, to Swift it is a part of
    /// another character.
    private static func doubled(_ mark: Unicode.Scalar, in text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.flatMap { $0 == mark ? [$0, $0] : [$0] }))
    }

    /// The same condition, in a form that no index supports, and of which the planner assumes that it holds for nearly
    /// all rows.
    ///
    /// NB: without statistics the planner assumes that an equality holds for every two-hundredth row. With several, one
    /// row of any zone seems to be left. Then the table's key looks as good as an index of values, and the whole zone
    /// is read.
    static func unestimated(_ condition: String) -> String { "nullif(\(condition), false) IS NOT NULL" }

    /// A string's first ``prefixScalars`` code points, which always fit in an index entry.
    static func prefix(_ text: String) -> String { String(text.unicodeScalars.prefix(prefixScalars)) }

    /// Whether equality of ``prefix(_:)`` is enough, because the text is not longer.
    static func isShort(_ text: String) -> Bool { text.unicodeScalars.count < prefixScalars }

    /// As `IndexText.sortingScalarsMax`.
    static let prefixScalars = 256

    /// The least text that is greater than all texts with this beginning; nil if there is none.
    static func successor(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are not scalars: U+E000 follows U+D7FF.
            guard let next = last.value == 0xD7FF ? Unicode.Scalar(0xE000) : Unicode.Scalar(last.value + 1) else {
                continue
            }
            return String(String.UnicodeScalarView(scalars + [next]))
        }
        return nil
    }
}

/// The expressions of `record r` that queries use and indexes hold.
enum IndexedExpression {
    /// The condition of a partial index: living records of a type.
    static func isLiving(_ type: String, _ table: String = "r.") -> String {
        SQLText.unestimated("\(table)type = \(SQLText.literal(type)) AND NOT \(table)is_deleted")
    }

    /// The whole text of a scalar.
    static func whole(_ key: String, _ table: String = "r.") -> String {
        "(\(table)index_values ->> \(SQLText.literal(key)))"
    }

    /// The beginning of a scalar's text, which indexes hold.
    static func prefix(_ key: String, _ table: String = "r.") -> String {
        "(left(\(whole(key, table)), \(SQLText.prefixScalars)) COLLATE \"C\")"
    }

    /// A list of texts, or a location.
    static func json(_ key: String, _ table: String = "r.") -> String {
        "(\(table)index_values -> \(SQLText.literal(key)))"
    }

    /// One of a location's three numbers.
    static func coordinate(_ key: String, _ axis: Int, _ table: String = "r.") -> String {
        "((\(json(key, table)) ->> \(axis))::double precision)"
    }
}
