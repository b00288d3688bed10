// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSockets

/// Connections for reads that need several statements and one snapshot: what others share, with the right to see it.
///
/// A snapshot is a transaction, so it needs a connection of its own while it lasts. On those for writing it would wait
/// behind transactions that wait for locks. They are opened with the first such read, and shared among owners.
final class SnapshotConnections: Sendable {
    /// A read holds one for a round trip.
    private static let connections = 4
    /// How long a read waits for its owner's turn.
    private static let patience = Duration.seconds(6)

    private let url: String
    private let loop: EventLoop
    private let gate: FairGate
    private let opened = Mutex<PostgresPool?>(nil)

    init(url: String, loop: EventLoop) {
        self.url = url
        self.loop = loop
        // One owner leaves a connection to the others.
        let bounds = FairBounds(
            room: Self.connections, roomPerOwner: Self.connections - 1, waitingMax: 4_096, waitingPerOwnerMax: 1_024,
            workTime: .milliseconds(20))
        gate = FairGate(bounds, patience: Self.patience, scheduler: loop)
    }

    /// Runs the statements of a reading in one round trip, each on the same snapshot.
    ///
    /// - Throws: `crowded` if the owner's turn does not come.
    func run<Result>(
        _ statements: Reading<Result>, into result: Result, for owner: WorkOwner
    ) async throws(StorageError) -> Result {
        let ticket: WorkTicket
        do {
            ticket = try await gate.enter(owner)
        } catch {
            throw StorageError(error)
        }
        let start = loop.now
        // An owner is charged for the time that a connection was its own.
        defer { gate.leave(ticket, charge: max(1, Int((loop.now - start) / .milliseconds(1)))) }
        do {
            let pool = try pool()
            let lease = try await pool.acquire()
            defer { pool.release(lease) }
            return try await lease.connection.run(statements, into: result)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
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
        var reading = Reading<SharedSnapshot<Row>>()
        reading.add(Call.beginSnapshot)
        if let shares = sharing.call(for: zones) {
            reading.add(shares) { found, row in found.sharing[row.ordinal - 1].add(row) }
        }
        reading.add(call) { found, row in found.rows.append(row) }
        reading.add(Call.commit)
        let nothing = SharedSnapshot<Row>(sharing: zones.map { _ in SharingRows(isWhole: sharing.isWhole) })
        let found = try await snapshots.run(reading, into: nothing, for: owner(of: sharing))
        noteAccess(sharing, in: zones, found.shares)
        return (found.rows, found.shares)
    }

    /// Whose turn it is to read: of who asks, never of the zone's owner. The account of a user who signed in at another
    /// server is not known. Then the user is told apart by their own number: those below zero are no account's.
    private func owner(of sharing: SharingRead) -> WorkOwner {
        guard let user = sharing.asker else { return .nobody }
        return .account(sharedDatabases.account(of: user)?.rawValue ?? -user.rawValue)
    }
}

/// What was read in one snapshot.
struct SharedSnapshot<Row> {
    var rows: [Row] = []
    /// Of each zone.
    var sharing: [SharingRows]

    init(sharing: [SharingRows]) {
        self.sharing = sharing
    }

    var shares: [ZoneSharing?] { sharing.map(\.sharing) }
}
