// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// Writes numbers in as few bytes as they need (``WireNumber``).
struct CompactWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: the expected number of bytes, for which memory is allocated once.
    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    mutating func write(_ number: UInt64) { WireNumber.append(number, to: &bytes) }

    mutating func write(_ count: Int) { write(UInt64(count)) }

    /// Small numbers of either sign are short (zigzag).
    mutating func write(signed number: Int64) { write(WireNumber.zigzag(number)) }

    mutating func write(_ content: [UInt8]) {
        write(content.count)
        bytes += content
    }

    mutating func write(text: String) { write(Array(text.utf8)) }
}

/// Reads what ``CompactWriter`` wrote. Every read returns nil if the bytes are anything else; none traps.
struct CompactReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    /// Each number has one encoding: one with needless bytes is invalid.
    mutating func readNumber() -> UInt64? {
        var next = offset
        defer { offset = next }
        return try? WireNumber.readShortest(bytes.span, &next, bytes.count)
    }

    mutating func readSigned() -> Int64? { readNumber().map(WireNumber.signed) }

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
