// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkHTTP

/// The character classes, byte by byte.
@Suite struct CharactersTests {
    private let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    private let digits = Set("0123456789".utf8)

    @Test func `each byte is in its classes, and in no others`() {
        let token = letters.union(digits).union("!#$%&'*+-.^_`|~".utf8)
        let unreserved = letters.union(digits).union("-._~!$&'()*+,;=".utf8)
        for byte in 0...UInt8.max {
            #expect(Characters.isDigit(byte) == digits.contains(byte), "\(byte)")
            #expect(Characters.isLetter(byte) == letters.contains(byte), "\(byte)")
            #expect(Characters.isHexDigit(byte) == Set("0123456789abcdefABCDEF".utf8).contains(byte), "\(byte)")
            #expect(Characters.isToken(byte) == token.contains(byte), "\(byte)")
            #expect(Characters.isUnreservedOrDelimiter(byte) == unreserved.contains(byte), "\(byte)")
            // RFC 9110 §5.5: no control character but a tab, and any byte above ASCII.
            let isControl = byte < 0x20 || byte == 0x7F
            #expect(Characters.isFieldValue(byte) == (!isControl || byte == 9), "\(byte)")
            let isUpper = (0x41...0x5A).contains(byte)
            #expect(Characters.lowercased(byte) == (isUpper ? byte + 32 : byte), "\(byte)")
        }
    }

    @Test func `a token has one character at least`() {
        #expect(Characters.isToken("x-token") && !Characters.isToken("") && !Characters.isToken("a b"))
    }

    @Test(arguments: [
        ("", true), ("abc", true), ("%41", true), ("%aF%00", true), ("a%4", false), ("%", false), ("%4g", false),
        ("%%41", false), ("a/b", false), ("é", false),
    ])
    func `percent-encoded bytes are whole`(text: String, isValid: Bool) {
        #expect(Characters.isPercentEncoded(Array(text.utf8)) { Characters.isLetter($0) } == isValid)
    }
}
