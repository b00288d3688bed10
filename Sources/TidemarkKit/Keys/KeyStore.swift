// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Stores the keys of accounts with end-to-end encryption on a device. Each call is atomic, even between processes.
package protocol KeyStore: Sendable {
    /// - Throws: `internalError` if the stored keys cannot be read.
    func key(for account: String) throws(CKError) -> [UInt8]?

    /// Stores the key unless there is one. It is durable when this returns.
    ///
    /// - Returns: the stored key.
    func keep(_ key: [UInt8], for account: String) throws(CKError) -> [UInt8]

    /// Replaces `old` with another key, or removes it. Does nothing if another key than `old` is stored.
    func replace(_ old: [UInt8]?, by key: [UInt8]?, for account: String) throws(CKError)
}

/// Keys in a ``SecretFile``, under the names of their accounts.
package struct KeyFile: KeyStore {
    private let file: SecretFile

    package init(_ url: URL) {
        file = SecretFile(url, of: "account keys")
    }

    /// The file in this user's data directory (`~/.local/share`).
    package static let standard = KeyFile(SecretFile.standardURL("keys.json"))

    package func key(for account: String) throws(CKError) -> [UInt8]? {
        try file.read()[account]
    }

    package func keep(_ key: [UInt8], for account: String) throws(CKError) -> [UInt8] {
        try file.changing { keys in
            if let kept = keys[account] { return kept }
            keys[account] = key
            return key
        }
    }

    package func replace(_ old: [UInt8]?, by key: [UInt8]?, for account: String) throws(CKError) {
        try file.changing { keys in
            if keys[account] == old { keys[account] = key }
        }
    }
}
