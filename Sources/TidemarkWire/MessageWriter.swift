// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Writes protobuf's wire format for the answers that are sent most: no message objects, fields copied once.
///
/// Sizes are computed before anything is written, so that nested messages need no second buffer. What it writes is what
/// the generated code would write: fields in the order of their numbers, default values left out.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    // MARK: Sizes

    static func size(varint value: UInt64) -> Int {
        value == 0 ? 1 : (64 - value.leadingZeroBitCount + 6) / 7
    }

    /// Of a field with a length (field numbers up to 15); 0 for an empty one, which is left out.
    static func size(field length: Int) -> Int {
        length == 0 ? 0 : size(message: length)
    }

    /// Of a nested message, which is written even if it is empty.
    static func size(message length: Int) -> Int {
        1 + size(varint: UInt64(length)) + length
    }

    static func size(number value: Int64) -> Int {
        value == 0 ? 0 : 1 + size(varint: UInt64(bitPattern: value))
    }

    static func size(flag: Bool) -> Int { flag ? 2 : 0 }

    // MARK: Fields

    mutating func append(field number: UInt8, _ content: [UInt8]) {
        guard !content.isEmpty else { return }
        beginMessage(number, length: content.count)
        bytes.append(contentsOf: content)
    }

    /// A nested message, which is written even if it is empty.
    mutating func append(message number: UInt8, _ content: [UInt8]) {
        beginMessage(number, length: content.count)
        bytes.append(contentsOf: content)
    }

    /// Bytes that are fields already.
    mutating func append(raw content: [UInt8]) {
        bytes.append(contentsOf: content)
    }

    mutating func append(field number: UInt8, _ text: String) {
        let length = text.utf8.count
        guard length > 0 else { return }
        beginMessage(number, length: length)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(field number: UInt8, _ tags: ChangeTagEncoder, _ change: ChangeNumber) {
        beginMessage(number, length: tags.byteCount(of: change))
        tags.append(change, to: &bytes)
    }

    mutating func append(field number: UInt8, number value: Int64) {
        guard value != 0 else { return }
        bytes.append(number << 3)
        append(varint: UInt64(bitPattern: value))
    }

    mutating func append(field number: UInt8, flag: Bool) {
        guard flag else { return }
        bytes.append(number << 3)
        bytes.append(1)
    }

    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The head of a nested message (or of any field with a length); its `length` bytes must follow.
    mutating func beginMessage(_ number: UInt8, length: Int) {
        precondition(number < 16)
        bytes.append(number << 3 | 2)
        append(varint: UInt64(length))
    }
}
