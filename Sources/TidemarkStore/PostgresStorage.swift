// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService
package import TidemarkSockets

/// ``Storage`` on PostgreSQL. All SQL of the server is in this target.
///
/// Reads are pipelined over shared connections. Each write has a connection of its own while it lasts.
package final class PostgresStorage: Storage {
    let url: String
    let loop: EventLoop
    let pool: PostgresPool
    let containers = DatabaseContainers()
    let queries: QueryConnections
    let snapshots: FairConnections
    let sharedDatabases = SharedDatabases()
    let accessHints = AccessHints()
    let signIns = Mutex(NotedSignIns())
    let types = QueryTypes()
    let preparations: Preparations
    let indexBuilder: IndexBuilder
    /// Where accounts take turns when it is read how full they are, and when assets become theirs that must fit.
    let storageUses: FairGate
    let assetKeeps: FairGate

    /// Connections for reads. One process of PostgreSQL serves one connection: with others, a read of one record does not
    /// wait behind a read of hundreds. One more than reads of whole databases take (`SessionSettings.wholeDatabases`). It is
    /// a spare that others use only while these take all the rest: with more processes at work, each has fewer reads when it
    /// wakes, and PostgreSQL wakes more often.
    package static let readConnections = 3

    /// - Parameters:
    ///   - url: in libpq's form; several hosts are allowed (`target_session_attrs=read-write` finds the leader).
    ///   - connections: for transactions. Measured: 4 to 8 are as fast as more, because all wait for one disk.
    ///   - readConnections: 1 for a command that does one thing after the other.
    ///   - longQueries: where the long queries of all event loops take turns, see ``longQueryTurns(_:within:on:)``.
    ///     Nil: there is no other loop.
    /// - Throws: `rejected` if the URL cannot be parsed. An unreachable server is no error here.
    package init(
        url: String, loop: EventLoop, connections: Int = 8, readConnections: Int = PostgresStorage.readConnections,
        queryTimes: QueryTimes, longQueries: FairGate? = nil, indexBounds: IndexBounds = IndexBounds()
    ) throws(StorageError) {
        self.url = url
        self.loop = loop
        preparations = Preparations(scheduler: loop)
        storageUses = FairGate(Self.storageUseBounds, patience: FairConnections.patience, scheduler: loop)
        assetKeeps = FairGate(Self.assetKeepBounds, patience: FairConnections.patience, scheduler: loop)
        queries = QueryConnections(url: url, loop: loop, times: queryTimes, longQueries: longQueries)
        snapshots = FairConnections(
            url: url, loop: loop, Self.snapshotBounds, settings: Self.sessionSettings + Self.sharedSettings,
            name: "tidemark-shared", kind: .shared)
        indexBuilder = IndexBuilder(url: url, loop: loop, bounds: indexBounds)
        do {
            pool = try PostgresPool(
                url: url, connections: connections, sharedConnections: readConnections,
                spareConnections: min(1, readConnections - 1), loop: loop,
                sessionSettings: Self.sessionSettings, sharedSettings: Self.sharedSettings,
                applicationName: "tidemark", kind: .write)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// The connection string, for programs of PostgreSQL. It may have a password in it.
    package var databaseURL: String { url }

    /// Closes all connections. What runs now may come to its end in PostgreSQL.
    package func stop() async { await stop(cancels: false) }

    /// Closes all connections.
    ///
    /// - Parameter cancels: whether PostgreSQL ends what runs now. What was not committed is rolled back.
    package func stop(cancels: Bool) async {
        await indexBuilder.stop(cancels: cancels)
        await queries.stop(cancels: cancels)
        await snapshots.stop(cancels: cancels)
        await pool.stop(cancels: cancels)
    }

    /// Settings that every session of the store needs. Some serve the promise *Lock first, read after* (``Storage``).
    /// Others keep plans independent of statistics: all hot statements are nested loops over indexes.
    static let sessionSettings: [(String, String)] = [
        ("default_transaction_isolation", "read committed"),
        ("synchronous_commit", "on"),
        ("lock_timeout", "2s"),
        ("idle_in_transaction_session_timeout", "5s"),
        ("tcp_user_timeout", "10s"),
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_seqscan", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        ("enable_bitmapscan", "off"),
        ("enable_sort", "off"),
        ("jit", "off"),
    ]

    /// Reads of many callers wait behind each other, so PostgreSQL ends one that is slow. It is well below the time after
    /// which those behind it are given up.
    static let sharedSettings: [(String, String)] = [("statement_timeout", "4s")]

    package func standing() async throws(StorageError) -> StoreStanding {
        guard let store = try await read(sql.accounts.store()).first else { throw StorageError(.rejected) }
        return StoreStanding(incarnation: store.incarnation, memoryEpoch: store.memoryEpoch)
    }

    // MARK: For the rest of the target

    /// Takes a connection for a transaction. Always return it with ``release(_:)``.
    func acquire() async throws(StorageError) -> PostgresLease {
        do {
            return try await pool.acquire()
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// Returns a connection. A transaction that is still open is rolled back first.
    func release(_ lease: PostgresLease) {
        pool.release(lease)
    }

    /// One statement on a shared connection.
    ///
    /// - Parameter isLong: whether PostgreSQL may take many milliseconds for it. Small reads go to another connection then.
    func read<Row>(_ call: Call<Row>, isLong: Bool = false) async throws(StorageError) -> [Row] {
        do {
            return try await pool.run(isLong: isLong, call).rows
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// As ``read(_:isLong:)``, for rows that take long to decode: others have their turn on the event loop in between.
    func read<Row>(_ call: Call<Row>, bytesPerTurn: Int) async throws(StorageError) -> [Row] {
        var reading = Reading<[Row]>(bytesPerTurn: bytesPerTurn)
        reading.add(call) { rows, row throws(PostgresError) in rows.append(row) }
        do {
            var rows: [Row] = []
            try await reading.take(try await pool.execute(reading.statements), into: &rows)
            return rows
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// Several reads on a shared connection.
    func readAll<each Row>(
        isLong: Bool = false, _ calls: repeat Call<each Row>
    ) async throws(StorageError) -> (repeat StatementAnswer<each Row>) {
        do {
            return try await pool.run(isLong: isLong, repeat each calls)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// Runs several statements that may safely be sent twice, so a lost answer leaves nothing in doubt. On a connection
    /// of its own, like ``write(_:)``.
    func writeRepeatably<each Row>(
        _ calls: repeat Call<each Row>
    ) async throws(StorageError) -> (repeat StatementAnswer<each Row>) {
        let lease = try await acquire()
        defer { release(lease) }
        do {
            return try await lease.connection.run(repeat each calls)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// Runs several statements as one implicit transaction, all or nothing. On a connection of its own: on a shared
    /// one, reads would wait behind it while it waits for locks and the disk.
    func write<each Row>(
        _ calls: repeat Call<each Row>
    ) async throws(StorageError) -> (repeat StatementAnswer<each Row>) {
        let lease = try await acquire()
        defer { release(lease) }
        do {
            return try await lease.connection.run(repeat each calls)
        } catch {
            throw StorageError(error, duringCommit: error.code == .connectionLost)
        }
    }
}

/// Turns an error in decoding rows (a column has another type than the statement says) into a storage error.
func decode<Value>(_ body: () throws(PostgresError) -> Value) throws(StorageError) -> Value {
    do {
        return try body()
    } catch {
        throw StorageError(error, duringCommit: false)
    }
}
