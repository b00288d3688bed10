// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func zonePage(_ query: ZonePageQuery) async throws(StorageError) -> StoreRead<ZonePageRead> {
        if let refused = try await refusedRead(of: query.key, query.sharing) {
            return Self.emptyPage(refused.sharing, in: refused.store)
        }
        if let shares = query.hierarchies { return try await hierarchyPage(of: shares, query) }
        let found = try await read(zonePageCall(query), and: query.sharing, of: [query.key])
        return try await page(found.rows, found.sharing[0], of: query)
    }

    private func hierarchyPage(
        of shares: [ShareNumber], _ query: ZonePageQuery
    ) async throws(StorageError) -> StoreRead<ZonePageRead> {
        let found = try await hierarchyPage(query, of: shares)
        var page = ZonePageRead(zone: nil, lastRemoval: nil, records: [], hasMore: false)
        for case (.zone(let zone), _) in found.zone { page.zone = zone.state(query.key) }
        (page.sharing, page.events) = (found.sharing, found.events)
        if page.events.count > query.recordsMax {
            page.events.removeLast()
            page.hasMore = true
        } else if page.events.reduce(0, { $0 + ($1.record?.fields.byteCount ?? 0) }) >= query.bytesMax {
            page.hasMore = true
        }
        guard let store = found.store else { throw StorageError(.rejected) }
        return StoreRead(page, in: store)
    }

    private func page(
        _ rows: [ZonePageRow], _ sharing: ZoneSharing?, of query: ZonePageQuery
    ) async throws(StorageError) -> StoreRead<ZonePageRead> {
        var (page, store) = decodePage(rows, of: query)
        page.sharing = sharing
        if let store { return StoreRead(page, in: store) }
        // I-5: a zone of another is not there, whatever became of it.
        if query.sharing == .nothing {
            page.lastRemoval = try await records(named: [], in: query.key, bytesMax: 0, sharing: .nothing).lastRemoval
        }
        return StoreRead(page, in: try await incarnation())
    }

    /// A zone of another to which the reader has no access.
    private static func emptyPage(_ sharing: ZoneSharing?, in store: StoreIncarnation) -> StoreRead<ZonePageRead> {
        var page = ZonePageRead(zone: nil, lastRemoval: nil, records: [], hasMore: false)
        page.sharing = sharing
        return StoreRead(page, in: store)
    }

    private func zonePageCall(_ query: ZonePageQuery) -> Call<ZonePageRow> {
        query.leftOutThrough > 0 ? sql.changes.firstZonePage(query) : sql.changes.zonePage(query)
    }

    /// - Returns: the page, and the store's incarnation if the zone exists.
    private func decodePage(_ rows: [ZonePageRow], of query: ZonePageQuery) -> (ZonePageRead, StoreIncarnation?) {
        var store: StoreIncarnation?
        var scanEnd: ChangeNumber?
        var page = ZonePageRead(zone: nil, lastRemoval: nil, records: [], hasMore: false)
        page.records.reserveCapacity(rows.count)
        for row in rows {
            switch row {
            case .zone(let zone):
                page.zone = zone.state(query.key)
                if let token = zone.clientToken { page.clientToken = token }
                store = zone.store
            case .record(let record): page.records.append(record)
            case .scanEnd(let number): scanEnd = number
            }
        }
        if page.records.count > query.recordsMax {
            page.records.removeLast()
            page.hasMore = true
        } else if let last = page.records.last, let zone = page.zone, last.changeNumber < zone.changeNumber,
            bytes(of: page.records) >= query.bytesMax
        {
            // The bytes have cut the page. The last record is not the newest of the zone.
            page.hasMore = true
        } else if let scanEnd {
            (page.hasMore, page.passedTo) = (true, scanEnd - 1)
        }
        return (page, store)
    }

    private func bytes(of records: [RecordState]) -> Int {
        records.reduce(0) { $0 + $1.fields.byteCount }
    }

    /// One round trip. An owner's statements see what was committed when each began, so the page is not older than the feed.
    /// For others the feed, the access and the page are of one snapshot (I-5). Like ``zonePage(_:)``, it reads the access
    /// alone before, if it does not remember that the user had access.
    package func databaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int, then query: ZonePageQuery?
    ) async throws(StorageError) -> (feed: StoreRead<DatabaseFeedRead>, page: StoreRead<ZonePageRead>?) {
        let user = try await viewers(among: [viewer])[viewer]
        let feed = feedCall(of: viewer, user, after: after, entriesMax: entriesMax)
        guard let query else { return (Self.feed(try await read(feed, isLong: true), entriesMax: entriesMax), nil) }
        if let refused = try await refusedRead(of: query.key, query.sharing) {
            let entries = Self.feed(try await read(feed, isLong: true), entriesMax: entriesMax)
            return (entries, Self.emptyPage(refused.sharing, in: refused.store))
        }
        if query.sharing == .nothing {
            let (entries, records) = try await readAll(isLong: true, feed, zonePageCall(query))
            return (Self.feed(entries.rows, entriesMax: entriesMax), try await page(records.rows, nil, of: query))
        }
        let found = try await read(feed, then: zonePageCall(query), and: query.sharing, of: query.key)
        let zonePage = try await page(found.page, found.sharing, of: query)
        return (Self.feed(found.feed, entriesMax: entriesMax), zonePage)
    }

    /// Asks for one entry more than is wanted, which tells whether there are more.
    ///
    /// - Parameter user: whose shared database it is; nil for other databases.
    private func feedCall(
        of viewer: DatabaseID, _ user: UserID?, after: ChangeNumber?, entriesMax: Int
    ) -> Call<FeedRow> {
        let query = DatabaseFeedQuery(viewer: viewer, after: after ?? -1, entriesMax: entriesMax + 1)
        guard let user else { return sql.changes.databaseFeed(query) }
        return sql.sharedFeeds.databaseFeed(SharedFeedQuery(feed: query, user: user))
    }

    private static func feed(_ rows: [FeedRow], entriesMax: Int) -> StoreRead<DatabaseFeedRead> {
        var store = StoreIncarnation(0)
        var feed = DatabaseFeedRead(head: 0, entries: [], hasMore: false)
        for row in rows {
            switch row {
            case .feed(let head, let oldestToken, let incarnation, let feedsEverywhere):
                (feed.head, feed.oldestToken, feed.feedsEverywhere) = (head, oldestToken, feedsEverywhere)
                store = incarnation
            case .entry(let entry, let mustNumber):
                feed.mustNumber = feed.mustNumber || mustNumber
                if entry.number == nil { feed.unnumbered.append(entry) } else { feed.entries.append(entry) }
            }
        }
        if feed.entries.count > entriesMax {
            feed.entries.removeLast()
            feed.hasMore = true
        }
        return StoreRead(feed, in: store)
    }

    package func advanceDatabaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> StoreRead<DatabaseFeedRead> {
        let user = try await viewers(among: [viewer])[viewer]
        let feed = feedCall(of: viewer, user, after: after, entriesMax: entriesMax)
        guard let user else {
            let (_, _, _, _, entries) = try await write(
                sql.changes.createFeed(viewer), sql.changes.lockFeed(viewer), sql.changes.numberZones(viewer),
                sql.changes.moveFeed(viewer), feed)
            return Self.feed(entries.rows, entriesMax: entriesMax)
        }
        let database = SharedDatabase(viewer: viewer, user: user)
        let (_, _, _, _, _, _, entries) = try await write(
            sql.changes.createFeed(viewer), sql.changes.lockFeed(viewer), sql.sharedFeeds.numberZones(database),
            sql.changes.moveFeed(viewer), sql.sharedFeeds.dropPointers((database, 0)),
            sql.compaction.forgetOldestZones((viewer, Self.sharedEndsMax, Self.sharedEndsMax)), feed)
        return Self.feed(entries.rows, entriesMax: entriesMax)
    }

    /// Ends that the feed of a shared database keeps. Those of zones of other owners are forgotten here, because
    /// no write of the viewer's own finds that there are too many.
    private static let sharedEndsMax = 5_000

    package func changeMarks(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ChangeMark] {
        let marks = try await read(sql.changes.changeMarks(databases), isLong: true)
        return Dictionary(marks.map { ($0.database, $0.mark) }) { $1 }
    }
}
