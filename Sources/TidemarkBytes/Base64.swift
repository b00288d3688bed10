// SPDX-License-Identifier: Apache-2.0

/// Base 64 (RFC 4648 §4), and the URL-safe alphabet without padding (§5).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafeAlphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        encode(bytes, alphabet: alphabet, padding: true)
    }

    package static func encodeURLSafe(_ bytes: [UInt8]) -> String {
        encode(bytes, alphabet: urlSafeAlphabet, padding: false)
    }

    /// Strict: nil unless the padding is canonical, there is no white space, and unused bits are zero.
    package static func decode(_ text: String) -> [UInt8]? {
        let utf8 = Array(text.utf8)
        guard utf8.count.isMultiple(of: 4) else { return nil }
        let padding = utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        return decode(utf8.dropLast(padding), alphabet: alphabet)
    }

    /// Strict, as ``decode(_:)``; what ``encodeURLSafe(_:)`` writes.
    package static func decodeURLSafe(_ text: String) -> [UInt8]? {
        decode(Array(text.utf8)[...], alphabet: urlSafeAlphabet)
    }

    private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padding: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bits <<= UInt32(8 * (3 - group.count))
            for position in 0...group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * position)) & 63])
            }
            if padding { text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - group.count)) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(_ digits: ArraySlice<UInt8>, alphabet: [UInt8]) -> [UInt8]? {
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }
}
