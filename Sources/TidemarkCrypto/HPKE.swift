// SPDX-License-Identifier: Apache-2.0

/// Why something cannot be sealed to a public key, or opened.
package enum HPKEError: Error, Sendable, Equatable {
    /// The public key has another length than ``X25519KeyPair/byteCount``, or everybody knows the secret that it leads to.
    case publicKeyInvalid
    /// There are fewer bytes than any sealed message has.
    case tooShort
    /// It was sealed to another key, for another purpose, or was changed.
    case notGenuine
}

/// Encrypts to somebody's public key (RFC 9180): base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM.
///
/// Whoever has the public key can seal. So what is opened proves nothing of who sealed it.
package enum HPKE {
    /// How many bytes a sealed message has more than its content: the ephemeral public key, and the tag.
    package static let overheadByteCount = X25519KeyPair.byteCount + AESGCM.tagByteCount

    /// Encrypts one message.
    ///
    /// - Parameters:
    ///   - info: the purpose. It must be the same when the message is opened.
    ///   - context: what else must be the same.
    /// - Returns: the ephemeral public key, then as many bytes as `content`, and the tag.
    package static func seal(
        _ content: [UInt8], to publicKey: [UInt8], info: [UInt8], authenticating context: [UInt8] = []
    ) throws(HPKEError) -> [UInt8] {
        var sender = try HPKEContext(sealingTo: publicKey, info: info, ephemeral: .random())
        return sender.encapsulated + sender.seal(content, authenticating: context)
    }

    /// Decrypts the result of ``seal(_:to:info:authenticating:)``.
    package static func open(
        _ sealed: [UInt8], with keys: X25519KeyPair, info: [UInt8], authenticating context: [UInt8] = []
    ) throws(HPKEError) -> [UInt8] {
        guard sealed.count >= overheadByteCount else { throw .tooShort }
        var receiver = try HPKEContext(
            opening: Array(sealed.prefix(X25519KeyPair.byteCount)), with: keys, info: info)
        return try receiver.open(Array(sealed.dropFirst(X25519KeyPair.byteCount)), authenticating: context)
    }

    /// A key pair of a secret, the same each time (§7.1.3).
    ///
    /// - Parameter secret: at least 32 bytes that nobody can guess.
    package static func keyPair(from secret: [UInt8]) -> X25519KeyPair {
        precondition(secret.count >= X25519KeyPair.byteCount)
        let key = LabeledHKDF.kem.extract(secret, label: "dkp_prk")
        let bytes = LabeledHKDF.kem.expand(key, label: "sk", info: [], byteCount: X25519KeyPair.byteCount)
        guard let pair = X25519KeyPair(privateKey: bytes) else { preconditionFailure("any 32 bytes are a key") }
        return pair
    }
}

/// What sender and receiver agree on (§5): messages are opened in the order in which they were sealed.
struct HPKEContext: Sendable {
    /// The ephemeral public key, which goes to the receiver.
    let encapsulated: [UInt8]
    let key: [UInt8]
    let baseNonce: [UInt8]
    private var sequence: UInt64 = 0

    /// - Parameter ephemeral: used once, for this context.
    init(sealingTo publicKey: [UInt8], info: [UInt8], ephemeral: X25519KeyPair) throws(HPKEError) {
        guard let secret = ephemeral.sharedSecret(with: publicKey) else { throw .publicKeyInvalid }
        self.init(secret, encapsulated: ephemeral.publicKey, receiver: publicKey, info: info)
    }

    init(opening encapsulated: [UInt8], with keys: X25519KeyPair, info: [UInt8]) throws(HPKEError) {
        guard let secret = keys.sharedSecret(with: encapsulated) else { throw .publicKeyInvalid }
        self.init(secret, encapsulated: encapsulated, receiver: keys.publicKey, info: info)
    }

    /// The key schedule of the base mode, which has no key that both had before (§5.1).
    private init(_ secret: [UInt8], encapsulated: [UInt8], receiver: [UInt8], info: [UInt8]) {
        let shared = Self.sharedSecret(secret, encapsulated: encapsulated, receiver: receiver)
        let suite = LabeledHKDF.suite
        let baseMode: UInt8 = 0
        let context =
            [baseMode] + suite.extract([], label: "psk_id_hash") + suite.extract(info, label: "info_hash")
        let scheduled = suite.extract([], salt: shared, label: "secret")
        self.encapsulated = encapsulated
        key = suite.expand(scheduled, label: "key", info: context, byteCount: AESGCM.keyByteCount)
        baseNonce = suite.expand(scheduled, label: "base_nonce", info: context, byteCount: AESGCM.nonceByteCount)
    }

    /// What the curve gives, bound to both public keys (§4.1).
    static func sharedSecret(_ secret: [UInt8], encapsulated: [UInt8], receiver: [UInt8]) -> [UInt8] {
        let kem = LabeledHKDF.kem
        return kem.expand(
            kem.extract(secret, label: "eae_prk"), label: "shared_secret", info: encapsulated + receiver,
            byteCount: SHA256.byteCount)
    }

    mutating func seal(_ content: [UInt8], authenticating context: [UInt8]) -> [UInt8] {
        let sealed = AESGCM.seal(content, key: key, nonce: nonce, authenticating: context)
        // 2^64 messages are never sealed.
        sequence += 1
        return sealed
    }

    /// A message that does not open does not count.
    mutating func open(_ sealed: [UInt8], authenticating context: [UInt8]) throws(HPKEError) -> [UInt8] {
        guard let content = AESGCM.open(sealed, key: key, nonce: nonce, authenticating: context) else {
            throw .notGenuine
        }
        sequence += 1
        return content
    }

    /// The message's number, combined with what only sender and receiver know (§5.2).
    private var nonce: [UInt8] {
        var nonce = baseNonce
        for place in 0..<8 {
            nonce[nonce.count - 1 - place] ^= UInt8(truncatingIfNeeded: sequence >> UInt64(8 * place))
        }
        return nonce
    }
}

/// HKDF with what it is for in its input (§4), so no key is ever used for two purposes.
private struct LabeledHKDF {
    /// DHKEM(X25519, HKDF-SHA256) is 0x0020.
    static let kem = LabeledHKDF(suiteID: Array("KEM".utf8) + [0x00, 0x20])
    /// With HKDF-SHA256, 0x0001, and AES-256-GCM, 0x0002.
    static let suite = LabeledHKDF(suiteID: Array("HPKE".utf8) + [0x00, 0x20, 0x00, 0x01, 0x00, 0x02])

    let suiteID: [UInt8]

    func extract(_ secret: [UInt8], salt: [UInt8] = [], label: String) -> [UInt8] {
        HKDFSHA256.extract(version + suiteID + Array(label.utf8) + secret, salt: salt)
    }

    func expand(_ key: [UInt8], label: String, info: [UInt8], byteCount: Int) -> [UInt8] {
        let length = [UInt8(truncatingIfNeeded: byteCount >> 8), UInt8(truncatingIfNeeded: byteCount)]
        return HKDFSHA256.expand(
            key, info: length + version + suiteID + Array(label.utf8) + info, byteCount: byteCount)
    }

    private var version: [UInt8] { Array("HPKE-v1".utf8) }
}
