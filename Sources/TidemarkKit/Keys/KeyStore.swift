// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Where a device keeps the keys of accounts with end-to-end encryption. Each call is one step, also among processes.
package protocol KeyStore: Sendable {
    /// - Throws: `internalError` if what is kept cannot be read.
    func key(for account: String) throws(CKError) -> [UInt8]?

    /// Keeps the key unless there is one; durable when it returns.
    ///
    /// - Returns: the one that is kept.
    func keep(_ key: [UInt8], for account: String) throws(CKError) -> [UInt8]

    /// Puts another key in the place of `old`, or none; does nothing if another one than `old` is kept.
    func replace(_ old: [UInt8]?, by key: [UInt8]?, for account: String) throws(CKError)
}

/// In a ``SecretFile``, under the account's name.
package struct KeyFile: KeyStore {
    private let file: SecretFile

    package init(_ url: URL) {
        file = SecretFile(url, of: "account keys")
    }

    /// Where applications of this user keep their data.
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
