// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSockets

/// Connections for reads that need several statements and one snapshot: what others share, with the right to see it.
///
/// A snapshot is a transaction, so it needs a connection of its own while it lasts. On those for writing it would wait
/// behind transactions that wait for locks. They are opened with the first such read.
final class SnapshotConnections: Sendable {
    /// A read holds one for a round trip.
    private static let connections = 4

    private let url: String
    private let loop: EventLoop
    private let opened = Mutex<PostgresPool?>(nil)

    init(url: String, loop: EventLoop) {
        self.url = url
        self.loop = loop
    }

    /// Runs the statements of a reading in one round trip, each on the same snapshot.
    func run<Result>(
        _ statements: Reading<Result>, into result: Result
    ) async throws(PostgresError) -> Result {
        let pool = try pool()
        let lease = try await pool.acquire()
        defer { pool.release(lease) }
        return try await lease.connection.run(statements, into: result)
    }

    func stop() async {
        await opened.withLock { $0 }?.stop()
    }

    private func pool() throws(PostgresError) -> PostgresPool {
        let result: Result<PostgresPool, PostgresError> = opened.withLock { opened in
            if let opened { return .success(opened) }
            do throws(PostgresError) {
                let pool = try PostgresPool(
                    url: url, connections: Self.connections, sharedConnections: 0, loop: loop,
                    sessionSettings: PostgresStorage.sessionSettings + PostgresStorage.sharedSettings,
                    applicationName: "tidemark-shared")
                opened = pool
                return .success(pool)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension PostgresStorage {
    /// One statement, and what is to be read of zones' shares beside it, in one snapshot and one round trip. Without
    /// shares it is the statement alone.
    ///
    /// - Returns: the rows, and the shares of each zone; nil for those that were not asked for, or do not live.
    func read<Row>(
        _ call: Call<Row>, and sharing: SharingRead, of zones: [ZoneKey]
    ) async throws(StorageError) -> (rows: [Row], sharing: [ZoneSharing?]) {
        guard sharing != .nothing, !zones.isEmpty else { return (try await read(call), zones.map { _ in nil }) }
        let found = try await read(call, nil as Call<Void>?, and: sharing, of: zones)
        return (found.rows, found.shares)
    }

    /// The same of two statements.
    func read<Row, Other>(
        _ call: Call<Row>, _ other: Call<Other>?, and sharing: SharingRead, of zones: [ZoneKey]
    ) async throws(StorageError) -> SharedSnapshot<Row, Other> {
        var reading = Reading<SharedSnapshot<Row, Other>>()
        reading.add(Call.beginSnapshot)
        if let shares = sharing.call(for: zones) {
            reading.add(shares) { found, row in found.sharing[row.ordinal - 1].add(row) }
        }
        reading.add(call) { found, row in found.rows.append(row) }
        if let other { reading.add(other) { found, row in found.others.append(row) } }
        reading.add(Call.commit)
        let nothing = SharedSnapshot<Row, Other>(sharing: zones.map { _ in SharingRows(isWhole: sharing.isWhole) })
        do {
            let found = try await snapshots.run(reading, into: nothing)
            noteAccess(sharing, in: zones, found.shares)
            return found
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }
}

/// What was read in one snapshot.
struct SharedSnapshot<Row, Other> {
    var rows: [Row] = []
    var others: [Other] = []
    /// Of each zone.
    var sharing: [SharingRows]

    init(sharing: [SharingRows]) {
        self.sharing = sharing
    }

    var shares: [ZoneSharing?] { sharing.map(\.sharing) }
}
