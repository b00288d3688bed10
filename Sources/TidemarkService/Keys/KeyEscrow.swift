// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Encrypts stored account keys with a master key that is kept elsewhere. The database alone reveals none of them.
package protocol KeyEscrow: Sendable {
    /// Identifies the master key that encrypts stored keys, without revealing anything of it.
    var check: [UInt8] { get }

    /// - Returns: bytes that only ``open(_:of:)`` with the same master key and user can decrypt.
    func close(_ key: [UInt8], of user: UserID) -> [UInt8]

    /// - Returns: nil for bytes that were encrypted with another master key or for another user.
    func open(_ escrow: [UInt8], of user: UserID) -> [UInt8]?
}
