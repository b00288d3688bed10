// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling

extension CloudService {
    /// The current incarnation of the store, and the memory epoch. The incarnation is part of the change tags that a
    /// session gives out. Devices date their requests by the epoch. The server also remembers the epoch for
    /// requests that arrive.
    package func standing() async -> Result<StoreStanding, FailureReason> {
        let standing = await retry.run { () async throws(StorageError) in .success(try await storage.standing()) }
        if case .success(let standing) = standing { sharedWrites.learn(standing.memoryEpoch, now: scheduler.now) }
        return standing
    }
}
