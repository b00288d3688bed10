// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSockets

/// Connections for queries that take about equally long, shared among their owners. They are opened with the
/// first query.
final class QueryLane: Sendable {
    /// The bounds of a lane.
    struct Bounds: Sendable {
        let connections: Int
        /// PostgreSQL stops a query that takes longer: `queryTooSlow`.
        let timeout: Duration
        let fairness: FairBounds
    }

    /// How long a query waits for its turn.
    private static let patience = Duration.seconds(6)

    private let url: String
    private let loop: EventLoop
    private let bounds: Bounds
    private let gate: FairGate
    private let opened = Mutex<PostgresPool?>(nil)

    init(url: String, loop: EventLoop, _ bounds: Bounds) {
        self.url = url
        self.loop = loop
        self.bounds = bounds
        gate = FairGate(bounds.fairness, patience: Self.patience, scheduler: loop)
    }

    /// The rows of each statement.
    ///
    /// - Throws: `queryTooSlow`, and `crowded` if the owner's turn does not come.
    func run(_ batch: [BoundStatement], for owner: WorkOwner) async throws(StorageError) -> [PostgresRows] {
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
            return try await lease.connection.execute(batch)
        } catch {
            if error.code == .statement(.queryCancelled) {
                throw StorageError(.queryTooSlow, detail: error.textForLog)
            }
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
                let milliseconds = Int(bounds.timeout / .milliseconds(1))
                let pool = try PostgresPool(
                    url: url, connections: bounds.connections, sharedConnections: 0, loop: loop,
                    sessionSettings: QueryConnections.sessionSettings + [("statement_timeout", "\(milliseconds)ms")],
                    applicationName: "tidemark-query")
                opened = pool
                return .success(pool)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
