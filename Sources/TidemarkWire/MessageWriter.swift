// SPDX-License-Identifier: Apache-2.0

/// Writes protobuf's wire format for the messages that are sent most: no message objects, fields copied once.
///
/// Sizes are computed before anything is written, so that nested messages need no second buffer. What it writes is what
/// the generated code would write: fields in the order of their numbers, default values left out.
package struct MessageWriter {
    @usableFromInline var written: [UInt8] = []

    /// What was written so far.
    @inlinable package var bytes: [UInt8] { written }

    @inlinable
    package init(capacity: Int) {
        written.reserveCapacity(capacity)
    }

    // MARK: Sizes

    @inlinable
    package static func size(varint value: UInt64) -> Int {
        value == 0 ? 1 : (64 - value.leadingZeroBitCount + 6) / 7
    }

    /// Of a field with a length (field numbers up to 15); 0 for an empty one, which is left out.
    @inlinable
    package static func size(field length: Int) -> Int {
        length == 0 ? 0 : size(message: length)
    }

    /// Of a nested message, which is written even if it is empty.
    @inlinable
    package static func size(message length: Int) -> Int {
        1 + size(varint: UInt64(length)) + length
    }

    @inlinable
    package static func size(number value: Int64) -> Int {
        value == 0 ? 0 : 1 + size(varint: UInt64(bitPattern: value))
    }

    @inlinable
    package static func size(flag: Bool) -> Int { flag ? 2 : 0 }

    // MARK: Fields

    @inlinable
    package mutating func append(field number: UInt8, _ content: [UInt8]) {
        guard !content.isEmpty else { return }
        beginMessage(number, length: content.count)
        written.append(contentsOf: content)
    }

    /// A nested message, which is written even if it is empty.
    @inlinable
    package mutating func append(message number: UInt8, _ content: [UInt8]) {
        beginMessage(number, length: content.count)
        written.append(contentsOf: content)
    }

    /// A field with a length that is known, which `write` adds to the bytes.
    @inlinable
    package mutating func append(field number: UInt8, length: Int, _ write: (inout [UInt8]) -> Void) {
        beginMessage(number, length: length)
        write(&written)
    }

    /// Bytes that are fields already.
    @inlinable
    package mutating func append(raw content: [UInt8]) {
        written.append(contentsOf: content)
    }

    @inlinable
    package mutating func append(field number: UInt8, _ text: String) {
        let length = text.utf8.count
        guard length > 0 else { return }
        beginMessage(number, length: length)
        written.append(contentsOf: text.utf8)
    }

    @inlinable
    package mutating func append(field number: UInt8, number value: Int64) {
        guard value != 0 else { return }
        written.append(number << 3)
        append(varint: UInt64(bitPattern: value))
    }

    @inlinable
    package mutating func append(field number: UInt8, flag: Bool) {
        guard flag else { return }
        written.append(number << 3)
        written.append(1)
    }

    @inlinable
    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            written.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        written.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The head of a nested message (or of any field with a length); its `length` bytes must follow.
    @inlinable
    package mutating func beginMessage(_ number: UInt8, length: Int) {
        precondition(number < 16)
        written.append(number << 3 | 2)
        append(varint: UInt64(length))
    }
}
