// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkService

// Reads that need several statements and one snapshot: what others share, with the right to see it.
//
// A snapshot is a transaction, so it needs a connection of its own while it lasts. On those for writing it would wait
// behind transactions that wait for locks.

extension PostgresStorage {
    /// A read holds a connection for a round trip. One owner leaves a connection to the others.
    static let snapshotBounds = FairBounds(
        room: 4, roomPerOwner: 3, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(20))

    /// One statement, and what is to be read of zones' shares beside it, in one snapshot and one round trip. Without
    /// shares it is the statement alone.
    ///
    /// - Parameter isLong: whether the statement may take PostgreSQL many milliseconds.
    /// - Returns: the rows, and the shares of each zone; nil for those that were not asked for, or do not live.
    func read<Row>(
        _ call: Call<Row>, and sharing: SharingRead, of zones: [ZoneKey], isLong: Bool = false
    ) async throws(StorageError) -> (rows: [Row], sharing: [ZoneSharing?]) {
        guard sharing != .nothing, !zones.isEmpty else {
            return (try await read(call, isLong: isLong), zones.map { _ in nil })
        }
        let found = try await snapshot([] as [Row], sharing, of: zones) { reading in
            reading.add(call) { found, row in found.rows.append(row) }
        }
        return (found.rows, found.shares)
    }

    /// Records by name with the shares of hierarchies that cover them, in one snapshot. Nil if the zone does not live.
    func coveredRecords(
        _ query: LookUpQuery, _ sharing: SharingRead
    ) async throws(StorageError) -> (
        rows: [(row: ZonePageRow, unread: Int32?)], sharing: ZoneSharing?, hierarchies: ZoneHierarchies
    )? {
        let living = try await read(sql.zones.living([query.zone]))
        guard let zone = living.first else { return nil }
        let names = CoverQuery(database: zone.key.database, zone: zone.id, names: query.names)
        let found = try await snapshot(CoveredRows(), sharing, of: [query.zone]) { reading in
            reading.add(sql.records.lookUpRecords(query)) { found, row in found.rows.rows.append(row) }
            reading.add(sql.hierarchies.covers(names)) { found, row in
                found.rows.hierarchies.covers[row.name] = row.cover
            }
        }
        return (found.rows.rows, found.shares[0], found.rows.hierarchies)
    }

    /// A page of what a user sees of hierarchies, in one snapshot with their shares.
    func hierarchyPage(
        _ query: ZonePageQuery, of shares: [ShareNumber]
    ) async throws(StorageError) -> (
        zone: [(row: ZonePageRow, unread: Int32?)], events: [HierarchyEvent], sharing: ZoneSharing?,
        store: StoreIncarnation?
    ) {
        let page = HierarchyPageStatementQuery(
            key: query.key, shares: shares, after: query.after?.number ?? 0, rowsMax: query.recordsMax + 1,
            bytesMax: query.bytesMax)
        let found = try await snapshot(HierarchyRows(), query.sharing, of: [query.key]) { reading in
            reading.add(sql.records.lookUpRecords(LookUpQuery(zone: query.key, names: [], bytesMax: 0))) { found, row in
                found.rows.zone.append(row)
            }
            reading.add(sql.accounts.store()) { found, row in found.rows.store = row.incarnation }
            guard !shares.isEmpty else { return }
            reading.add(sql.hierarchies.page(page)) { found, row in found.rows.events.append(row) }
        }
        return (found.rows.zone, found.rows.events, found.shares[0], found.rows.store)
    }

    /// A page of the feed of a shared database, and a page of the feed of a zone of another, with what is to be read of that
    /// zone's shares. All are of one snapshot, so the zone's page shows what the feed says of the zone.
    func read(
        _ feed: Call<FeedRow>, then page: Call<ZonePageRow>, and sharing: SharingRead, of zone: ZoneKey
    ) async throws(StorageError) -> (feed: [FeedRow], page: [ZonePageRow], sharing: ZoneSharing?) {
        let found = try await snapshot(SharedFeedRows(), sharing, of: [zone]) { reading in
            reading.add(feed) { found, row in found.rows.feed.append(row) }
            reading.add(page) { found, row in found.rows.page.append(row) }
        }
        return (found.rows.feed, found.rows.page, found.shares[0])
    }

    /// Statements, and what is to be read of zones' shares before them, in one snapshot and one round trip.
    ///
    /// - Parameters:
    ///   - nothing: to which the statements add their rows.
    ///   - add: adds the statements.
    /// - Returns: the rows, and the shares of each zone.
    private func snapshot<Rows>(
        _ nothing: Rows, _ sharing: SharingRead, of zones: [ZoneKey],
        _ add: (inout Reading<SharedSnapshot<Rows>>) -> Void
    ) async throws(StorageError) -> (rows: Rows, shares: [ZoneSharing?]) {
        var reading = Reading<SharedSnapshot<Rows>>()
        reading.add(Call.beginSnapshot)
        if let shares = sharing.call(for: zones) {
            reading.add(shares) { found, row in found.sharing[row.ordinal - 1].add(row) }
        }
        add(&reading)
        reading.add(Call.commit)
        let empty = SharedSnapshot(rows: nothing, sharing: zones.map { _ in SharingRows(isWhole: sharing.isWhole) })
        let found = try await snapshots.run(for: owner(of: sharing)) { connection throws(PostgresError) in
            try await connection.run(reading, into: empty)
        }
        let shares = found.sharing.map(\.sharing)
        noteAccess(sharing, in: zones, shares)
        return (found.rows, shares)
    }

    /// Whose turn it is to read: of who asks, never of the zone's owner. The account of a user who signed in at another
    /// server is not known. Then the user is told apart by their own number: those below zero are no account's.
    private func owner(of sharing: SharingRead) -> WorkOwner {
        guard let user = sharing.asker else { return .nobody }
        return .account(sharedDatabases.account(of: user)?.rawValue ?? -user.rawValue)
    }
}

/// What was read in one snapshot.
struct SharedSnapshot<Rows> {
    var rows: Rows
    /// Of each zone.
    var sharing: [SharingRows]

    init(rows: Rows, sharing: [SharingRows]) {
        (self.rows, self.sharing) = (rows, sharing)
    }
}

/// Records by name, with what covers them.
private struct CoveredRows {
    var rows: [(row: ZonePageRow, unread: Int32?)] = []
    var hierarchies = ZoneHierarchies()
}

/// The rows of a page of hierarchies.
private struct HierarchyRows {
    var zone: [(row: ZonePageRow, unread: Int32?)] = []
    var events: [HierarchyEvent] = []
    var store: StoreIncarnation?
}

/// The rows of a page of a shared database's feed, and of a page of a zone.
private struct SharedFeedRows {
    var feed: [FeedRow] = []
    var page: [ZonePageRow] = []
}
