// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// The life of the store that is going on: part of the change tags that a session hands out.
    package func incarnation() async -> Result<StoreIncarnation, FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await storage.incarnation()) }
    }
}
