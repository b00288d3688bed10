// SPDX-License-Identifier: Apache-2.0

/// Finds the first byte that shows that a text is not UTF-8, however the text is split (RFC 3629 §4).
///
/// It accepts only the shortest encodings of scalar values: no overlong forms, no surrogates, nothing past U+10FFFF.
package struct UTF8Scanner: Sendable {
    /// Continuation bytes that the current character still needs.
    private var pendingCount: UInt8 = 0
    /// The range of the next continuation byte. It is narrower than 80…BF only right after E0, ED, F0 and F4.
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    package init() {}

    /// Whether the text so far ends between two characters.
    package var isComplete: Bool { pendingCount == 0 }

    /// Takes more of the text. False at the first invalid byte; then the check cannot be used any more.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if pendingCount == 0 {
                position = Self.endOfASCII(bytes, from: position)
                guard position < bytes.count else { return true }
                guard begin(bytes[position]) else { return false }
            } else {
                let byte = bytes[position]
                guard byte >= lower, byte <= upper else { return false }
                (pendingCount, lower, upper) = (pendingCount - 1, 0x80, 0xBF)
            }
            position += 1
        }
        return true
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: (pendingCount, lower, upper) = (1, 0x80, 0xBF)
        case 0xE0: (pendingCount, lower, upper) = (2, 0xA0, 0xBF)
        case 0xED: (pendingCount, lower, upper) = (2, 0x80, 0x9F)
        case 0xE1...0xEF: (pendingCount, lower, upper) = (2, 0x80, 0xBF)
        case 0xF0: (pendingCount, lower, upper) = (3, 0x90, 0xBF)
        case 0xF1...0xF3: (pendingCount, lower, upper) = (3, 0x80, 0xBF)
        case 0xF4: (pendingCount, lower, upper) = (3, 0x80, 0x8F)
        default: return false
        }
        return true
    }

    /// The first position at or after `start` whose byte is not ASCII, eight at a time.
    private static func endOfASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
        }
        while position < bytes.count, bytes[position] < 0x80 { position += 1 }
        return position
    }
}
