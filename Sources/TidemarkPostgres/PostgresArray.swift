// SPDX-License-Identifier: Apache-2.0

/// A one-dimensional array as a parameter. It is built in PostgreSQL's binary form, value by value, without a Swift
/// array in between.
package struct PostgresArray: Sendable, Equatable {
    let elementType: PostgresType
    package private(set) var count = 0
    private var hasNulls = false
    /// Each element follows its length, which is -1 for null.
    private var elements: [UInt8] = []

    /// - Parameters:
    ///   - elementType: the type of the elements; one of those for which there is an `append`.
    ///   - byteCount: the expected bytes of the elements, if known.
    package init(of elementType: PostgresType, byteCount: Int = 0) {
        self.elementType = elementType
        elements.reserveCapacity(byteCount)
    }

    // MARK: Elements

    package mutating func appendNull() {
        hasNulls = true
        begin(length: -1)
    }

    /// A value of the element type, or null.
    package mutating func append(_ value: PostgresValue) {
        switch value {
        case .null: appendNull()
        case .bool(let value): append(value)
        case .int4(let value): append(value)
        case .int8(let value): append(value)
        case .float8(let value): append(value)
        case .text(let value): append(value)
        case .bytea(let value): append(value)
        case .uuid(let bytes): append(uuid: bytes)
        case .timestamp(let milliseconds): append(milliseconds: milliseconds)
        case .int2, .array: preconditionFailure("there are no arrays of these")
        }
    }

    /// Appends nulls until there are this many elements.
    package mutating func appendNulls(upTo count: Int) {
        while self.count < count { appendNull() }
    }

    package mutating func append(_ value: Bool) {
        begin(.bool, length: 1)
        elements.append(value ? 1 : 0)
    }

    package mutating func append(_ value: Int32) {
        append(.int4, value)
    }

    package mutating func append(_ value: Int64) {
        append(.int8, value)
    }

    package mutating func append(_ value: Double) {
        append(.float8, value.bitPattern)
    }

    /// A `timestamptz`, in milliseconds since 1970-01-01 00:00 UTC.
    package mutating func append(milliseconds: Int64) {
        append(.timestamptz, PostgresTime.microseconds(fromMilliseconds: milliseconds))
    }

    /// The text must not contain U+0000, which PostgreSQL refuses (SQLSTATE 22021).
    package mutating func append(_ value: String) {
        var value = value
        value.withUTF8 { bytes in
            begin(.text, length: bytes.count)
            elements.append(contentsOf: bytes)
        }
    }

    package mutating func append(_ value: [UInt8]) {
        begin(.bytea, length: value.count)
        elements.append(contentsOf: value)
    }

    package mutating func append(uuid bytes: [UInt8]) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        begin(.uuid, length: 16)
        elements.append(contentsOf: bytes)
    }

    /// Length and number in one step: a record has a dozen of these.
    private mutating func append(_ type: PostgresType, _ number: some FixedWidthInteger) {
        precondition(type == elementType, "an element has another type than its array")
        count += 1
        let size = MemoryLayout.size(ofValue: number)
        withUnsafeTemporaryAllocation(byteCount: 4 + size, alignment: 8) { bytes in
            bytes.storeBytes(of: Int32(size).bigEndian, as: Int32.self)
            bytes.storeBytes(of: number.bigEndian, toByteOffset: 4, as: Swift.type(of: number))
            elements.append(contentsOf: UnsafeRawBufferPointer(bytes))
        }
    }

    private mutating func begin(_ type: PostgresType, length: Int) {
        precondition(type == elementType, "an element has another type than its array")
        begin(length: Int32(length))
    }

    private mutating func begin(length: Int32) {
        count += 1
        elements.append(integer: length)
    }

    // MARK: Whole

    var type: PostgresType { elementType.array }

    /// The format of array_recv (arrayfuncs.c): number of dimensions, whether there are nulls, element type, length and
    /// first index of the one dimension, then the elements.
    func encode(into bytes: inout [UInt8]) {
        let header = (
            UInt32(count == 0 ? 0 : 1).bigEndian, UInt32(hasNulls ? 1 : 0).bigEndian, elementType.rawValue.bigEndian,
            UInt32(count).bigEndian, UInt32(1).bigEndian
        )
        // In one step: each append costs more than the number.
        Swift.withUnsafeBytes(of: header) { header in
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: header[..<(count == 0 ? 12 : 20)]))
        }
        bytes.append(contentsOf: elements)
    }
}

extension [UInt8] {
    @inline(__always)
    mutating func append(integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }
}

extension PostgresValue {
    /// The texts must not contain U+0000, which PostgreSQL refuses (SQLSTATE 22021).
    package static func textArray(_ values: [String?]) -> PostgresValue {
        var array = PostgresArray(of: .text)
        for value in values {
            if let value { array.append(value) } else { array.appendNull() }
        }
        return .array(array)
    }
}
