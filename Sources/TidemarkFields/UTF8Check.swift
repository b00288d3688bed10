// SPDX-License-Identifier: Apache-2.0

/// Whether bytes are well-formed UTF-8 (The Unicode Standard, table 3-7), without making a string of them.
enum UTF8Check {
    static func isValid(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
        var offset = start
        while offset < end {
            // Most text is ASCII. It is checked eight bytes at a time.
            if end - offset >= 8 {
                let word = bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 == 0 {
                    offset += 8
                    continue
                }
            }
            let lead = bytes[offset]
            offset += 1
            if lead < 0x80 { continue }
            // The range of the second byte excludes overlong forms, surrogates, and code points above U+10FFFF.
            let length: Int
            let second: ClosedRange<UInt8>
            switch lead {
            case 0xC2...0xDF: (length, second) = (1, 0x80...0xBF)
            case 0xE0: (length, second) = (2, 0xA0...0xBF)
            case 0xED: (length, second) = (2, 0x80...0x9F)
            case 0xE1...0xEF: (length, second) = (2, 0x80...0xBF)
            case 0xF0: (length, second) = (3, 0x90...0xBF)
            case 0xF1...0xF3: (length, second) = (3, 0x80...0xBF)
            case 0xF4: (length, second) = (3, 0x80...0x8F)
            default: return false
            }
            guard end - offset >= length, second.contains(bytes[offset]) else { return false }
            for index in 1..<max(length, 1) where bytes[offset + index] & 0xC0 != 0x80 { return false }
            offset += length
        }
        return true
    }
}
