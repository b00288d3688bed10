// SPDX-License-Identifier: Apache-2.0

/// One row of a result. Columns are counted from 0, in the order of the statement.
///
/// Each reader throws `unexpectedResult` if the column does not exist, has another type, or is null. Readers with
/// `ifPresent` return nil for null.
package struct PostgresRow {
    let rows: PostgresRows
    let index: Int32

    package func isNull(_ column: Int) throws(PostgresError) -> Bool {
        try rows.column(index, column) == nil
    }

    package func bool(_ column: Int) throws(PostgresError) -> Bool { try present(column, bool(ifPresent: column)) }
    package func int16(_ column: Int) throws(PostgresError) -> Int16 { try present(column, int16(ifPresent: column)) }
    package func int32(_ column: Int) throws(PostgresError) -> Int32 { try present(column, int32(ifPresent: column)) }
    package func int64(_ column: Int) throws(PostgresError) -> Int64 { try present(column, int64(ifPresent: column)) }
    package func double(_ column: Int) throws(PostgresError) -> Double {
        try present(column, double(ifPresent: column))
    }
    package func string(_ column: Int) throws(PostgresError) -> String {
        try present(column, string(ifPresent: column))
    }
    package func bytes(_ column: Int) throws(PostgresError) -> [UInt8] { try present(column, bytes(ifPresent: column)) }
    /// The 16 bytes of a UUID.
    package func uuid(_ column: Int) throws(PostgresError) -> [UInt8] { try present(column, uuid(ifPresent: column)) }
    /// The same as two numbers, without an array.
    package func uuidHalves(_ column: Int) throws(PostgresError) -> (high: UInt64, low: UInt64) {
        let bytes = try present(column, value(column, .uuid))
        guard bytes.count == 16 else { throw mismatch(column, "has \(bytes.count) bytes") }
        return (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
    /// A `timestamptz`, in milliseconds since 1970-01-01 00:00 UTC, rounded down.
    package func milliseconds(_ column: Int) throws(PostgresError) -> Int64 {
        try present(column, milliseconds(ifPresent: column))
    }

    package func bool(ifPresent column: Int) throws(PostgresError) -> Bool? {
        try integer(column, .bool, UInt8.self).map { $0 != 0 }
    }

    package func int16(ifPresent column: Int) throws(PostgresError) -> Int16? { try integer(column, .int2) }
    package func int32(ifPresent column: Int) throws(PostgresError) -> Int32? { try integer(column, .int4) }
    package func int64(ifPresent column: Int) throws(PostgresError) -> Int64? { try integer(column, .int8) }

    package func double(ifPresent column: Int) throws(PostgresError) -> Double? {
        try integer(column, .float8, UInt64.self).map(Double.init(bitPattern:))
    }

    package func string(ifPresent column: Int) throws(PostgresError) -> String? {
        try value(column, .text).map { String(decoding: $0, as: UTF8.self) }
    }

    package func bytes(ifPresent column: Int) throws(PostgresError) -> [UInt8]? {
        try value(column, .bytea).map { Array($0) }
    }

    package func uuid(ifPresent column: Int) throws(PostgresError) -> [UInt8]? {
        try value(column, .uuid).map { Array($0) }
    }

    package func milliseconds(ifPresent column: Int) throws(PostgresError) -> Int64? {
        try integer(column, .timestamptz, Int64.self).map(PostgresTime.milliseconds(fromMicroseconds:))
    }

    // MARK: Underneath

    /// The bytes of a column of that type, nil for null.
    @inline(__always)
    func value(_ column: Int, _ expected: PostgresType) throws(PostgresError) -> UnsafeRawBufferPointer? {
        guard let bytes = try rows.column(index, column) else { return nil }
        let type = rows.type(of: column)
        guard type.isReadable(as: expected) else { throw mismatch(column, "has type \(type.rawValue)") }
        return bytes
    }

    @inline(__always)
    private func integer<Integer: FixedWidthInteger>(
        _ column: Int, _ expected: PostgresType, _: Integer.Type = Integer.self
    ) throws(PostgresError) -> Integer? {
        guard let bytes = try value(column, expected) else { return nil }
        guard bytes.count == MemoryLayout<Integer>.size else { throw mismatch(column, "has \(bytes.count) bytes") }
        return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
    }

    @inline(__always)
    func present<Value>(_ column: Int, _ value: Value?) throws(PostgresError) -> Value {
        guard let value else { throw mismatch(column, "is null") }
        return value
    }

    func mismatch(_ column: Int, _ what: String) -> PostgresError {
        PostgresError(.unexpectedResult, detail: "column \(column) \(what)")
    }
}
