// SPDX-License-Identifier: Apache-2.0

/// A Swift type whose values are parameters of statements.
package protocol PostgresParameter: Sendable {
    static var postgresType: PostgresType { get }
    var postgresValue: PostgresValue { get }
}

/// A Swift type whose values are read from columns.
package protocol PostgresColumn: Sendable {
    static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Self
}

/// A type of which there are arrays in PostgreSQL. An array of bytes is a `bytea`.
package protocol PostgresElement: Sendable {
    static var arrayType: PostgresType { get }
    static func postgresValue(of list: [Self]) -> PostgresValue
}

/// A number that names something, kept as `bigint`.
package protocol PostgresNumber: PostgresScalar {
    var rawValue: Int64 { get }
    init(_ rawValue: Int64)
}

/// A parameter, a column and an element of arrays.
package typealias PostgresScalar = PostgresParameter & PostgresColumn & PostgresElement

extension PostgresElement where Self: PostgresParameter {
    package static var arrayType: PostgresType { postgresType.array }
    package static func postgresValue(of list: [Self]) -> PostgresValue {
        var array = PostgresArray(of: postgresType)
        for value in list { array.append(value.postgresValue) }
        return .array(array)
    }
}

extension PostgresNumber {
    package static var postgresType: PostgresType { .int8 }
    package var postgresValue: PostgresValue { .int8(rawValue) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Self {
        Self(try row.int64(column))
    }
}

extension Bool: PostgresScalar {
    package static var postgresType: PostgresType { .bool }
    package var postgresValue: PostgresValue { .bool(self) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Bool { try row.bool(column) }
}

extension Int16: PostgresParameter, PostgresColumn {
    package static var postgresType: PostgresType { .int2 }
    package var postgresValue: PostgresValue { .int2(self) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Int16 { try row.int16(column) }
}

extension Int32: PostgresScalar {
    package static var postgresType: PostgresType { .int4 }
    package var postgresValue: PostgresValue { .int4(self) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Int32 { try row.int32(column) }
}

extension Int64: PostgresScalar {
    package static var postgresType: PostgresType { .int8 }
    package var postgresValue: PostgresValue { .int8(self) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Int64 { try row.int64(column) }
}

/// A count, as `bigint`.
extension Int: PostgresParameter, PostgresColumn {
    package static var postgresType: PostgresType { .int8 }
    package var postgresValue: PostgresValue { .int8(Int64(self)) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Int {
        Int(try row.int64(column))
    }
}

extension Double: PostgresScalar {
    package static var postgresType: PostgresType { .float8 }
    package var postgresValue: PostgresValue { .float8(self) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Double {
        try row.double(column)
    }
}

/// The text must not contain U+0000, which PostgreSQL refuses (SQLSTATE 22021).
extension String: PostgresScalar {
    package static var postgresType: PostgresType { .text }
    package var postgresValue: PostgresValue { .text(self) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> String {
        try row.string(column)
    }
}

extension UInt8: PostgresElement {
    package static var arrayType: PostgresType { .bytea }
    package static func postgresValue(of list: [UInt8]) -> PostgresValue { .bytea(list) }
}

extension Array: PostgresParameter, PostgresElement where Element: PostgresElement {
    package static var postgresType: PostgresType { Element.arrayType }
    package var postgresValue: PostgresValue { Element.postgresValue(of: self) }
}

extension Array: PostgresColumn where Element == UInt8 {
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> [UInt8] {
        try row.bytes(column)
    }
}

/// Nil is null.
extension Optional: PostgresParameter where Wrapped: PostgresParameter {
    package static var postgresType: PostgresType { Wrapped.postgresType }
    package var postgresValue: PostgresValue { self?.postgresValue ?? .null }
}

extension Optional: PostgresColumn where Wrapped: PostgresColumn {
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Wrapped? {
        try row.isNull(column) ? nil : Wrapped.read(row, column)
    }
}

extension PostgresRow {
    /// The value of the column with this name.
    ///
    /// - Throws: `unexpectedResult` if there is no such column, or it has another type, or is null and `Value` is not
    ///   optional.
    package subscript<Value: PostgresColumn>(_ name: StaticString) -> Value {
        get throws(PostgresError) { try Value.read(self, try column(name)) }
    }

    /// The number of the first column with this name.
    package func column(_ name: StaticString) throws(PostgresError) -> Int { try rows.column(named: name) }
}

/// An array that is built value by value, as a parameter.
package struct PostgresList<Element: PostgresParameter>: PostgresParameter {
    package var array: PostgresArray

    /// - Parameter byteCount: the expected bytes of the elements, if known.
    package init(byteCount: Int = 0) {
        array = PostgresArray(of: Element.postgresType, byteCount: byteCount)
    }

    package mutating func append(_ value: Element) { array.append(value.postgresValue) }

    /// Appends it as the element with this index, after nulls.
    package mutating func append(_ value: Element, at index: Int) {
        array.appendNulls(upTo: index)
        append(value)
    }

    package static var postgresType: PostgresType { Element.postgresType.array }
    package var postgresValue: PostgresValue { .array(array) }
}
