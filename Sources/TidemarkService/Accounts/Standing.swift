// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// The life of the store that is going on, which is part of the change tags that a session hands out, and
    /// its memory epoch, by which devices date their requests.
    package func standing() async -> Result<StoreStanding, FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await storage.standing()) }
    }
}
