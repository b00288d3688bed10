// SPDX-License-Identifier: Apache-2.0

/// The keys that a record may have.
package enum FieldKeyRule: Sendable {
    /// Keys of apps: an ASCII letter, then letters, digits and underscores; at most 255 characters.
    case app
    /// The same, and the three `cloudkit.` keys of a share.
    case share

    static let shareKeys = ["cloudkit.thumbnailImageData", "cloudkit.title", "cloudkit.type"]

    package func allows(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        return allows(bytes.span, 0, bytes.count)
    }

    func allows(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
        guard end > start, end - start <= FieldLimits.keyBytesMax, isLetter(bytes[start]) else { return false }
        for index in start + 1..<end {
            let byte = bytes[index]
            guard isLetter(byte) || (byte >= 0x30 && byte <= 0x39) || byte == 0x5F else {
                return self == .share && isShareKey(bytes, start, end)
            }
        }
        return true
    }

    @inline(__always)
    private func isLetter(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= 0x61 && lower <= 0x7A
    }

    private func isShareKey(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
        FieldKeyRule.shareKeys.contains { name in
            var index = start
            for byte in name.utf8 {
                guard index < end, bytes[index] == byte else { return false }
                index += 1
            }
            return index == end
        }
    }
}
