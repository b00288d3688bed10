// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkService

/// ``KeyEscrow`` that stores account keys unencrypted, because a test's memory needs no secrets.
package struct MemoryKeyEscrow: KeyEscrow {
    package init() {}

    package var check: [UInt8] { Array("in memory".utf8) }

    package func close(_ key: [UInt8], of user: UserID) -> [UInt8] { owner(user) + key }

    package func open(_ escrow: [UInt8], of user: UserID) -> [UInt8]? {
        escrow.starts(with: owner(user)) ? Array(escrow.dropFirst(owner(user).count)) : nil
    }

    /// A row that is moved to another user cannot be decrypted.
    private func owner(_ user: UserID) -> [UInt8] { Array("\(user.rawValue):".utf8) }
}
