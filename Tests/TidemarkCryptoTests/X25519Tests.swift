// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

@Suite struct X25519Tests {
    private static func bytes(_ digits: String) throws -> [UInt8] { try #require(Hex.decode(digits)) }

    /// RFC 7748 §5.2: a private key, a public one, and what both lead to.
    @Test(arguments: [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
        ),
    ])
    func `the secrets are those of RFC 7748`(privateKey: String, publicKey: String, secret: String) throws {
        let pair = try #require(X25519KeyPair(privateKey: try Self.bytes(privateKey)))
        let found = try #require(pair.sharedSecret(with: try Self.bytes(publicKey)))
        #expect(Hex.encode(found) == secret)
    }

    @Test func `two agree on a secret that is theirs alone, and no two pairs are the same`() throws {
        let (alice, bob, carol) = (X25519KeyPair.random(), X25519KeyPair.random(), X25519KeyPair.random())
        let secret = try #require(alice.sharedSecret(with: bob.publicKey))
        #expect(bob.sharedSecret(with: alice.publicKey) == secret)
        #expect(carol.sharedSecret(with: alice.publicKey) != secret)
        #expect(carol.sharedSecret(with: bob.publicKey) != secret)
        #expect(X25519KeyPair(privateKey: alice.privateKey) == alice)
        #expect(alice.publicKey != bob.publicKey && alice.publicKey.count == X25519KeyPair.byteCount)
    }
}
