// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Reads pages of the two change feeds.
///
/// Writers never touch the database feed: whoever reads it finds the zones that have moved and gives them their numbers.
/// It looks first without a lock; only if the feed is behind does it have numbers assigned, and it answers after that is
/// durable, because a number that was told and lost would be given out twice (I-2).
struct FeedReader: Sendable {
    let storage: any Storage
    let limits: Limits
    let retry: StorageRetry

    func zonePage(
        of key: ZoneKey, token: [UInt8], recordsMax: Int, device: DeviceID
    ) async -> Result<ZonePage, FailureReason> {
        await retry.run { () async throws(StorageError) in
            let store = try await storage.incarnation()
            let query = ZonePageQuery.make(
                key: key, token: token, limit: recordsMax, device: device, store: store, limits: limits)
            switch query {
            case .failure(let reason): return .failure(reason)
            case .success(let query):
                return ZonePage.make(of: try await storage.zonePage(query), for: query, store: store)
            }
        }
    }

    func databasePage(
        of viewer: DatabaseID, token: [UInt8], zonesMax: Int
    ) async -> Result<DatabasePage, FailureReason> {
        await retry.run { () async throws(StorageError) in
            let store = try await storage.incarnation()
            let entriesMax = limits.pageCount(requested: zonesMax)
            switch ChangeToken.number(inDatabaseFeedOf: viewer, from: token, store: store) {
            case .failure(let reason): return .failure(reason)
            case .success(let after):
                let read = try await upToDateFeed(of: viewer, after: after, entriesMax: entriesMax)
                return DatabasePage.make(
                    of: read, viewer: viewer, after: after, entriesMax: entriesMax, store: store)
            }
        }
    }

    /// NB: one advance is enough. It sees every change that was committed before it began, so before this fetch's answer;
    /// zones that move meanwhile are for the next fetch.
    private func upToDateFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> DatabaseFeedRead {
        let read = try await storage.databaseFeed(of: viewer, after: after, entriesMax: entriesMax)
        guard read.isBehind else { return read }
        try await storage.advanceDatabaseFeed(of: viewer)
        return try await storage.databaseFeed(of: viewer, after: after, entriesMax: entriesMax)
    }
}
