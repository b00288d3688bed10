// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkService

/// ``KeyEscrow`` that keeps account keys as they are: in the memory of a test there is nobody to hide them from.
package struct MemoryKeyEscrow: KeyEscrow {
    package init() {}

    package var check: [UInt8] { Array("in memory".utf8) }

    package func close(_ key: [UInt8], of user: UserID) -> [UInt8] { owner(user) + key }

    package func open(_ escrow: [UInt8], of user: UserID) -> [UInt8]? {
        escrow.starts(with: owner(user)) ? Array(escrow.dropFirst(owner(user).count)) : nil
    }

    /// A row that is moved to another user does not open there.
    private func owner(_ user: UserID) -> [UInt8] { Array("\(user.rawValue):".utf8) }
}
