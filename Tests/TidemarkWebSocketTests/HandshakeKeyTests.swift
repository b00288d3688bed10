// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkWebSocket

@Suite struct HandshakeKeyTests {
    @Test func `a server answers as in RFC 6455 §1.3`() {
        #expect(HandshakeKey.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(arguments: [
        ("dGhlIHNhbXBsZSBub25jZQ==", true), ("AAAAAAAAAAAAAAAAAAAAAA==", true), ("", false),
        ("dGhlIHNhbXBsZSBub25jZQ", false), ("dGhlIHNhbXBsZSBub25jZTEx", false), ("dGhlIHNhbXBsZSBub25j!Q==", false),
        ("dGhlIHNhbXBsZSBub25jZQ== ", false), ("éééééééééééé", false),
    ])
    func `a key is the base 64 of 16 bytes`(key: String, isValid: Bool) {
        #expect(HandshakeKey.isValid(key) == isValid)
    }
}
