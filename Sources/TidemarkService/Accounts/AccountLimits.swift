// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// Operators' choices for these users and their accounts. Users that no longer exist are left out.
    package func limits(of users: [UserID]) async -> Result<[UserID: AccountLimits], FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await storage.limits(of: users)) }
    }
}
