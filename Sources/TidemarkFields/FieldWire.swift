// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// The part of protobuf's encoding that `Fields.proto` uses: tags of one byte (``FieldTag``) and canonical varints.
///
/// Each read gets the offset at which its container ends, and reads nothing past it.
enum FieldWire {
    /// Tags of a location's doubles, in their order.
    static let locationTags: [UInt8] = [
        FieldTag.Location.latitude, FieldTag.Location.longitude, FieldTag.Location.altitude,
        FieldTag.Location.horizontalAccuracy, FieldTag.Location.verticalAccuracy, FieldTag.Location.course,
        FieldTag.Location.speed,
    ]

    /// The tag of the elements in `List`. Exact dates have another one.
    static func elementTag(_ element: FieldType) -> UInt8 {
        switch element {
        case .string: FieldTag.List.strings
        case .int64: FieldTag.List.int64s
        case .double: FieldTag.List.doubles
        case .date: FieldTag.List.dates
        case .bytes: FieldTag.List.bytes
        case .reference: FieldTag.List.references
        case .asset: FieldTag.List.assets
        case .location: FieldTag.List.locations
        // No list has such elements. 0 is not a tag.
        case .removed, .emptyList, .stringList, .int64List, .doubleList, .dateList, .bytesList, .referenceList,
            .assetList, .locationList:
            0
        }
    }

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
        do throws(WireError) {
            return try WireNumber.readShortest(bytes, &offset, end)
        } catch {
            throw FieldError(error.code == .truncated ? .truncated : .malformed, at: error.offset)
        }
    }

    /// Reads a length, and returns the end of what follows.
    @inline(__always)
    static func readLength(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) throws(FieldError) -> Int {
        let length = try readVarint(bytes, &offset, end)
        guard length <= UInt64(end - offset) else { throw FieldError(.truncated, at: offset) }
        return offset + Int(length)
    }

    @inline(__always)
    static func readZigzag(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) throws(FieldError) -> Int64 {
        WireNumber.signed(try readVarint(bytes, &offset, end))
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

    /// Reads a moment in one of its two forms, after its tag.
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
        var index = 0
        // Keys may begin alike. As long as they do, eight bytes are compared at a time.
        while common - index >= 8,
            left.bytes.unsafeLoadUnaligned(fromByteOffset: leftStart + index, as: UInt64.self)
                == right.bytes.unsafeLoadUnaligned(fromByteOffset: rightStart + index, as: UInt64.self)
        {
            index += 8
        }
        while index < common {
            // In bounds: both counts were checked above.
            let difference =
                Int(left[unchecked: leftStart + index]) - Int(right[unchecked: rightStart + index])
            if difference != 0 { return difference }
            index += 1
        }
        return (leftEnd - leftStart) - (rightEnd - rightStart)
    }

    // MARK: Writing

    static func append(varint value: UInt64, to output: inout [UInt8]) { WireNumber.append(value, to: &output) }

    static func append(zigzag value: Int64, to output: inout [UInt8]) {
        append(varint: WireNumber.zigzag(value), to: &output)
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
