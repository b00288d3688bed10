// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

@Suite struct HashingTests {
    /// FIPS 180-4 examples, and the key of RFC 6455 §1.3.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11", "b37a4f2cc0624f1690f64606cf385945b2bec4ea"),
    ])
    func `SHA-1 gives the published digests`(text: String, digest: String) {
        #expect(Hex.encode(SHA1.hash(Array(text.utf8))) == digest)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives the published digests, in one piece and in any two`(text: String, digest: String) {
        let bytes = Array(text.utf8)
        #expect(Hex.encode(SHA256.hash(bytes)) == digest)
        for split in 0...bytes.count {
            var hash = SHA256()
            hash.update(Array(bytes[..<split]))
            hash.update(Array(bytes[split...]))
            #expect(Hex.encode(hash.finish()) == digest)
        }
    }
}
