// SPDX-License-Identifier: Apache-2.0

/// The protobuf encoding as far as `Fields.proto` uses it: tags of one byte, canonical variable-length integers.
///
/// Every read is given the offset where its container ends, and reads nothing past it.
enum FieldWire {
    // A tag is number << 3 | wire type (0 variable-length, 1 eight bytes, 2 a length and as many bytes).
    static let entryTag: UInt8 = 0x0A
    static let keyTag: UInt8 = 0x0A
    static let encryptedTag: UInt8 = 0x10
    static let typeTag: UInt8 = 0x18
    static let stringTag: UInt8 = 0x22
    static let int64Tag: UInt8 = 0x28
    static let doubleTag: UInt8 = 0x31
    static let dateTag: UInt8 = 0x38
    static let bytesTag: UInt8 = 0x42
    static let referenceTag: UInt8 = 0x4A
    static let assetTag: UInt8 = 0x52
    static let locationTag: UInt8 = 0x5A
    static let listTag: UInt8 = 0x62
    static let exactDateTag: UInt8 = 0x69

    static let recordNameTag: UInt8 = 0x0A
    static let zoneNameTag: UInt8 = 0x12
    static let ownerNameTag: UInt8 = 0x1A
    static let actionTag: UInt8 = 0x20

    static let sha256Tag: UInt8 = 0x0A
    static let byteCountTag: UInt8 = 0x10

    /// Tags 1 to 7 of a location, the eight-byte ones.
    static let locationTags: [UInt8] = [0x09, 0x11, 0x19, 0x21, 0x29, 0x31, 0x39]
    static let timestampTag: UInt8 = 0x40
    static let exactTimestampTag: UInt8 = 0x49

    /// Of the dates in `List` of which one is not a whole number of milliseconds.
    static let exactDatesTag: UInt8 = 0x4A

    /// The tag of the elements in `List`: their number is the element's type code, and all have a length.
    static func elementTag(_ element: FieldType) -> UInt8 { element.rawValue << 3 | 2 }

    @inline(__always)
    static func expect(
        _ byte: UInt8, _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) {
        guard offset < end else { throw FieldError(.truncated, at: offset) }
        guard bytes[offset] == byte else { throw FieldError(.malformed, at: offset) }
        offset += 1
    }

    @inline(__always)
    static func readVarint(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) throws(FieldError) -> UInt64 {
        guard offset < end else { throw FieldError(.truncated, at: offset) }
        let first = bytes[offset]
        guard first >= 0x80 else {
            offset += 1
            return UInt64(first)
        }
        return try readLongVarint(bytes, &offset, end)
    }

    private static func readLongVarint(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard offset < end else { throw FieldError(.truncated, at: offset) }
            let byte = bytes[offset]
            // The tenth byte has room for one bit, and a last byte of 0 would have been needless.
            if shift == 63, byte > 1 { throw FieldError(.malformed, at: offset) }
            value |= UInt64(byte & 0x7F) << shift
            offset += 1
            if byte < 0x80 {
                guard byte != 0 else { throw FieldError(.malformed, at: offset) }
                return value
            }
            shift += 7
        }
    }

    /// Reads a length and returns where what it measures ends.
    @inline(__always)
    static func readLength(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) throws(FieldError) -> Int {
        let length = try readVarint(bytes, &offset, end)
        guard length <= UInt64(end - offset) else { throw FieldError(.truncated, at: offset) }
        return offset + Int(length)
    }

    @inline(__always)
    static func readZigzag(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) throws(FieldError) -> Int64 {
        let raw = try readVarint(bytes, &offset, end)
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    static func readDouble(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) throws(FieldError) -> Double {
        guard end - offset >= 8 else { throw FieldError(.truncated, at: offset) }
        var bits: UInt64 = 0
        for index in 0..<8 { bits |= UInt64(bytes[offset + index]) << UInt64(index * 8) }
        offset += 8
        return Double(bitPattern: bits)
    }

    /// Reads a moment that has no form in milliseconds (see ``FieldDate``).
    static func readExactDate(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> FieldDate {
        let start = offset
        guard let date = FieldDate(secondsSince2001: try readDouble(bytes, &offset, end)) else {
            throw FieldError(.badValue, at: start)
        }
        guard case .seconds = date.form else { throw FieldError(.malformed, at: start) }
        return date
    }

    /// Reads a moment behind one of two tags.
    @inline(__always)
    static func readDate(
        _ tag: UInt8, orExact exactTag: UInt8, _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> FieldDate {
        if offset < end, bytes[offset] == exactTag {
            offset += 1
            return try readExactDate(bytes, &offset, end)
        }
        try expect(tag, bytes, &offset, end)
        return FieldDate(milliseconds: try readZigzag(bytes, &offset, end))
    }

    static func compare(
        _ left: Span<UInt8>, _ leftStart: Int, _ leftEnd: Int,
        _ right: Span<UInt8>, _ rightStart: Int, _ rightEnd: Int
    ) -> Int {
        precondition(0 <= leftStart && leftStart <= leftEnd && leftEnd <= left.count)
        precondition(0 <= rightStart && rightStart <= rightEnd && rightEnd <= right.count)
        let common = min(leftEnd - leftStart, rightEnd - rightStart)
        for index in 0..<common {
            // Within what was just held against both counts.
            let difference =
                Int(left[unchecked: leftStart + index]) - Int(right[unchecked: rightStart + index])
            if difference != 0 { return difference }
        }
        return (leftEnd - leftStart) - (rightEnd - rightStart)
    }

    // MARK: Writing

    static func append(varint value: UInt64, to output: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: rest))
    }

    static func append(zigzag value: Int64, to output: inout [UInt8]) {
        append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)), to: &output)
    }

    static func append(double value: Double, to output: inout [UInt8]) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { output.append(contentsOf: $0) }
    }

    static func append(
        _ date: FieldDate, tag: UInt8, orExact exactTag: UInt8, to output: inout [UInt8]
    ) {
        switch date.form {
        case .milliseconds(let milliseconds):
            output.append(tag)
            append(zigzag: milliseconds, to: &output)
        case .seconds(let seconds):
            output.append(exactTag)
            append(double: seconds, to: &output)
        }
    }

    static func append(tag: UInt8, content: [UInt8], to output: inout [UInt8]) {
        output.append(tag)
        append(varint: UInt64(content.count), to: &output)
        output.append(contentsOf: content)
    }

    static func append(tag: UInt8, text: String, to output: inout [UInt8]) {
        output.append(tag)
        append(varint: UInt64(text.utf8.count), to: &output)
        output.append(contentsOf: text.utf8)
    }
}
