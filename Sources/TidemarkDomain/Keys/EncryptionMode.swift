// SPDX-License-Identifier: Apache-2.0

/// How the key of an account reaches its devices. Raw values are stored.
package enum EncryptionMode: Int16, Sendable, CaseIterable {
    /// The server keeps the key, encrypted with its master key, and gives it to the account's devices.
    case escrowed = 1
    /// The server never has the key.
    case endToEnd = 2
}
