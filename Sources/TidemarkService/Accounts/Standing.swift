// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling

extension CloudService {
    /// The life of the store that is going on, which is part of the change tags that a session hands out, and
    /// its memory epoch, by which devices date their requests. The server remembers it as well, for requests that
    /// come.
    package func standing() async -> Result<StoreStanding, FailureReason> {
        let standing = await retry.run { () async throws(StorageError) in .success(try await storage.standing()) }
        if case .success(let standing) = standing { sharedWrites.learn(standing.memoryEpoch, now: scheduler.now) }
        return standing
    }
}
