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
        id = AccountKeyID.make(of: key)
        self.key = key
    }

    /// The account's key pair in a container, by which it is given keys, and gives them.
    func pair(in container: String) -> X25519KeyPair { ZoneKeyGrant.keyPair(of: key, container: container) }

    /// The half of it that everybody may know.
    func publicKey(in container: String) -> [UInt8] { pair(in: container).publicKey }

    static func randomKey() -> [UInt8] { SecureRandom.bytes(AESGCM.keyByteCount) }

    /// The stored form of a zone's key.
    func wrap(_ secret: ZoneSecret, container: String, zoneName: String) -> [UInt8] {
        ZoneKeyWrap.wrap(secret.key, id: secret.id, with: key, container: container, zoneName: zoneName)
    }

    /// Nil if it was encrypted with another account's key, for another zone, or was changed.
    func unwrap(_ wrapped: [UInt8], id: [UInt8], container: String, zoneName: String) -> ZoneSecret? {
        ZoneKeyWrap.unwrap(wrapped, id: id, with: key, container: container, zoneName: zoneName)
            .map { ZoneSecret(id: id, key: $0) }
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
