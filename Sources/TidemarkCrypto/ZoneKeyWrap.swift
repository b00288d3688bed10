// SPDX-License-Identifier: Apache-2.0

/// Encrypts the key of a zone with the key of an account, and decrypts it ("Keys.proto"). Devices do it, and servers that
/// have both accounts' keys in escrow when one shares a zone with the other.
package enum ZoneKeyWrap {
    /// The wrapped form: a nonce, the key and a tag.
    ///
    /// - Parameters:
    ///   - key: the zone's, 32 bytes.
    ///   - id: that of the zone's key.
    ///   - accountKey: 32 bytes.
    package static func wrap(
        _ key: [UInt8], id: [UInt8], with accountKey: [UInt8], container: String, zoneName: String
    ) -> [UInt8] {
        let nonce = SecureRandom.bytes(AESGCM.nonceByteCount)
        let context = context(container, zoneName, id)
        return nonce + AESGCM.seal(key, key: accountKey, nonce: nonce, authenticating: context)
    }

    /// Nil if it was wrapped with another account's key, for another zone, or was changed.
    package static func unwrap(
        _ wrapped: [UInt8], id: [UInt8], with accountKey: [UInt8], container: String, zoneName: String
    ) -> [UInt8]? {
        guard wrapped.count > AESGCM.nonceByteCount else { return nil }
        return AESGCM.open(
            Array(wrapped[AESGCM.nonceByteCount...]), key: accountKey, nonce: Array(wrapped[..<AESGCM.nonceByteCount]),
            authenticating: context(container, zoneName, id))
    }

    /// NB: it does not name the zone's owner, so owner and participants wrap alike.
    private static func context(_ container: String, _ zoneName: String, _ id: [UInt8]) -> [UInt8] {
        SealingContext.bytes("tidemark zone key 1", container, zoneName) + SealingContext.bytes(id)
    }
}

/// The id of an account's key.
package enum AccountKeyID {
    /// 16 bytes that reveal nothing about the key. A device that gets a key compares them.
    package static func make(of key: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(Array("tidemark account key 1".utf8) + key).prefix(16))
    }
}

/// The data that is authenticated with a ciphertext: the place to which it belongs ("Fields.proto").
package enum SealingContext {
    /// For an encrypted value. R-021: users with whom a zone is shared call its owner differently, so the owner is not part of it.
    package static func value(container: String, zoneName: String, recordName: String, key: String) -> [UInt8] {
        bytes("tidemark value 1", container, zoneName, recordName, key)
    }

    package static func bytes(_ texts: String...) -> [UInt8] {
        texts.flatMap { bytes(Array($0.utf8)) }
    }

    package static func bytes(_ part: [UInt8]) -> [UInt8] {
        let length = UInt32(clamping: part.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) } + part
    }
}
