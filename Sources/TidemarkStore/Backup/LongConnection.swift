// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
internal import TidemarkService

/// A connection of its own for works that take long, outside of the pools whose statements must be quick. The planner
/// decides as it likes, by the tables' statistics.
final class LongConnection: Sendable {
    let connection: PostgresConnection
    private let pool: PostgresPool
    private let lease: PostgresLease
    /// Whether the pool ends with this.
    private let ownsPool: Bool

    /// The longest wait for one answer.
    private static let answerTimeMax = Duration.seconds(6 * 3_600)
    private static let settings: [(String, String)] = [
        ("default_transaction_isolation", "read committed"),
        ("lock_timeout", "60s"),
        // A process that does not run any more must not keep a transaction open for ever.
        ("idle_in_transaction_session_timeout", "10min"),
        ("standard_conforming_strings", "on"),
    ]

    /// - Parameter name: of the connection in `pg_stat_activity`.
    init(_ storage: PostgresStorage, name: String) async throws(StorageError) {
        pool = try Self.pool(storage, name: name)
        ownsPool = true
        do {
            lease = try await pool.acquire()
        } catch {
            await pool.stop()
            throw StorageError(error, duringCommit: false)
        }
        connection = lease.connection
    }

    /// Borrows the connection of a pool that others use afterwards.
    init(of pool: PostgresPool) async throws(StorageError) {
        self.pool = pool
        ownsPool = false
        do {
            lease = try await pool.acquire()
        } catch {
            throw StorageError(error, duringCommit: false)
        }
        connection = lease.connection
    }

    /// A pool of one such connection.
    static func pool(_ storage: PostgresStorage, name: String) throws(StorageError) -> PostgresPool {
        do {
            var limits = PostgresPoolLimits()
            limits.requestTimeout = Self.answerTimeMax
            return try PostgresPool(
                url: storage.url, connections: 1, sharedConnections: 0, loop: storage.loop,
                sessionSettings: Self.settings, applicationName: name, limits: limits)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// An open transaction is rolled back. If the connection ends, locks of the session are released.
    func close() async {
        pool.release(lease)
        if ownsPool { await pool.stop() }
    }

    func run<each Row>(
        _ calls: repeat Call<each Row>
    ) async throws(StorageError) -> (repeat StatementAnswer<each Row>) {
        do {
            return try await connection.run(repeat each calls)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    func runScript(_ sql: String) async throws(StorageError) {
        do {
            try await connection.executeScript(sql, timeout: Self.answerTimeMax)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }
}
