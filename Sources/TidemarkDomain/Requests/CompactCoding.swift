// SPDX-License-Identifier: Apache-2.0

/// Writes numbers in as few bytes as possible: seven bits in each byte, lowest first, like protobuf's varints.
struct CompactWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: the expected number of bytes, for which memory is allocated once.
    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    mutating func write(_ number: UInt64) { Self.append(number, to: &bytes) }

    static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The number of bytes that ``write`` needs for it.
    static func byteCount(of number: UInt64) -> Int { max(1, (70 - number.leadingZeroBitCount) / 7) }

    mutating func write(_ count: Int) { write(UInt64(count)) }

    /// Zigzag: small numbers of either sign are short.
    mutating func write(signed number: Int64) {
        write(UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    mutating func write(_ content: [UInt8]) {
        write(content.count)
        bytes += content
    }
}

/// Reads what ``CompactWriter`` wrote. Every read returns nil if the bytes are anything else; none traps.
struct CompactReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func readByte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func readNumber() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = readByte() else { return nil }
            // The tenth byte has room for one bit only.
            if shift == 63, byte > 1 { return nil }
            // A last byte of 0 is not allowed, so that each number has one encoding.
            if shift > 0, byte == 0 { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }

    mutating func readSigned() -> Int64? {
        readNumber().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    /// A count of things that take at least one byte each. It never exceeds the remaining bytes, so it is safe to
    /// reserve memory for it.
    mutating func readCount() -> Int? {
        guard let number = readNumber(), number <= UInt64(bytes.count - offset) else { return nil }
        return Int(number)
    }

    mutating func readContent() -> [UInt8]? {
        guard let count = readCount() else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }
}
