// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

@Suite struct AESGCMTests {
    struct Vector: Sendable {
        let key: String
        let nonce: String
        let content: String
        let context: String
        let sealed: String
    }

    private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let nonce = "cafebabefacedbaddecaf888"
    private static let content =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    private static let ciphertext =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
    private static let zeros = String(repeating: "0", count: 64)

    /// Test cases 13 to 16 of the submission of GCM to NIST (McGrew and Viega), those of 256 bits.
    private static let vectors = [
        Vector(
            key: zeros, nonce: String(zeros.prefix(24)), content: "", context: "",
            sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        Vector(
            key: zeros, nonce: String(zeros.prefix(24)), content: String(zeros.prefix(32)), context: "",
            sealed: "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919"),
        Vector(
            key: key, nonce: nonce, content: content + "1aafd255", context: "",
            sealed: ciphertext + "898015ad" + "b094dac5d93471bdec1a502270e3cc6c"),
        Vector(
            key: key, nonce: nonce, content: content, context: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: ciphertext + "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    private static func bytes(_ digits: String) throws -> [UInt8] { try #require(Hex.decode(digits)) }

    @Test(arguments: vectors.indices)
    func `the published vectors, there and back`(index: Int) throws {
        let vector = Self.vectors[index]
        let (key, nonce) = (try Self.bytes(vector.key), try Self.bytes(vector.nonce))
        let (content, context) = (try Self.bytes(vector.content), try Self.bytes(vector.context))
        let sealed = AESGCM.seal(content, key: key, nonce: nonce, authenticating: context)
        #expect(Hex.encode(sealed) == vector.sealed)
        #expect(AESGCM.open(sealed, key: key, nonce: nonce, authenticating: context) == content)
    }

    @Test func `any bit that is another one, anywhere, opens nothing`() throws {
        let vector = Self.vectors[3]
        let (key, nonce) = (try Self.bytes(vector.key), try Self.bytes(vector.nonce))
        let (sealed, context) = (try Self.bytes(vector.sealed), try Self.bytes(vector.context))
        func flipped(_ bytes: [UInt8], _ bit: Int) -> [UInt8] {
            var bytes = bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            return bytes
        }
        for bit in 0..<sealed.count * 8 {
            #expect(AESGCM.open(flipped(sealed, bit), key: key, nonce: nonce, authenticating: context) == nil)
        }
        for bit in 0..<nonce.count * 8 {
            #expect(AESGCM.open(sealed, key: key, nonce: flipped(nonce, bit), authenticating: context) == nil)
        }
        for bit in 0..<context.count * 8 {
            #expect(AESGCM.open(sealed, key: key, nonce: nonce, authenticating: flipped(context, bit)) == nil)
        }
        for bit in 0..<key.count * 8 {
            #expect(AESGCM.open(sealed, key: flipped(key, bit), nonce: nonce, authenticating: context) == nil)
        }
    }

    @Test func `what is too short, or has a key or nonce of another length, opens nothing`() throws {
        let vector = Self.vectors[3]
        let (key, nonce) = (try Self.bytes(vector.key), try Self.bytes(vector.nonce))
        let (sealed, context) = (try Self.bytes(vector.sealed), try Self.bytes(vector.context))
        for count in 0..<sealed.count {
            #expect(AESGCM.open(Array(sealed[..<count]), key: key, nonce: nonce, authenticating: context) == nil)
        }
        #expect(AESGCM.open(sealed, key: Array(key.dropLast()), nonce: nonce, authenticating: context) == nil)
        #expect(AESGCM.open(sealed, key: key, nonce: nonce + [0], authenticating: context) == nil)
    }
}
