// SPDX-License-Identifier: Apache-2.0

/// What a user's devices and the server say to each other of the key that closes the user's zone keys.
package struct AccountKey: Sendable, Equatable {
    package static let idByteCount = 16
    package static let keyByteCount = 32

    package var mode: EncryptionMode
    /// ``idByteCount`` bytes; nil: there is no key yet.
    package var id: [UInt8]?
    /// ``keyByteCount`` bytes; nil where the server has none.
    package var key: [UInt8]?

    package init(mode: EncryptionMode, id: [UInt8]?, key: [UInt8]?) {
        self.mode = mode
        self.id = id
        self.key = key
    }

    /// What is wrong with it as the key that a device wants to give the account; nil if nothing is.
    package var refusal: FailureReason? {
        guard id?.count == Self.idByteCount else { return .requestInvalid }
        // A key that the server must not have is not even looked at.
        let isFit = mode == .escrowed ? key?.count == Self.keyByteCount : key == nil
        return isFit ? nil : .requestInvalid
    }
}

/// A user's account key as it is stored.
package struct StoredAccountKey: Sendable, Equatable {
    package var mode: EncryptionMode
    /// Nil: there is no key yet.
    package var id: [UInt8]?
    /// The key, closed by the servers' master key; nil where the server has none.
    package var escrow: [UInt8]?

    package init(mode: EncryptionMode, id: [UInt8]? = nil, escrow: [UInt8]? = nil) {
        self.mode = mode
        self.id = id
        self.escrow = escrow
    }
}
