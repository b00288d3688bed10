// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
package import TidemarkSockets

/// The connections of this process to one database. Any thread may call it; on its loop that costs no hop.
///
/// It opens its connections at once and opens them again, with jittered back-off, when they are lost. Who asks while
/// none is free or none can be made waits, in order, up to a deadline: a PostgreSQL that restarts within that time is not
/// noticed by those who had nothing under way.
package final class PostgresPool: Sendable {
    /// The limits of a pool, and their defaults.
    package struct Limits: Sendable {
        /// How long to wait for a connection before `connectionUnavailable`.
        package var waitTimeout = Duration.seconds(5)
        /// How many may wait; the next gets `poolExhausted`.
        package var waiterCountMax = 4096
        /// How long a batch's answer may take before `timeout`, which closes its connection.
        package var requestTimeout = Duration.seconds(10)
        /// How long ``PostgresPool/stop()`` waits for those who have a connection.
        package var stopTimeout = Duration.seconds(5)
        /// Batches under way at the same time on a connection for reading.
        package var sharedBatchCountMax = 64

        package init() {}
    }

    package let loop: EventLoop
    private let limits: Limits
    /// Each connection is lent to one caller at a time.
    let exclusive: ConnectionGroup
    /// Few connections for all.
    private let shared: ConnectionGroup

    /// - Parameters:
    ///   - url: libpq's URL or keyword string; may name several hosts, with `target_session_attrs` to find the primary.
    ///   - connections: for ``withConnection(timeout:_:)``. 4 to 8 keep a PostgreSQL busy, more only wait for each other.
    ///   - sharedConnections: further ones, for ``execute(_:timeout:)``.
    ///   - sessionSettings: `SET` for each connection, for example `("lock_timeout", "2s")`.
    /// - Throws: `invalidURL`. That nobody answers there is no error here.
    package init(
        url: String, connections: Int, sharedConnections: Int = 1, loop: EventLoop,
        sessionSettings: [(String, String)] = [], applicationName: String = "tidemark", limits: Limits = Limits()
    ) throws(PostgresError) {
        precondition(connections > 0 && sharedConnections > 0)
        let parameters = try ConnectionParameters(
            url: url, settings: sessionSettings, applicationName: applicationName)
        self.loop = loop
        self.limits = limits
        func group(_ count: Int, capacity: Int) -> ConnectionGroup {
            ConnectionGroup(
                loop: loop, parameters: parameters, count: count, capacity: capacity,
                waiterCountMax: limits.waiterCountMax, requestTimeout: limits.requestTimeout)
        }
        exclusive = group(connections, capacity: 1)
        shared = group(sharedConnections, capacity: limits.sharedBatchCountMax)
        loop.execute { [exclusive, shared] in
            exclusive.start()
            shared.start()
        }
    }

    /// Lends a connection for the time of `body`, for transactions of several batches.
    ///
    /// A transaction that `body` leaves open, by an error or otherwise, is rolled back before the next caller gets the
    /// connection.
    ///
    /// - Parameter timeout: how long to wait for a connection.
    /// - Throws: what `body` throws; `connectionUnavailable`, `poolExhausted`, `stopped`; `cancelled` if the task is
    ///   cancelled while it waits.
    package func withConnection<Success>(
        timeout: Duration? = nil, _ body: (PostgresConnection) async throws -> Success
    ) async throws -> Success {
        let lease = try await acquire(timeout: timeout)
        defer { release(lease) }
        return try await body(lease.connection)
    }

    /// Lends a connection until ``release(_:)``, for a transaction that outlives one function.
    ///
    /// - Throws: as ``withConnection(timeout:_:)``.
    package func acquire(timeout: Duration? = nil) async throws(PostgresError) -> PostgresLease {
        PostgresLease(lease: try await lease(from: exclusive, timeout: timeout ?? limits.waitTimeout))
    }

    /// Takes a connection back, exactly once. A transaction that is still open is rolled back before the next caller
    /// gets it.
    package func release(_ lease: PostgresLease) {
        release(lease.lease, to: exclusive)
    }

    /// Runs a batch that needs no transaction but its own on a connection for reading, among those of others: one
    /// round trip, no waiting for a free connection.
    ///
    /// - Parameter timeout: for the answer; the wait for a connection comes before it.
    package func execute(
        _ batch: [BoundStatement], timeout: Duration? = nil
    ) async throws(PostgresError) -> [PostgresRows] {
        for bound in batch {
            let effect = bound.statement.effect
            precondition(
                effect == .read || effect == .write, "a transaction needs a connection of its own: withConnection")
        }
        let lease = try await lease(from: shared, timeout: limits.waitTimeout)
        defer { release(lease, to: shared) }
        return try await lease.connection.execute(batch, timeout: timeout)
    }

    /// Refuses new requests, waits up to ``Limits/stopTimeout`` for those under way, and closes all connections.
    package func stop() async {
        // Who has a connection may still read by `execute`.
        await stop(exclusive)
        await stop(shared)
    }

    private func stop(_ group: ConnectionGroup) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.execute { [loop, limits] in
                let timer = loop.schedule(after: limits.stopTimeout) { group.closeAll() }
                group.stop {
                    timer.cancel()
                    continuation.resume()
                }
            }
        }
    }

    private func lease(
        from group: ConnectionGroup, timeout: Duration
    ) async throws(PostgresError) -> ConnectionGroup.Lease {
        // Nearly always one is free, and there is nothing to wait for.
        if loop.isCurrent, let lease = group.leaseFree() { return lease }
        let ticket = Ticket()
        let result = await withTaskCancellationHandler {
            let handover = Handover<LeaseResult>()
            let start: @Sendable () -> Void = {
                ticket.start(in: group, timeout: timeout) { handover.give($0) }
            }
            if loop.isCurrent { start() } else { loop.execute(start) }
            return await handover.take()
        } onCancel: {
            loop.execute { ticket.cancel(in: group) }
        }
        return try result.get()
    }

    private func release(_ lease: ConnectionGroup.Lease, to group: ConnectionGroup) {
        if loop.isCurrent { group.release(lease) } else { loop.execute { group.release(lease) } }
    }
}

/// A connection that is lent by ``PostgresPool/acquire(timeout:)``.
package struct PostgresLease: Sendable {
    let lease: ConnectionGroup.Lease

    package var connection: PostgresConnection { lease.connection }
}

private typealias LeaseResult = Result<ConnectionGroup.Lease, PostgresError>

/// Someone who wants a connection and may be cancelled at any time. Loop-confined.
private final class Ticket: @unchecked Sendable {
    private var number: Int?
    private var isCancelled = false

    func start(in group: ConnectionGroup, timeout: Duration, _ waiter: @escaping ConnectionGroup.Waiter) {
        guard !isCancelled else { return waiter(.failure(PostgresError(.cancelled))) }
        number = group.lease(timeout: timeout, waiter)
    }

    func cancel(in group: ConnectionGroup) {
        isCancelled = true
        if let number { group.cancel(waiter: number) }
    }
}
