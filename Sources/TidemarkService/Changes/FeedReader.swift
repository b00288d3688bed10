// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Reads pages of the two change feeds.
///
/// Writers never touch the database feed: its reader finds the zones that have changed. A few of them are included with
/// their own change numbers (``FeedPosition``), so that nothing need be written. If there are more, they get feed
/// numbers, and the answer waits until these are durable. A number that a client saw and the store lost would be given
/// out twice (I-2).
struct FeedReader: Sendable {
    let storage: any Storage
    let limits: Limits
    let retry: StorageRetry

    /// The most bytes of a page that comes with another answer, so that the message stays of moderate size.
    private static let attachedBytesMax = 65_536
    /// Each but the first means that the reader has come to a share, or left one, at this moment.
    private static let correctionsMax = 4
    /// The most bytes of a page that nobody has asked for so far, unless it is a single record. Nobody may ever ask.
    private static let aheadBytesMax = 524_288

    func zonePage(_ question: ZoneQuestion, isAhead: Bool) async -> Result<ZonePage, FailureReason> {
        await page(after: question.token) { store throws(StorageError) in
            switch query(question, store: store) {
            case .failure(let reason): return .refused(try await refusal(reason, of: question))
            case .success(var query):
                // Hierarchies have no page that is the owner's.
                if isAhead, query.after?.view != nil { return .refused(.tokenExpired) }
                if isAhead {
                    query.isAhead = true
                    query.cut(toBytes: Self.aheadBytesMax, limits)
                }
                if let position = query.after, position.view != nil { query.hierarchies = [] }
                var read = try await storage.zonePage(query)
                // Through which shares of hierarchies the reader sees the zone is known once it is read.
                for _ in 0..<Self.correctionsMax {
                    guard let corrected = query.corrected(by: read.value) else { break }
                    query = corrected
                    read = try await storage.zonePage(query)
                }
                var page = ZonePage.make(of: read.value, for: query, store: read.store)
                if query.reader == nil, read.value.zone?.hasHierarchies == true, case .success(let found) = page {
                    // The owner's roots name their shares. Data that is read later can only be newer.
                    let shares = try await storage.sharings(of: [query.key], .access(of: [])).first?.sharing
                    page = .success(found.with(entries: shares?.namingRoots(found.entries) ?? found.entries))
                }
                return .read(page, in: read.store)
            }
        }
    }

    /// The reason why a question is invalid for this reader. I-5: a token names a database, so only readers with access to the zone learn
    /// what is wrong with it.
    private func refusal(
        _ reason: FailureReason, of question: ZoneQuestion
    ) async throws(StorageError) -> FailureReason {
        guard reason != .zoneNameInvalid, let reader = question.reader, let viewer = reader.viewer
        else { return reason }
        let read = try await storage.shareAccess(of: viewer, to: question.key)
        return reader.sharing(read?.sharing) == nil ? .zoneNotFound : reason
    }

    /// Whether a reader of the shared database has access to a zone now. If so, it may have a page that was read before, as for the owner.
    /// The whole zone is shared, so everything in it is readable.
    func mayRead(_ question: ZoneQuestion, of zone: ZoneID) async -> Bool {
        guard let reader = question.reader, let viewer = reader.viewer else { return true }
        let found = await retry.run { () async throws(StorageError) in
            let read = try await storage.shareAccess(of: viewer, to: question.key)
            return .success(read?.zone == zone && reader.sharing(read?.sharing)?.share?.readsEverything == true)
        }
        return (try? found.get()) ?? false
    }

    /// A page of the database feed and, if wanted, one of a zone's feed. The zone's page is read later, or in the same
    /// snapshot, so it contains everything that the first page says of the zone. It is nil if it cannot be read in the
    /// same round trip, whatever the reason. One reason is that the reader has no access to the zone (I-5).
    func databasePage(
        of viewer: DatabaseID, token: [UInt8], zonesMax: Int, tellsEnds: Bool, then question: ZoneQuestion?
    ) async -> Result<DatabasePageAndZone, FailureReason> {
        await page(after: token) { store throws(StorageError) in
            let entriesMax = limits.pageCount(requested: zonesMax)
            switch ChangeToken.position(inDatabaseFeedOf: viewer, from: token, store: store) {
            case .failure(let reason): return .refused(reason)
            case .success(let after):
                let start = after?.number ?? (tellsEnds ? 0 : nil)
                let zoneQuery = attachedQuery(question, store: store)
                var (read, zoneRead) = try await storage.databaseFeed(
                    of: viewer, after: start, entriesMax: entriesMax, then: zoneQuery)
                if read.value.needsNumbers(entriesMax: entriesMax) {
                    // NB: once is enough. It sees every change that was committed before it began, so before this
                    // fetch's answer. Zones that change meanwhile are for the next fetch.
                    read = try await storage.advanceDatabaseFeed(of: viewer, after: start, entriesMax: entriesMax)
                    zoneRead = nil
                }
                let page = DatabasePage.make(
                    of: read.value, viewer: viewer, after: after, tellsEnds: tellsEnds, entriesMax: entriesMax,
                    store: read.store)
                let zonePage = attachedPage(zoneRead, of: zoneQuery, assumed: store)
                return .read(page.map { DatabasePageAndZone(page: $0, zonePage: zonePage) }, in: read.store)
            }
        }
    }

    private func query(
        _ question: ZoneQuestion, store: StoreIncarnation
    ) -> Result<ZonePageQuery, FailureReason> {
        ZonePageQuery.make(
            key: question.key, token: question.token, limit: question.recordsMax, device: question.device,
            tellsEnds: question.tellsEnds, reader: question.reader, feedsEverywhere: question.feedsEverywhere,
            store: store, limits: limits)
    }

    private func attachedQuery(_ question: ZoneQuestion?, store: StoreIncarnation) -> ZonePageQuery? {
        guard let question, case .success(var query) = query(question, store: store) else { return nil }
        // For hierarchies the page is read once it is known through which shares the reader sees the zone.
        if query.after?.view != nil { return nil }
        query.cut(toBytes: Self.attachedBytesMax, limits)
        return query
    }

    private func attachedPage(
        _ read: StoreRead<ZonePageRead>?, of query: ZonePageQuery?, assumed store: StoreIncarnation
    ) -> ZonePage? {
        guard let read, let query, read.store == store || query.after == nil else { return nil }
        // Roots must name their shares, which takes another read.
        if read.value.zone?.hasHierarchies == true { return nil }
        return try? ZonePage.make(of: read.value, for: query, store: read.store).get()
    }

    /// The result of a read.
    private enum Attempt<Page: Sendable>: Sendable {
        /// The token does not belong to this feed, if the store has the assumed incarnation.
        case refused(FailureReason)
        case read(Result<Page, FailureReason>, in: StoreIncarnation)
    }

    /// Reads as if the token belonged to the store's current incarnation, which the read itself returns. It nearly
    /// always does, and asking first would cost every page a round trip. If it does not, the read is repeated with the
    /// true incarnation.
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
}

extension ZonePageQuery {
    /// Makes the page a small one, with this many bytes, and as many shares as are read at once.
    fileprivate mutating func cut(toBytes count: Int, _ limits: Limits) {
        bytesMax = min(bytesMax, count)
        sharesMax = min(sharesMax, limits.sharesTogetherMax)
    }
}

/// A page of a database's feed, with the page of a zone's feed that was requested with it.
package struct DatabasePageAndZone: Sendable, Equatable {
    package let page: DatabasePage
    /// Not older than ``page``.
    package let zonePage: ZonePage?
}
