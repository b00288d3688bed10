// SPDX-License-Identifier: Apache-2.0

/// Writes the parameters of one statement after the other in PostgreSQL's binary form, into memory that is used again.
struct ParameterEncoder {
    private(set) var bytes: [UInt8] = []
    /// For each parameter where it begins and how long it is; nil for null.
    private(set) var ranges: [Range<Int>?] = []

    /// More than this is given back after a statement that needed it.
    private static let capacityKept = 1 << 20

    mutating func encode(_ values: [PostgresValue]) {
        if bytes.capacity > Self.capacityKept { bytes = [] }
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
        for value in values {
            let start = bytes.count
            append(value)
            ranges.append(value == .null ? nil : start..<bytes.count)
        }
        // So that also an empty value has an address: libpq takes a null pointer for NULL.
        bytes.append(0)
    }

    private mutating func append(_ value: PostgresValue) {
        switch value {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int2(let value): append(integer: value)
        case .int4(let value): append(integer: value)
        case .int8(let value): append(integer: value)
        case .float8(let value): append(integer: value.bitPattern)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bytea(let value): bytes.append(contentsOf: value)
        case .uuid(let value):
            precondition(value.count == 16, "a UUID has 16 bytes")
            bytes.append(contentsOf: value)
        case .timestamp(let milliseconds):
            append(integer: PostgresTime.microseconds(fromMilliseconds: milliseconds))
        case .boolArray(let values): append(array: values, of: .bool) { $0.bytes.append($1 ? 1 : 0) }
        case .int4Array(let values): append(array: values, of: .int4) { $0.append(integer: $1) }
        case .int8Array(let values): append(array: values, of: .int8) { $0.append(integer: $1) }
        case .float8Array(let values): append(array: values, of: .float8) { $0.append(integer: $1.bitPattern) }
        case .textArray(let values): append(array: values, of: .text) { $0.bytes.append(contentsOf: $1.utf8) }
        case .byteaArray(let values): append(array: values, of: .bytea) { $0.bytes.append(contentsOf: $1) }
        case .uuidArray(let values):
            append(array: values, of: .uuid) {
                precondition($1.count == 16, "a UUID has 16 bytes")
                $0.bytes.append(contentsOf: $1)
            }
        case .timestampArray(let values):
            append(array: values, of: .timestamptz) {
                $0.append(integer: PostgresTime.microseconds(fromMilliseconds: $1))
            }
        }
    }

    @inline(__always)
    private mutating func append<Integer: FixedWidthInteger>(integer: Integer) {
        withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// An array (array.h, array_recv): number of dimensions, whether nulls occur, type, length and first index of the one
    /// dimension, and each element after its length, which is -1 for null.
    private mutating func append<Element>(
        array: [Element?], of type: PostgresType, _ appendElement: (inout ParameterEncoder, Element) -> Void
    ) {
        append(integer: Int32(array.isEmpty ? 0 : 1))
        append(integer: Int32(array.contains { $0 == nil } ? 1 : 0))
        append(integer: type.rawValue)
        guard !array.isEmpty else { return }
        append(integer: Int32(array.count))
        append(integer: Int32(1))
        for element in array {
            guard let element else {
                append(integer: Int32(-1))
                continue
            }
            let start = bytes.count
            append(integer: Int32(0))
            appendElement(&self, element)
            let length = Int32(bytes.count - start - 4)
            withUnsafeBytes(of: length.bigEndian) { length in
                for index in 0..<4 { bytes[start + index] = length[index] }
            }
        }
    }
}
