// SPDX-License-Identifier: Apache-2.0

/// The key that encrypts a user's zone keys, as devices and the server exchange it.
package struct AccountKey: Sendable, Equatable {
    package static let idByteCount = 16
    package static let keyByteCount = 32
    package static let publicKeyByteCount = 32

    package var mode: EncryptionMode
    /// ``idByteCount`` bytes; nil if there is no key yet.
    package var id: [UInt8]?
    /// ``keyByteCount`` bytes; nil if the server does not have the key.
    package var key: [UInt8]?
    /// ``publicKeyByteCount`` bytes, of the pair that follows from the key; nil if no device has sent it so far
    ///
    package var publicKey: [UInt8]?

    package init(mode: EncryptionMode, id: [UInt8]?, key: [UInt8]?, publicKey: [UInt8]? = nil) {
        self.mode = mode
        self.id = id
        self.key = key
        self.publicKey = publicKey
    }

    /// Why a device cannot give the account this key; nil if it can.
    package var refusal: FailureReason? {
        guard id?.count == Self.idByteCount, publicKey.map({ $0.count == Self.publicKeyByteCount }) ?? true else {
            return .requestInvalid
        }
        // The server must not have an end-to-end key. If one is sent, it is refused unread.
        let isFit = mode == .escrowed ? key?.count == Self.keyByteCount : key == nil
        return isFit ? nil : .requestInvalid
    }
}

/// A user's account key as it is stored.
package struct StoredAccountKey: Sendable, Equatable {
    package var mode: EncryptionMode
    /// Nil if there is no key yet.
    package var id: [UInt8]?
    /// The key, encrypted with the servers' master key; nil if the server does not have it.
    package var escrow: [UInt8]?
    /// The public half of the key's pair; nil if no device has told it yet.
    package var publicKey: [UInt8]?

    package init(mode: EncryptionMode, id: [UInt8]? = nil, escrow: [UInt8]? = nil, publicKey: [UInt8]? = nil) {
        self.mode = mode
        self.id = id
        self.escrow = escrow
        self.publicKey = publicKey
    }
}
