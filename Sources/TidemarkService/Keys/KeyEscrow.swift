// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Closes the account keys that are stored, with a key that is kept elsewhere: whoever has the database alone has none of
/// them.
package protocol KeyEscrow: Sendable {
    /// Says with which master key stored keys are closed, without telling anything of it.
    var check: [UInt8] { get }

    /// - Returns: bytes that only ``open(_:of:)`` with the same master key and user makes the key of again.
    func close(_ key: [UInt8], of user: UserID) -> [UInt8]

    /// - Returns: nil for what another master key, or for another user, was closed.
    func open(_ escrow: [UInt8], of user: UserID) -> [UInt8]?
}
