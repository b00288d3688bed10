// SPDX-License-Identifier: Apache-2.0

/// Why something cannot be sealed to a public key, or opened.
package enum HPKEError: Error, Sendable, Equatable {
    /// A public key has another length than ``X25519KeyPair/byteCount``, or everybody knows the secret that it leads to.
    case publicKeyInvalid
    /// There are fewer bytes than any sealed message has.
    case tooShort
    /// It was sealed by somebody else, to another key, for another purpose, or was changed.
    case notGenuine
}

/// Encrypts to somebody's public key (RFC 9180): auth mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM.
///
/// A message that opens was sealed with the sender's private key, or with the receiver's own.
package enum HPKE {
    /// How many bytes a sealed message has more than its content: the ephemeral public key, and the tag.
    package static let overheadByteCount = X25519KeyPair.byteCount + AESGCM.tagByteCount

    /// Encrypts one message.
    ///
    /// - Parameter info: the purpose, and where the message belongs. It must be the same when the message is opened.
    /// - Returns: the ephemeral public key, then as many bytes as `content`, and the tag.
    package static func seal(
        _ content: [UInt8], to publicKey: [UInt8], from sender: X25519KeyPair, info: [UInt8]
    ) throws(HPKEError) -> [UInt8] {
        let context = try HPKEContext(sealingTo: publicKey, from: sender, info: info, ephemeral: .random())
        return context.encapsulated + context.seal(content, authenticating: [])
    }

    /// Decrypts the result of ``seal(_:to:from:info:)``.
    ///
    /// - Parameter sender: the public key of the expected sender.
    package static func open(
        _ sealed: [UInt8], with keys: X25519KeyPair, from sender: [UInt8], info: [UInt8]
    ) throws(HPKEError) -> [UInt8] {
        guard sealed.count >= overheadByteCount else { throw .tooShort }
        let context = try HPKEContext(
            opening: Array(sealed.prefix(X25519KeyPair.byteCount)), with: keys, from: sender, info: info)
        return try context.open(Array(sealed.dropFirst(X25519KeyPair.byteCount)), authenticating: [])
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

/// The values that sender and receiver agree on (§5), for one message.
struct HPKEContext: Sendable {
    /// The ephemeral public key, which goes to the receiver.
    let encapsulated: [UInt8]
    let key: [UInt8]
    let nonce: [UInt8]

    /// - Parameter ephemeral: used once, for this context.
    init(
        sealingTo receiver: [UInt8], from sender: X25519KeyPair, info: [UInt8], ephemeral: X25519KeyPair
    ) throws(HPKEError) {
        guard let secret = ephemeral.sharedSecret(with: receiver), let proof = sender.sharedSecret(with: receiver)
        else { throw .publicKeyInvalid }
        self.init(
            secret + proof, encapsulated: ephemeral.publicKey, receiver: receiver, sender: sender.publicKey, info: info)
    }

    init(
        opening encapsulated: [UInt8], with receiver: X25519KeyPair, from sender: [UInt8], info: [UInt8]
    ) throws(HPKEError) {
        guard let secret = receiver.sharedSecret(with: encapsulated), let proof = receiver.sharedSecret(with: sender)
        else { throw .publicKeyInvalid }
        self.init(
            secret + proof, encapsulated: encapsulated, receiver: receiver.publicKey, sender: sender, info: info)
    }

    /// The key schedule of the auth mode, in which the sender's key takes part (§5.1).
    private init(_ secrets: [UInt8], encapsulated: [UInt8], receiver: [UInt8], sender: [UInt8], info: [UInt8]) {
        let shared = Self.sharedSecret(secrets, encapsulated: encapsulated, receiver: receiver, sender: sender)
        let suite = LabeledHKDF.suite
        let authMode: UInt8 = 2
        let context =
            [authMode] + suite.extract([], label: "psk_id_hash") + suite.extract(info, label: "info_hash")
        let scheduled = suite.extract([], salt: shared, label: "secret")
        self.encapsulated = encapsulated
        key = suite.expand(scheduled, label: "key", info: context, byteCount: AESGCM.keyByteCount)
        nonce = suite.expand(scheduled, label: "base_nonce", info: context, byteCount: AESGCM.nonceByteCount)
    }

    /// The curve's result for both pairs of keys, bound to the three public keys (§4.1).
    static func sharedSecret(
        _ secrets: [UInt8], encapsulated: [UInt8], receiver: [UInt8], sender: [UInt8]
    ) -> [UInt8] {
        let kem = LabeledHKDF.kem
        return kem.expand(
            kem.extract(secrets, label: "eae_prk"), label: "shared_secret", info: encapsulated + receiver + sender,
            byteCount: SHA256.byteCount)
    }

    /// The only message: a second one would have the same nonce.
    func seal(_ content: [UInt8], authenticating context: [UInt8]) -> [UInt8] {
        AESGCM.seal(content, key: key, nonce: nonce, authenticating: context)
    }

    func open(_ sealed: [UInt8], authenticating context: [UInt8]) throws(HPKEError) -> [UInt8] {
        guard let content = AESGCM.open(sealed, key: key, nonce: nonce, authenticating: context) else {
            throw .notGenuine
        }
        return content
    }
}

/// HKDF with its purpose in the input (§4), so no key is ever used for two purposes.
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
