// SPDX-License-Identifier: Apache-2.0

/// Protobuf's varints: seven bits in each byte, lowest first.
///
/// No other code reads or writes varints. Messages, fields of records, tokens and tags use this type.
///
/// NB: `@usableFromInline`, like every package type whose functions other modules should inline. Without it,
/// `@inlinable` has no effect for them.
@usableFromInline
package enum WireNumber {
    /// Reads the number at `offset`, and moves `offset` past it.
    ///
    /// Bits of a tenth byte that do not fit are dropped, as in all readers of protobuf.
    /// - Parameter end: the end of what holds the number; at most `bytes.count`.
    @inlinable @inline(__always)
    package static func read(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(WireError) -> UInt64 {
        guard offset < end else { throw WireError(.truncated, at: offset) }
        let first = bytes[offset]
        offset += 1
        return first < 0x80 ? UInt64(first) : try readRest(of: first, bytes, &offset, end)
    }

    /// As ``read(_:_:_:)``, for formats in which each number has exactly one encoding.
    ///
    /// Needless bytes, and a tenth byte that does not fit, throw `overlong`.
    @inlinable @inline(__always)
    package static func readShortest(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(WireError) -> UInt64 {
        guard offset < end else { throw WireError(.truncated, at: offset) }
        let first = bytes[offset]
        offset += 1
        return first < 0x80 ? UInt64(first) : try readShortestRest(of: first, bytes, &offset, end)
    }

    @usableFromInline
    static func readRest(
        of first: UInt8, _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(WireError) -> UInt64 {
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while offset < end {
            let byte = bytes[offset]
            value |= UInt64(byte & 0x7F) << shift
            offset += 1
            if byte < 0x80 { return value }
            shift += 7
            guard shift < 70 else { throw WireError(.overlong, at: offset) }
        }
        throw WireError(.truncated, at: offset)
    }

    @usableFromInline
    static func readShortestRest(
        of first: UInt8, _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(WireError) -> UInt64 {
        let start = offset
        let value = try readRest(of: first, bytes, &offset, end)
        let last = bytes[offset - 1]
        // A tenth byte has room for one bit.
        guard last != 0, offset - start < 9 || last == 1 else { throw WireError(.overlong, at: offset) }
        return value
    }

    /// Appends the number.
    @inlinable @inline(__always)
    package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        // Tags and most lengths take one byte.
        if value < 0x80 { bytes.append(UInt8(truncatingIfNeeded: value)) } else { appendLong(value, to: &bytes) }
    }

    @usableFromInline
    static func appendLong(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A signed number as an unsigned one, so that small numbers of either sign are short.
    @inlinable @inline(__always)
    package static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    /// Undoes ``zigzag(_:)``.
    @inlinable @inline(__always)
    package static func signed(_ zigzag: UInt64) -> Int64 {
        Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
    }
}
