// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes

@testable import TidemarkCrypto

/// The vectors that RFC 9180 publishes (Appendix A, "test-vectors.json") for mode 0, KEM 0x0020, KDF 0x0001 and AEAD 0x0002.
@Suite struct HPKETests {
    private static let info = "4f6465206f6e2061204772656369616e2055726e"
    private static let receiverSeed = "dac33b0e9db1b59dbbea58d59a14e7b5896e9bdf98fad6891e99d1686492b9ee"
    private static let ephemeralSeed = "2cd7c601cefb3d42a62b04b7a9041494c06c7843818e0ce28a8f704ae7ab20f9"
    private static let receiverPrivate = "497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d"
    private static let receiverPublic = "430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c"
    private static let ephemeralPrivate = "179d4b53b6365c45b600c4163b61d95cbc2f4d9e36f1695558dce265ab8bab11"
    private static let encapsulated = "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256"
    private static let sharedSecret = "3101c54c3a4f87439eaac080699ed9bbcc726ffe44e860c0424ccb7e3e2ead7b"
    private static let key = "f50b0609186798729ed0564b36ef2ef8044f1f9d05636874d1f46c819c7a669f"
    private static let baseNonce = "151d9929e2449747889bc923"
    private static let content = "4265617574792069732074727574682c20747275746820626561757479"

    struct Message: Sendable {
        let number: Int
        let nonce: String
        let sealed: String
    }

    /// Each message has the additional data "Count-" and its number.
    private static let messages = [
        Message(
            number: 0, nonce: "151d9929e2449747889bc923",
            sealed: "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be99319"
                + "80a41de125a925cdad859d5b7a"),
        Message(
            number: 1, nonce: "151d9929e2449747889bc922",
            sealed: "2c43aff25343fdbff864506f0818b9d87df84ea01b1a2144d23b4d40c26bf655"
                + "fdf197fe40297a8aebeed5cc2d"),
        Message(
            number: 2, nonce: "151d9929e2449747889bc921",
            sealed: "e0a8f2cf92ff61215edbb8c55dc31fe9e2eb42a5685867bb6854211542099f9e"
                + "940c4b41c192bc390835b1a5f7"),
        Message(
            number: 3, nonce: "151d9929e2449747889bc920",
            sealed: "a8ea1deafbe4935d0d484a026301a339d4668c43c37f5e289bf758c7aeb3e281"
                + "2d0321c12b71978855883420c0"),
        Message(
            number: 4, nonce: "151d9929e2449747889bc927",
            sealed: "448a8892f261cbb6bf5b7b64a4fae8a2c86492494b069c10525895d871c27c2f"
                + "12cd17e0588fedaba9f7b0cd4c"),
        Message(
            number: 255, nonce: "151d9929e2449747889bc9dc",
            sealed: "f6ad1823eb0b932d04b6e23010eea64f1fe5edd0583dae5ba27ca6363f4ea104"
                + "bd217331460ef4208040423641"),
        Message(
            number: 256, nonce: "151d9929e2449747889bc823",
            sealed: "53624f4f9f173453b14e633b45390ff54cacaa4428d44baee1bff8133fab1ab3"
                + "afe60f88e4634b525c54e92eda"),
    ]

    private static func bytes(_ digits: String) throws -> [UInt8] { try #require(Hex.decode(digits)) }

    private static func receiver() throws -> X25519KeyPair { HPKE.keyPair(from: try bytes(receiverSeed)) }

    private static func count(_ number: Int) -> [UInt8] { Array("Count-\(number)".utf8) }

    @Test func `R-857: key pairs, shared secret, key and nonce are those of RFC 9180's vectors`() throws {
        let receiver = try Self.receiver()
        #expect(Hex.encode(receiver.privateKey) == Self.receiverPrivate)
        #expect(Hex.encode(receiver.publicKey) == Self.receiverPublic)
        let ephemeral = HPKE.keyPair(from: try Self.bytes(Self.ephemeralSeed))
        #expect(Hex.encode(ephemeral.privateKey) == Self.ephemeralPrivate)
        #expect(Hex.encode(ephemeral.publicKey) == Self.encapsulated)
        let onCurve = try #require(ephemeral.sharedSecret(with: receiver.publicKey))
        #expect(receiver.sharedSecret(with: ephemeral.publicKey) == onCurve)
        let secret = HPKEContext.sharedSecret(
            onCurve, encapsulated: ephemeral.publicKey, receiver: receiver.publicKey)
        #expect(Hex.encode(secret) == Self.sharedSecret)
        let sender = try HPKEContext(
            sealingTo: receiver.publicKey, info: try Self.bytes(Self.info), ephemeral: ephemeral)
        #expect(Hex.encode(sender.encapsulated) == Self.encapsulated)
        #expect(Hex.encode(sender.key) == Self.key)
        #expect(Hex.encode(sender.baseNonce) == Self.baseNonce)
    }

    @Test func `R-857: 257 messages in order, there and back, with the published ones among them`() throws {
        let (receiver, info) = (try Self.receiver(), try Self.bytes(Self.info))
        let ephemeral = HPKE.keyPair(from: try Self.bytes(Self.ephemeralSeed))
        var sending = try HPKEContext(sealingTo: receiver.publicKey, info: info, ephemeral: ephemeral)
        var receiving = try HPKEContext(opening: sending.encapsulated, with: receiver, info: info)
        let content = try Self.bytes(Self.content)
        var published = 0
        for number in 0...256 {
            let sealed = sending.seal(content, authenticating: Self.count(number))
            if let vector = Self.messages.first(where: { $0.number == number }) {
                published += 1
                #expect(Hex.encode(sealed) == vector.sealed)
                // The nonce itself, by the cipher alone.
                let opened = AESGCM.open(
                    sealed, key: try Self.bytes(Self.key), nonce: try Self.bytes(vector.nonce),
                    authenticating: Self.count(number))
                #expect(opened == content)
            }
            #expect(try receiving.open(sealed, authenticating: Self.count(number)) == content)
        }
        #expect(published == Self.messages.count)
    }

    @Test func `R-857: the first published message opens at once, and a sealed one is another each time`() throws {
        let (receiver, info) = (try Self.receiver(), try Self.bytes(Self.info))
        let content = try Self.bytes(Self.content)
        let published = try Self.bytes(Self.encapsulated + Self.messages[0].sealed)
        #expect(try HPKE.open(published, with: receiver, info: info, authenticating: Self.count(0)) == content)
        let first = try HPKE.seal(content, to: receiver.publicKey, info: info)
        let second = try HPKE.seal(content, to: receiver.publicKey, info: info)
        #expect(first != second)
        #expect(first.count == content.count + HPKE.overheadByteCount)
        for sealed in [first, second] { #expect(try HPKE.open(sealed, with: receiver, info: info) == content) }
        let empty = try HPKE.seal([], to: receiver.publicKey, info: [])
        #expect(empty.count == HPKE.overheadByteCount)
        #expect(try HPKE.open(empty, with: receiver, info: []) == [])
    }

    /// The points of low order (RFC 7748 §6.1), in the form that cr.yp.to lists, and one with the bit that is not looked at.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
    ])
    func `R-857: a public key whose secret everybody knows is refused, to seal and to open`(point: String) throws {
        let receiver = try Self.receiver()
        let bytes = try Self.bytes(point)
        #expect(receiver.sharedSecret(with: bytes) == nil)
        #expect(throws: HPKEError.publicKeyInvalid) { try HPKE.seal([1], to: bytes, info: []) }
        let sealed = try HPKE.seal([1], to: receiver.publicKey, info: [])
        #expect(throws: HPKEError.publicKeyInvalid) {
            try HPKE.open(bytes + Array(sealed.dropFirst(32)), with: receiver, info: [])
        }
    }

    @Test func `R-857: keys and messages of another length are refused`() throws {
        let receiver = try Self.receiver()
        for count in [0, 1, 31, 33, 64] {
            let bytes = [UInt8](repeating: 9, count: count)
            #expect(X25519KeyPair(privateKey: bytes) == nil)
            #expect(receiver.sharedSecret(with: bytes) == nil)
            #expect(throws: HPKEError.publicKeyInvalid) { try HPKE.seal([1], to: bytes, info: []) }
        }
        let sealed = try HPKE.seal([], to: receiver.publicKey, info: [])
        for count in 0..<sealed.count {
            #expect(throws: HPKEError.tooShort) {
                try HPKE.open(Array(sealed.prefix(count)), with: receiver, info: [])
            }
        }
    }

    @Test func `R-857: any bit that is another one, another key, purpose or data open nothing`() throws {
        let receiver = try Self.receiver()
        let sealed = try HPKE.seal([7, 8], to: receiver.publicKey, info: [1], authenticating: [2])
        // NB: the highest bit of the ephemeral key's last byte is not part of the point, but it is part of the context.
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: HPKEError.self) {
                try HPKE.open(changed, with: receiver, info: [1], authenticating: [2])
            }
        }
        #expect(throws: HPKEError.notGenuine) { try HPKE.open(sealed, with: receiver, info: [], authenticating: [2]) }
        #expect(throws: HPKEError.notGenuine) { try HPKE.open(sealed, with: receiver, info: [1]) }
        #expect(throws: HPKEError.notGenuine) {
            try HPKE.open(sealed, with: .random(), info: [1], authenticating: [2])
        }
        #expect(try HPKE.open(sealed, with: receiver, info: [1], authenticating: [2]) == [7, 8])
    }

    @Test func `a message out of its order does not open, and is not counted`() throws {
        let receiver = try Self.receiver()
        var sending = try HPKEContext(sealingTo: receiver.publicKey, info: [], ephemeral: .random())
        var receiving = try HPKEContext(opening: sending.encapsulated, with: receiver, info: [])
        let (first, second) = (sending.seal([1], authenticating: []), sending.seal([2], authenticating: []))
        #expect(throws: HPKEError.notGenuine) { try receiving.open(second, authenticating: []) }
        #expect(try receiving.open(first, authenticating: []) == [1])
        #expect(throws: HPKEError.notGenuine) { try receiving.open(first, authenticating: []) }
        #expect(try receiving.open(second, authenticating: []) == [2])
    }
}
