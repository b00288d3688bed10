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

/// The rows of a page of a shared database's feed, and of a page of a zone.
private struct SharedFeedRows {
    var feed: [FeedRow] = []
    var page: [ZonePageRow] = []
}
