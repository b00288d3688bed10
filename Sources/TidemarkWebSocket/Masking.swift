// SPDX-License-Identifier: Apache-2.0

/// The XOR of every client's payload with a key (RFC 6455 §5.3), in place.
@usableFromInline
package enum Masking {
    /// Masks or unmasks `bytes`, many at a time.
    ///
    /// - Parameters:
    ///   - key: The four bytes of the frame's key, the first one lowest.
    ///   - offset: How many of the frame's payload bytes came before these.
    @inlinable
    package static func apply(key: UInt32, offset: Int = 0, to bytes: UnsafeMutableRawBufferPointer) {
        let rotation = UInt32(truncatingIfNeeded: offset & 3) * 8
        let rotated = rotation == 0 ? key : key >> rotation | key << (32 - rotation)
        guard rotated != 0 else { return }
        let wide = (UInt64(rotated) << 32 | UInt64(rotated)).littleEndian
        var position = 0
        if bytes.count >= 64, let start = bytes.baseAddress {
            let block = SIMD8(repeating: wide)
            // Pointer arithmetic does not check each step for overflow.
            let end = start + (bytes.count & ~63)
            var place = start
            while place < end {
                place.storeBytes(of: place.loadUnaligned(as: SIMD8<UInt64>.self) ^ block, as: SIMD8<UInt64>.self)
                place += 64
            }
            position = bytes.count & ~63
        }
        while position + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            bytes.storeBytes(of: word ^ wide, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        var rest = rotated
        while position < bytes.count {
            bytes[position] ^= UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            if position & 3 == 3 { rest = rotated }
            position += 1
        }
    }

    /// As ``apply(key:offset:to:)``, but writes the masked bytes elsewhere, where there is room for them.
    package static func copy(
        key: UInt32, offset: Int, from bytes: UnsafeRawBufferPointer, to place: UnsafeMutableRawBufferPointer
    ) {
        precondition(place.count >= bytes.count)
        guard let source = bytes.baseAddress, let target = place.baseAddress else { return }
        let rotation = UInt32(truncatingIfNeeded: offset & 3) * 8
        let rotated = rotation == 0 ? key : key >> rotation | key << (32 - rotation)
        let block = SIMD8(repeating: (UInt64(rotated) << 32 | UInt64(rotated)).littleEndian)
        // Whole blocks. 64 is a multiple of the key's four bytes, so the rest begins with the same byte of the key.
        let whole = bytes.count & ~63
        var (from, to) = (source, target)
        let end = source + whole
        while from < end {
            to.storeBytes(of: from.loadUnaligned(as: SIMD8<UInt64>.self) ^ block, as: SIMD8<UInt64>.self)
            from += 64
            to += 64
        }
        let rest = UnsafeMutableRawBufferPointer(start: to, count: bytes.count - whole)
        rest.copyMemory(from: UnsafeRawBufferPointer(start: from, count: rest.count))
        apply(key: rotated, to: rest)
    }
}
