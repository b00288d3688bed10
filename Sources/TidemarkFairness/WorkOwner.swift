// SPDX-License-Identifier: Apache-2.0

/// The owner of a piece of work, whose fair share it takes.
@usableFromInline
package enum WorkOwner: Hashable, Sendable {
    /// An account, by its number: all its devices and containers together.
    case account(Int64)
    /// Everybody who shows the same credential before it has been looked up, by a hash of it.
    case newcomer(Int)
    /// Everybody without a credential, together.
    case nobody

    /// The size of the share relative to others. That of ``nobody`` is the smallest.
    package var weight: Int {
        switch self {
        case .account, .newcomer: Self.weightMax
        case .nobody: 1
        }
    }

    static let weightMax = 4
}
