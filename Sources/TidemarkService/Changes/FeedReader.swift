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
    let movedFeeds: MovedFeeds

    func zonePage(_ question: PagesAhead.Question) async -> Result<ZonePage, FailureReason> {
        await page(after: question.token) { store throws(StorageError) in
            let query = ZonePageQuery.make(
                key: question.key, token: question.token, limit: question.recordsMax, device: question.device,
                tellsEnds: question.tellsEnds, reader: question.reader, feedsEverywhere: question.feedsEverywhere,
                store: store, limits: limits)
            switch query {
            case .failure(let reason): return .refused(reason)
            case .success(let query):
                let read = try await storage.zonePage(query)
                return .read(ZonePage.make(of: read.value, for: query, store: read.store), in: read.store)
            }
        }
    }

    func databasePage(
        of viewer: DatabaseID, token: [UInt8], zonesMax: Int, tellsEnds: Bool
    ) async -> Result<DatabasePage, FailureReason> {
        await page(after: token) { store throws(StorageError) in
            let entriesMax = limits.pageCount(requested: zonesMax)
            switch ChangeToken.number(inDatabaseFeedOf: viewer, from: token, store: store) {
            case .failure(let reason): return .refused(reason)
            case .success(let after):
                let start = after ?? (tellsEnds ? 0 : nil)
                let read = try await upToDateFeed(of: viewer, after: start, entriesMax: entriesMax)
                let page = DatabasePage.make(
                    of: read.value, viewer: viewer, after: after, tellsEnds: tellsEnds, entriesMax: entriesMax,
                    store: read.store)
                return .read(page, in: read.store)
            }
        }
    }

    /// What a read came to.
    private enum Attempt<Page: Sendable>: Sendable {
        /// The token is none for this feed, if the store is the one that was assumed.
        case refused(FailureReason)
        case read(Result<Page, FailureReason>, in: StoreIncarnation)
    }

    /// Reads as if the token were of the store's present life, which the read itself then tells: nearly always it is, and
    /// asking before would cost every page a round trip. If it is not, the read is done again with what is true.
    private func page<Page>(
        after token: [UInt8], _ read: @Sendable (StoreIncarnation) async throws(StorageError) -> Attempt<Page>
    ) async -> Result<Page, FailureReason> {
        await retry.run { () async throws(StorageError) in
            let assumed = ChangeToken(bytes: token)?.store
            if case .read(let page, let store) = try await read(assumed ?? StoreIncarnation(0)) {
                if assumed == nil || assumed == store { return page }
            }
            switch try await read(try await storage.incarnation()) {
            case .refused(let reason): return .failure(reason)
            case .read(let page, _): return page
            }
        }
    }

    /// A feed that is known to be behind is not looked at first.
    ///
    /// NB: one advance is enough. It sees every change that was committed before it began, so before this fetch's answer;
    /// zones that move meanwhile are for the next fetch.
    private func upToDateFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> StoreRead<DatabaseFeedRead> {
        if !movedFeeds.take(viewer) {
            let read = try await storage.databaseFeed(of: viewer, after: after, entriesMax: entriesMax)
            guard read.isBehind else { return read }
        }
        return try await storage.advanceDatabaseFeed(of: viewer, after: after, entriesMax: entriesMax)
    }
}
