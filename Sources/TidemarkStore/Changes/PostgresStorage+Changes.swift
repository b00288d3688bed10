// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func zonePage(_ query: ZonePageQuery) async throws(StorageError) -> StoreRead<ZonePageRead> {
        try await page(try await read(zonePageStatement(query)), of: query)
    }

    private func page(
        _ rows: PostgresRows, of query: ZonePageQuery
    ) async throws(StorageError) -> StoreRead<ZonePageRead> {
        var (page, store) = try decode { () throws(PostgresError) in try decodePage(rows, of: query) }
        if let store { return StoreRead(page, in: store) }
        page.lastRemoval = try await records(named: [], in: query.key).lastRemoval
        return StoreRead(page, in: try await incarnation())
    }

    /// Asks for one record more than is wanted, which tells whether there are more.
    private func zonePageStatement(_ query: ZonePageQuery) -> BoundStatement {
        let parameters: [PostgresValue] = [
            .int8(query.key.database.rawValue), .text(query.key.name), .int8(query.after?.number ?? 0),
            .int8(Int64(query.recordsMax) + 1), .int8(Int64(query.bytesMax)), .uuid(query.device.bytes),
        ]
        let isFirst = query.after == nil && !query.tellsEnds
        let statement = isFirst ? ChangeStatements.firstZonePage : ChangeStatements.zonePage
        return statement.bind(parameters)
    }

    /// - Returns: the page, and the store's incarnation if the zone exists.
    private func decodePage(
        _ rows: PostgresRows, of query: ZonePageQuery
    ) throws(PostgresError) -> (ZonePageRead, StoreIncarnation?) {
        var store: StoreIncarnation?
        var page = ZonePageRead(zone: nil, lastRemoval: nil, records: [], hasMore: false)
        page.records.reserveCapacity(rows.count)
        for row in rows {
            if try row.isNull(0) {
                page.zone = try PageZoneRow.decode(row, key: query.key)
                if try !row.isNull(2) { page.clientToken = try row.bytes(2) }
                store = StoreIncarnation(UInt64(bitPattern: try row.int64(11)))
            } else {
                page.records.append(try RecordRow.decode(row, from: 0))
            }
        }
        if page.records.count > query.recordsMax {
            page.records.removeLast()
            page.hasMore = true
        } else if let last = page.records.last, let zone = page.zone {
            // The bytes may have cut the page. Then the last record is not the newest of the zone.
            page.hasMore = last.changeNumber < zone.changeNumber && bytes(of: page.records) >= query.bytesMax
        }
        return (page, store)
    }

    private func bytes(of records: [RecordState]) -> Int {
        records.reduce(0) { $0 + $1.fields.byteCount }
    }

    /// One round trip. Each statement sees what was committed when it began, so the page is not older than the feed.
    package func databaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int, then query: ZonePageQuery?
    ) async throws(StorageError) -> (feed: StoreRead<DatabaseFeedRead>, page: StoreRead<ZonePageRead>?) {
        let statement = databaseFeedStatement(of: viewer, after: after, entriesMax: entriesMax)
        let rows = try await readAll([statement] + (query.map { [zonePageStatement($0)] } ?? []))
        let feed = try decode { () throws(PostgresError) in try decodeFeed(rows[0], entriesMax: entriesMax) }
        guard let query else { return (feed, nil) }
        return (feed, try await page(rows[1], of: query))
    }

    private func databaseFeedStatement(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) -> BoundStatement {
        ChangeStatements.databaseFeed(
            .int8(viewer.rawValue), .int8(after ?? -1), .int8(Int64(entriesMax) + 1),
            .int8(Int64(FeedPosition.aheadMax) + 1))
    }

    private func decodeFeed(_ rows: PostgresRows, entriesMax: Int) throws(PostgresError) -> StoreRead<DatabaseFeedRead>
    {
        var store = StoreIncarnation(0)
        var feed = DatabaseFeedRead(head: 0, entries: [], hasMore: false)
        for row in rows {
            let number = try row.isNull(1) ? nil : row.int64(1)
            if try row.isNull(0) {
                feed.head = number ?? 0
                feed.oldestToken = try row.int64(2)
                store = StoreIncarnation(UInt64(bitPattern: try row.int64(6)))
                feed.feedsEverywhere = try row.isNull(7) ? false : row.bool(7)
            } else {
                let entry = DatabaseFeedEntry(
                    number: number, zone: ZoneID(try row.int64(0)),
                    key: ZoneKey(database: DatabaseID(try row.int64(2)), name: try row.string(3)),
                    changeNumber: try row.int64(4),
                    removal: try row.isNull(5) ? nil : ZoneRemovalReason(rawValue: try row.int16(5)))
                if number == nil { feed.unnumbered.append(entry) } else { feed.entries.append(entry) }
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
        let id = PostgresValue.int8(viewer.rawValue)
        let rows = try await write([
            ChangeStatements.createFeed(id), ChangeStatements.lockFeed(id),
            ChangeStatements.numberZones(id), ChangeStatements.moveFeed(id),
            databaseFeedStatement(of: viewer, after: after, entriesMax: entriesMax),
        ])
        return try decode { () throws(PostgresError) in try decodeFeed(rows[4], entriesMax: entriesMax) }
    }

    package func changeMarks(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: Int64] {
        let rows = try await read(ChangeStatements.changeMarks(.int8Array(databases.map(\.rawValue))))
        return try decode { () throws(PostgresError) in
            var marks: [DatabaseID: Int64] = [:]
            for row in rows { marks[DatabaseID(try row.int64(0))] = try row.int64(1) }
            return marks
        }
    }
}
