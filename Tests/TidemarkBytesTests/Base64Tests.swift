// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes

@Suite struct Base64Tests {
    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `base 64 is that of RFC 4648`(plain: String, encoded: String) {
        let bytes = Array(plain.utf8)
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.decode(encoded) == bytes)
        let bare = String(encoded.filter { $0 != "=" })
        #expect(Base64.encodeURLSafe(bytes) == bare)
    }

    @Test func `the alphabets differ in two characters`() {
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
        #expect(Base64.encodeURLSafe([0xFB, 0xFF]) == "-_8")
        #expect(Base64.decode("-_8=") == nil)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Zm9v====", "Zh==", "Zm9=", "=Zg=", "Z=g=", "Zm9v\n", " Zm9v", "Zm 9v", "Zm9é",
        "====", "==", "Zm9v=", "\u{0}\u{0}\u{0}\u{0}",
    ])
    func `what is not canonical base 64 is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `every byte and length survives`() {
        for count in 0...260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }
}
