// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes

@testable import TidemarkCrypto

/// The vectors that RFC 9180 publishes for mode 2, KEM 0x0020 and KDF 0x0001 (A.1.3), to the shared secret. With AEAD 0x0002, which it
/// prints for no auth mode, the values of another implementation, `pyhpke`. It makes those that are printed for AEAD 0x0001 too.
@Suite struct HPKETests {
    private static let info = "4f6465206f6e2061204772656369616e2055726e"
    private static let receiverSeed = "f1d4a30a4cef8d6d4e3b016e6fd3799ea057db4f345472ed302a67ce1c20cdec"
    private static let senderSeed = "94b020ce91d73fca4649006c7e7329a67b40c55e9e93cc907d282bbbff386f58"
    private static let ephemeralSeed = "6e6d8f200ea2fb20c30b003a8b4f433d2f4ed4c2658d5bc8ce2fef718059c9f7"
    private static let receiverPrivate = "fdea67cf831f1ca98d8e27b1f6abeb5b7745e9d35348b80fa407ff6958f9137e"
    private static let receiverPublic = "1632d5c2f71c2b38d0a8fcc359355200caa8b1ffdf28618080466c909cb69b2e"
    private static let senderPrivate = "dc4a146313cce60a278a5323d321f051c5707e9c45ba21a3479fecdf76fc69dd"
    private static let senderPublic = "8b0c70873dc5aecb7f9ee4e62406a397b350e57012be45cf53b7105ae731790b"
    private static let ephemeralPrivate = "ff4442ef24fbc3c1ff86375b0be1e77e88a0de1e79b30896d73411c5ff4c3518"
    private static let encapsulated = "23fb952571a14a25e3d678140cd0e5eb47a0961bb18afcf85896e5453c312e76"
    private static let sharedSecret = "2d6db4cf719dc7293fcbf3fa64690708e44e2bebc81f84608677958c0d4448a7"
    private static let key = "6884556d5e84fdfff0a59e0618767cf21b8f2591c11793c109a7551ead7c7e7c"
    private static let nonce = "163c257ba3c086a3bab5f0f8"
    private static let content = "4265617574792069732074727574682c20747275746820626561757479"
    /// The first message, with the additional data "Count-0".
    private static let sealed =
        "5afc421af83c33a9e4de9f134e7870e607f6b5c0ea8806b08ea97c8b7676c9f55365094fee798f5e1aa18076c2"

    private static func bytes(_ digits: String) throws -> [UInt8] { try #require(Hex.decode(digits)) }

    private static func receiver() throws -> X25519KeyPair { HPKE.keyPair(from: try bytes(receiverSeed)) }

    private static func sender() throws -> X25519KeyPair { HPKE.keyPair(from: try bytes(senderSeed)) }

    @Test func `R-857: key pairs, shared secret, key, nonce and message are those of the vectors`() throws {
        let (receiver, sender) = (try Self.receiver(), try Self.sender())
        #expect(Hex.encode(receiver.privateKey) == Self.receiverPrivate)
        #expect(Hex.encode(receiver.publicKey) == Self.receiverPublic)
        #expect(Hex.encode(sender.privateKey) == Self.senderPrivate)
        #expect(Hex.encode(sender.publicKey) == Self.senderPublic)
        let ephemeral = HPKE.keyPair(from: try Self.bytes(Self.ephemeralSeed))
        #expect(Hex.encode(ephemeral.privateKey) == Self.ephemeralPrivate)
        #expect(Hex.encode(ephemeral.publicKey) == Self.encapsulated)
        let secrets = try [ephemeral, sender].flatMap { try #require($0.sharedSecret(with: receiver.publicKey)) }
        let secret = HPKEContext.sharedSecret(
            secrets, encapsulated: ephemeral.publicKey, receiver: receiver.publicKey, sender: sender.publicKey)
        #expect(Hex.encode(secret) == Self.sharedSecret)
        let info = try Self.bytes(Self.info)
        let sending = try HPKEContext(sealingTo: receiver.publicKey, from: sender, info: info, ephemeral: ephemeral)
        #expect(Hex.encode(sending.encapsulated) == Self.encapsulated)
        let receiving = try HPKEContext(
            opening: sending.encapsulated, with: receiver, from: sender.publicKey, info: info)
        for context in [sending, receiving] {
            #expect(Hex.encode(context.key) == Self.key)
            #expect(Hex.encode(context.nonce) == Self.nonce)
        }
        let (content, count) = (try Self.bytes(Self.content), Array("Count-0".utf8))
        #expect(Hex.encode(sending.seal(content, authenticating: count)) == Self.sealed)
        #expect(try receiving.open(try Self.bytes(Self.sealed), authenticating: count) == content)
    }

    @Test func `R-857: a message is sealed in another way each time`() throws {
        let (receiver, sender, info) = (try Self.receiver(), try Self.sender(), try Self.bytes(Self.info))
        let content = try Self.bytes(Self.content)
        let first = try HPKE.seal(content, to: receiver.publicKey, from: sender, info: info)
        let second = try HPKE.seal(content, to: receiver.publicKey, from: sender, info: info)
        #expect(first != second)
        #expect(first.count == content.count + HPKE.overheadByteCount)
        for sealed in [first, second] {
            #expect(try HPKE.open(sealed, with: receiver, from: sender.publicKey, info: info) == content)
        }
        let empty = try HPKE.seal([], to: receiver.publicKey, from: sender, info: [])
        #expect(empty.count == HPKE.overheadByteCount)
        #expect(try HPKE.open(empty, with: receiver, from: sender.publicKey, info: []) == [])
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
        let (receiver, sender) = (try Self.receiver(), try Self.sender())
        let bytes = try Self.bytes(point)
        #expect(receiver.sharedSecret(with: bytes) == nil)
        #expect(throws: HPKEError.publicKeyInvalid) { try HPKE.seal([1], to: bytes, from: sender, info: []) }
        let sealed = try HPKE.seal([1], to: receiver.publicKey, from: sender, info: [])
        #expect(throws: HPKEError.publicKeyInvalid) {
            try HPKE.open(bytes + Array(sealed.dropFirst(32)), with: receiver, from: sender.publicKey, info: [])
        }
        #expect(throws: HPKEError.publicKeyInvalid) { try HPKE.open(sealed, with: receiver, from: bytes, info: []) }
    }

    @Test func `R-857: keys and messages of another length are refused`() throws {
        let (receiver, sender) = (try Self.receiver(), try Self.sender())
        let sealed = try HPKE.seal([], to: receiver.publicKey, from: sender, info: [])
        for count in [0, 1, 31, 33, 64] {
            let bytes = [UInt8](repeating: 9, count: count)
            #expect(X25519KeyPair(privateKey: bytes) == nil)
            #expect(receiver.sharedSecret(with: bytes) == nil)
            #expect(throws: HPKEError.publicKeyInvalid) { try HPKE.seal([1], to: bytes, from: sender, info: []) }
            #expect(throws: HPKEError.publicKeyInvalid) { try HPKE.open(sealed, with: receiver, from: bytes, info: []) }
        }
        for count in 0..<sealed.count {
            #expect(throws: HPKEError.tooShort) {
                try HPKE.open(Array(sealed.prefix(count)), with: receiver, from: sender.publicKey, info: [])
            }
        }
    }

    @Test func `R-857: any bit that is another one, another key, sender or purpose open nothing`() throws {
        let (receiver, sender) = (try Self.receiver(), try Self.sender())
        let sealed = try HPKE.seal([7, 8], to: receiver.publicKey, from: sender, info: [1])
        func open(_ sealed: [UInt8], _ keys: X25519KeyPair, _ sender: X25519KeyPair, _ info: [UInt8]) throws -> [UInt8]
        {
            try HPKE.open(sealed, with: keys, from: sender.publicKey, info: info)
        }
        // NB: the highest bit of the ephemeral key's last byte is not part of the point, but it is part of the context.
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: HPKEError.self) { try open(changed, receiver, sender, [1]) }
        }
        #expect(throws: HPKEError.notGenuine) { try open(sealed, receiver, sender, []) }
        #expect(throws: HPKEError.notGenuine) { try open(sealed, .random(), sender, [1]) }
        #expect(throws: HPKEError.notGenuine) { try open(sealed, receiver, .random(), [1]) }
        // Whoever has no private key of the sender seals nothing in the sender's name.
        let forged = try HPKE.seal([7, 8], to: receiver.publicKey, from: .random(), info: [1])
        #expect(throws: HPKEError.notGenuine) { try open(forged, receiver, sender, [1]) }
        #expect(try open(sealed, receiver, sender, [1]) == [7, 8])
    }
}
