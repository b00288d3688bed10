// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// SQL that is put together: text of ours, and values that are always parameters.
///
/// Names of types and keys stand in it as literals, because PostgreSQL takes an index only for the very expression and
/// condition that it was made with.
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
    /// The one place where a string becomes part of a statement's text. Doubling is enough with
    /// `standard_conforming_strings`, which has been on by default since PostgreSQL 9.1.
    static func literal(_ text: String) -> String {
        // Nearly none has a quotation mark, and each query has several literals.
        text.utf8.contains(UInt8(ascii: "'")) ? "'" + text.replacing("'", with: "''") + "'" : "'" + text + "'"
    }

    /// The one place where a string becomes a name; for names of ours.
    static func identifier(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// The same condition, in a form that no index of its columns serves, and that the planner takes to be true of nearly all
    /// rows.
    ///
    /// NB: without statistics it takes an equality to be true of every two-hundredth row. Of several, one row seems to be left
    /// of any zone: then the table's key looks as good as an index of values, and the whole zone is read.
    static func unestimated(_ condition: String) -> String { "nullif(\(condition), false) IS NOT NULL" }

    /// The bytes before a string's code point ``prefixScalars``: what an index's entry can hold in any case.
    static func prefix(_ text: String) -> String { String(text.unicodeScalars.prefix(prefixScalars)) }

    /// Whether ``prefix(_:)`` and equality of it say everything.
    static func isShort(_ text: String) -> Bool { text.unicodeScalars.count < prefixScalars }

    /// As `IndexText.sortingScalarsMax`.
    static let prefixScalars = 256

    /// The least text that is greater than all that begin with this one; nil if there is none.
    static func successor(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are no scalars: U+E000 follows U+D7FF.
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
    /// Which records an index has.
    static func isLiving(_ type: String, _ table: String = "r.") -> String {
        SQLText.unestimated("\(table)type = \(SQLText.literal(type)) AND NOT \(table)is_deleted")
    }

    /// A scalar's text, whole.
    static func whole(_ key: String, _ table: String = "r.") -> String {
        "(\(table)index_values ->> \(SQLText.literal(key)))"
    }

    /// The beginning of a scalar's text, which is what indexes hold.
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
