// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto

/// An account's key on a device: it encrypts the keys of zones ("Keys.proto").
struct AccountSecret: Sendable, Equatable {
    /// 16 bytes that reveal nothing of the key.
    let id: [UInt8]
    let key: [UInt8]

    /// - Returns: nil unless there are 32 bytes.
    init?(_ key: [UInt8]) {
        guard key.count == AESGCM.keyByteCount else { return nil }
        id = Array(SHA256.hash(Array("tidemark account key 1".utf8) + key).prefix(16))
        self.key = key
    }

    static func randomKey() -> [UInt8] { SecureRandom.bytes(AESGCM.keyByteCount) }

    /// The stored form of a zone's key.
    func wrap(_ secret: ZoneSecret, container: String, zoneName: String) -> [UInt8] {
        let nonce = SecureRandom.bytes(AESGCM.nonceByteCount)
        let context = Self.context(container, zoneName, secret.id)
        return nonce + AESGCM.seal(secret.key, key: key, nonce: nonce, authenticating: context)
    }

    /// Nil if it was encrypted with another account's key, for another zone, or was changed.
    func unwrap(_ wrapped: [UInt8], id: [UInt8], container: String, zoneName: String) -> ZoneSecret? {
        guard wrapped.count > AESGCM.nonceByteCount,
            let key = AESGCM.open(
                Array(wrapped[AESGCM.nonceByteCount...]), key: key, nonce: Array(wrapped[..<AESGCM.nonceByteCount]),
                authenticating: Self.context(container, zoneName, id))
        else { return nil }
        return ZoneSecret(id: id, key: key)
    }

    private static func context(_ container: String, _ zoneName: String, _ id: [UInt8]) -> [UInt8] {
        SealingContext.bytes("tidemark zone key 1", container, zoneName) + SealingContext.bytes(id)
    }
}

/// A key for a zone's encrypted values.
struct ZoneSecret: Sendable, Equatable {
    let id: [UInt8]
    let key: [UInt8]

    static func random() -> ZoneSecret {
        ZoneSecret(id: SecureRandom.bytes(16), key: SecureRandom.bytes(AESGCM.keyByteCount))
    }
}

/// The data that is authenticated with a ciphertext: where it belongs ("Fields.proto").
enum SealingContext {
    static func bytes(_ texts: String...) -> [UInt8] {
        texts.flatMap { bytes(Array($0.utf8)) }
    }

    static func bytes(_ part: [UInt8]) -> [UInt8] {
        let length = UInt32(clamping: part.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) } + part
    }
}
