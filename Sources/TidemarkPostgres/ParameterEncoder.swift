// SPDX-License-Identifier: Apache-2.0

/// Encodes the parameters of statements, one after the other, in PostgreSQL's binary form. It reuses its memory.
struct ParameterEncoder {
    private(set) var bytes: [UInt8] = []
    /// The place of each parameter in the bytes; nil for null.
    private(set) var ranges: [Range<Int>?] = []

    /// Memory beyond this is freed after a statement that needed it.
    static let capacityKept = 1 << 20

    mutating func encode(_ values: [PostgresValue]) {
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
        for value in values {
            let start = bytes.count
            append(value)
            ranges.append(value == .null ? nil : start..<bytes.count)
        }
        // So that even an empty value has an address: libpq takes a null pointer for NULL.
        bytes.append(0)
    }

    /// The statement has been sent. A connection may be idle for long after a large one.
    mutating func sent() {
        if bytes.capacity > Self.capacityKept { bytes = [] }
    }

    private mutating func append(_ value: PostgresValue) {
        switch value {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int2(let value): bytes.append(integer: value)
        case .int4(let value): bytes.append(integer: value)
        case .int8(let value): bytes.append(integer: value)
        case .float8(let value): bytes.append(integer: value.bitPattern)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bytea(let value): bytes.append(contentsOf: value)
        case .uuid(let value):
            precondition(value.count == 16, "a UUID has 16 bytes")
            bytes.append(contentsOf: value)
        case .timestamp(let milliseconds):
            bytes.append(integer: PostgresTime.microseconds(fromMilliseconds: milliseconds))
        case .array(let array): array.encode(into: &bytes)
        }
    }
}
