// SPDX-License-Identifier: Apache-2.0

/// How the key of an account reaches its devices. Values are stored.
package enum EncryptionMode: Int16, Sendable, CaseIterable {
    /// The server keeps it, closed by its master key, and gives it to the account's devices.
    case escrowed = 1
    /// The server never has it.
    case endToEnd = 2
}
