// SPDX-License-Identifier: Apache-2.0

/// Gives the keys of a zone to another account ("Keys.proto"): encrypted to that account's public key, by the owner's private key.
package struct ZoneKeyGrant: Sendable, Equatable {
    /// The container of the keys, and the reader. A grant opens for nobody else and nowhere else.
    private let container: String
    private let zoneName: String
    private let owner: String
    private let reader: String

    /// - Parameters:
    ///   - owner: the record name of the zone's owner.
    ///   - reader: the record name of the user who gets the keys.
    package init(container: String, zoneName: String, owner: String, reader: String) {
        self.container = container
        self.zoneName = zoneName
        self.owner = owner
        self.reader = reader
    }

    /// The key pair of an account, which follows from its key.
    package static func keyPair(of accountKey: [UInt8], container: String) -> X25519KeyPair {
        let info = SealingContext.bytes("tidemark account key pair 1", container)
        return HPKE.keyPair(
            from: HKDFSHA256.expand(accountKey, info: info, byteCount: X25519KeyPair.byteCount))
    }

    /// - Parameter keys: each with its id, oldest first.
    package func seal(
        _ keys: [(id: [UInt8], key: [UInt8])], to publicKey: [UInt8], from owner: X25519KeyPair
    ) throws(HPKEError) -> [UInt8] {
        try HPKE.seal(keys.flatMap { $0.id + $0.key }, to: publicKey, from: owner, info: info)
    }

    /// The ids and keys, one after the other.
    ///
    /// - Parameter owner: the public key of the owner's account.
    package func open(
        _ sealed: [UInt8], with reader: X25519KeyPair, from owner: [UInt8]
    ) throws(HPKEError) -> [UInt8] {
        try HPKE.open(sealed, with: reader, from: owner, info: info)
    }

    private var info: [UInt8] { SealingContext.bytes("tidemark key grant 1", container, zoneName, owner, reader) }
}
