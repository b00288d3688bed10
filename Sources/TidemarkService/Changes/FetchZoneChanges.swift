// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness

extension CloudService {
    /// The result of `make` for one page of a zone's change feed (R-208 … R-214). In a zone of another user, it is made while the reader's
    /// access is read, and dropped without access. So an answer can be written during that read, and nobody gets it too early (I-5).
    ///
    /// - Parameters:
    ///   - owner: the owner whose client asks. For each owner a few pages are read ahead.
    ///   - lane: where they are read; nil: beside all lanes.
    ///   - make: may be called twice, so it must have no other effect in a zone of another user.
    package func zoneChanges<Made: Sendable>(
        _ question: ZoneQuestion, for owner: WorkOwner, on lane: (any TaskExecutor)?,
        _ make: (ZonePage) async -> Made
    ) async -> Result<Made, FailureReason> {
        await pagesAhead.answer(question, of: owner, on: lane, make)
    }

    /// Whether the container gives all zones a feed, even default zones and those of the public database. That is
    /// beyond CloudKit, and off unless an operator turns it on.
    package func feedsEverywhere(in container: ContainerKey) async -> Result<Bool, FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.feedsEverywhere(in: container))
        }
    }
}
