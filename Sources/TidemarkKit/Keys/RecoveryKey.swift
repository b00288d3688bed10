// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto

/// An account's key in a form for people: ten groups of six letters and digits, with a checksum.
enum RecoveryKey {
    /// Base 32 without letters that look like digits or like each other (Crockford's).
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let version: UInt8 = 1
    private static let checkByteCount = 4
    private static let characterCount = 60
    private static let groupCount = 6

    static func text(of key: [UInt8]) -> String {
        let bytes = [version] + key
        let characters = encode(bytes + check(bytes))
        return stride(from: 0, to: characters.count, by: groupCount)
            .map { String(decoding: characters[$0..<min($0 + groupCount, characters.count)], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// Reads a key that was copied by hand. Case, spaces and hyphens do not matter, O is 0, I and L are 1.
    ///
    /// - Throws: `invalidArguments`, with a text that says what is wrong.
    static func key(of text: String) throws(CKError) -> [UInt8] {
        var values: [UInt8] = []
        for character in text.uppercased().utf8 {
            switch character {
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                continue
            case UInt8(ascii: "O"): values.append(0)
            case UInt8(ascii: "I"), UInt8(ascii: "L"): values.append(1)
            default:
                guard let value = alphabet.firstIndex(of: character) else {
                    throw CKError(
                        .invalidArguments,
                        message: "A recovery key has letters and digits, but no U. Compare it once more.")
                }
                values.append(UInt8(value))
            }
        }
        guard values.count == characterCount else {
            throw CKError(
                .invalidArguments,
                message: "A recovery key has \(characterCount) letters and digits, not \(values.count). "
                    + "Compare it once more.")
        }
        let bytes = decode(values) ?? []
        let content = Array(bytes.dropLast(checkByteCount))
        guard Array(bytes.suffix(checkByteCount)) == check(content), content.first == version else {
            throw CKError(.invalidArguments, message: "The recovery key has a mistake in it. Compare it once more.")
        }
        return Array(content.dropFirst())
    }

    private static func check(_ bytes: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(Array("tidemark recovery key".utf8) + bytes).prefix(checkByteCount))
    }

    /// Five bits for each character, the last one padded with zeros.
    private static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var characters: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        for byte in bytes {
            bits = (bits << 8 | UInt32(byte)) & 0xFFFF
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                characters.append(alphabet[Int(bits >> UInt32(bitCount) & 31)])
            }
        }
        if bitCount > 0 { characters.append(alphabet[Int(bits << UInt32(5 - bitCount) & 31)]) }
        return characters
    }

    /// Nil if the padding of the last character is not zeros.
    private static func decode(_ values: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        for value in values {
            bits = (bits << 5 | UInt32(value)) & 0xFFFF
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        guard bits & (1 << UInt32(bitCount) - 1) == 0 else { return nil }
        return bytes
    }
}
