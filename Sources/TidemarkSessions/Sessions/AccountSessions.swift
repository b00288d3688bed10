// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// How many sessions each account has at the hubs of one process (I-7).
final class AccountSessions: Sendable {
    private let counts = Mutex<[AccountID: Int]>([:])

    /// - Returns: how many it has now.
    func add(_ account: AccountID) -> Int {
        counts.withLock { counts in
            counts[account, default: 0] += 1
            return counts[account, default: 0]
        }
    }

    func remove(_ account: AccountID) {
        counts.withLock { counts in
            guard let count = counts[account] else { return }
            counts[account] = count > 1 ? count - 1 : nil
        }
    }
}
