// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSockets

/// Connections for reads that take about equally long, shared among their owners. The first one is opened with the
/// first read, and others when they are needed.
final class FairConnections: Sendable {
    /// How long a read waits for its owner's turn, here and among those of all event loops together.
    static let patience = Duration.seconds(6)

    private let url: String
    private let loop: EventLoop
    private let connections: Int
    private let settings: [(String, String)]
    private let name: String
    private let kind: PostgresPoolKind
    private let gate: FairGate
    private let processGate: FairGate?
    private let opened = Mutex<(pool: PostgresPool?, isStopped: Bool)>((nil, false))

    /// - Parameters:
    ///   - bounds: a read has room 1, which is a connection.
    ///   - settings: `SET` for each connection.
    ///   - name: of the application, for operators of PostgreSQL.
    ///   - kind: what the connections are counted as.
    ///   - processGate: where a read that has its turn here takes another among those of all event loops. So no loop's reads
    ///     wait while another loop has none.
    init(
        url: String, loop: EventLoop, _ bounds: FairBounds, settings: [(String, String)], name: String,
        kind: PostgresPoolKind, processGate: FairGate? = nil
    ) {
        self.url = url
        self.loop = loop
        self.settings = settings
        self.name = name
        self.kind = kind
        connections = bounds.room
        gate = FairGate(bounds, patience: Self.patience, scheduler: loop)
        self.processGate = processGate
    }

    /// Lends a connection for a read, in the owner's turn. The owner is charged for the time that the connection was its
    /// own, and not for what others did meanwhile.
    ///
    /// - Throws: `crowded` if the turn does not come.
    func run<Value>(
        for owner: WorkOwner, _ read: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(StorageError) -> Value {
        try await gate.run(for: owner, then: processGate) { () async throws(StorageError) -> Value in
            try await lend(read)
        }
    }

    private func lend<Value>(
        _ read: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(StorageError) -> Value {
        do throws(PostgresError) {
            let pool = try openedPool()
            let lease = try await pool.acquire()
            defer { pool.release(lease) }
            return try await read(lease.connection)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    func stop(cancels: Bool = false) async {
        let pool = opened.withLock { opened in
            // What waits for its turn opens none.
            opened.isStopped = true
            return opened.pool
        }
        await pool?.stop(cancels: cancels)
    }

    private func openedPool() throws(PostgresError) -> PostgresPool {
        let result: Result<PostgresPool, PostgresError> = opened.withLock { opened in
            if let pool = opened.pool { return .success(pool) }
            if opened.isStopped { return .failure(PostgresError(.stopped)) }
            do throws(PostgresError) {
                let pool = try PostgresPool(
                    url: url, connections: connections, sharedConnections: 0, loop: loop, sessionSettings: settings,
                    applicationName: name, kind: kind)
                opened.pool = pool
                return .success(pool)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
