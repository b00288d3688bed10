// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness

extension CloudService {
    /// One page of a zone's change feed (R-208 … R-214).
    ///
    /// - Parameters:
    ///   - token: from the page before; empty for a first fetch.
    ///   - recordsMax: the most records that the client wants; 0 leaves it to the server. A page is cut at
    ///     `Limits.answerBytesMax` too.
    ///   - device: the device that asks.
    ///   - connection: as ``ZoneQuestion/connection``.
    ///   - tellsEnds: whether a first fetch includes all deletions.
    ///   - reader: the caller's access, unless everything may be read (I-5).
    ///   - feedsEverywhere: whether the default zone has a feed too, see ``feedsEverywhere(in:)``.
    ///   - owner: whose client asks. Of each owner a few pages are read ahead.
    ///   - lane: where they are read; nil: beside all lanes.
    package func zoneChanges(
        in key: ZoneKey, token: [UInt8], recordsMax: Int, device: DeviceID, connection: UInt64 = 0,
        tellsEnds: Bool = false, reader: RecordAccess?, feedsEverywhere: Bool = false,
        for owner: WorkOwner = .nobody, on lane: (any TaskExecutor)? = nil
    ) async -> Result<ZonePage, FailureReason> {
        await zoneChanges(
            ZoneQuestion(
                key: key, token: token, recordsMax: recordsMax, device: device, connection: connection,
                tellsEnds: tellsEnds, reader: reader, feedsEverywhere: feedsEverywhere),
            for: owner, on: lane
        ) { $0 }
    }

    /// What is made of such a page. In a zone of another it is made while the reader's access is read, and dropped without
    /// access. So an answer can be written meanwhile, and nobody gets it too early (I-5).
    ///
    /// - Parameters:
    ///   - owner: whose client asks. Of each owner a few pages are read ahead.
    ///   - lane: where they are read; nil: beside all lanes.
    ///   - make: may be called twice, so nothing else may come of it in a zone of another.
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
