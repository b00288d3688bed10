// SPDX-License-Identifier: Apache-2.0

extension PostgresRow {
    package func boolArray(_ column: Int) throws(PostgresError) -> [Bool?] {
        try array(column, .boolArray, .bool) { $0.count == 1 ? $0[0] != 0 : nil }
    }

    package func int32Array(_ column: Int) throws(PostgresError) -> [Int32?] {
        try array(column, .int4Array, .int4, integer)
    }

    package func int64Array(_ column: Int) throws(PostgresError) -> [Int64?] {
        try array(column, .int8Array, .int8, integer)
    }

    package func doubleArray(_ column: Int) throws(PostgresError) -> [Double?] {
        try array(column, .float8Array, .float8) { integer($0).map(Double.init(bitPattern:)) }
    }

    package func stringArray(_ column: Int) throws(PostgresError) -> [String?] {
        try array(column, .textArray, .text) { String(decoding: $0, as: UTF8.self) }
    }

    package func bytesArray(_ column: Int) throws(PostgresError) -> [[UInt8]?] {
        try array(column, .byteaArray, .bytea) { Array($0) }
    }

    package func uuidArray(_ column: Int) throws(PostgresError) -> [[UInt8]?] {
        try array(column, .uuidArray, .uuid) { $0.count == 16 ? Array($0) : nil }
    }

    /// Milliseconds since 1970-01-01 00:00 UTC, rounded down.
    package func millisecondsArray(_ column: Int) throws(PostgresError) -> [Int64?] {
        try array(column, .timestamptzArray, .timestamptz) {
            integer($0).map(PostgresTime.milliseconds(fromMicroseconds:))
        }
    }

    private func array<Element>(
        _ column: Int, _ type: PostgresType, _ elementType: PostgresType,
        _ decode: (UnsafeRawBufferPointer) -> Element?
    ) throws(PostgresError) -> [Element?] {
        let bytes = try present(column, value(column, type))
        guard let array = decodeArray(bytes, of: elementType, decode) else {
            throw mismatch(column, "is not an array of one dimension")
        }
        return array
    }
}

private func integer<Integer: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer) -> Integer? {
    guard bytes.count == MemoryLayout<Integer>.size else { return nil }
    return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
}

/// Reads the format of array_send, see ``PostgresArray``; nil for anything else.
func decodeArray<Element>(
    _ bytes: UnsafeRawBufferPointer, of type: PostgresType, _ decode: (UnsafeRawBufferPointer) -> Element?
) -> [Element?]? {
    var rest = bytes[...]
    func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
    func takeInteger() -> Int32? { take(4).flatMap { integer($0) } }
    guard let dimensions = takeInteger(), takeInteger() != nil, takeInteger() == Int32(bitPattern: type.rawValue) else {
        return nil
    }
    if dimensions == 0 { return [] }
    // Each element takes at least four bytes, so a wrong count cannot reserve more memory than there are bytes.
    guard dimensions == 1, let count = takeInteger(), takeInteger() != nil, count >= 0, count <= rest.count / 4 else {
        return nil
    }
    var elements: [Element?] = []
    elements.reserveCapacity(Int(count))
    for _ in 0..<count {
        guard let length = takeInteger() else { return nil }
        if length == -1 {
            elements.append(nil)
        } else {
            guard let element = take(Int(length)).flatMap(decode) else { return nil }
            elements.append(element)
        }
    }
    return rest.isEmpty ? elements : nil
}
