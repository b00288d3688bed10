// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
package import TidemarkSockets

/// The connections of this process to one database. Any thread may call it; on its loop that costs no hop.
///
/// At its start it opens all shared connections, and one of the others. It opens another one when a caller waits for it, up
/// to the bound, and keeps it. When connections are lost it reopens those that are needed, with jittered back-off. While no
/// connection is available, callers wait in order, up to a deadline. So if PostgreSQL restarts within that time, only
/// callers with a batch under way notice it.
package final class PostgresPool: Sendable {
    package let loop: EventLoop
    private let limits: PostgresPoolLimits
    /// Connections that are lent to one caller at a time.
    let exclusive: PostgresConnectionGroup
    /// A few connections that all readers share.
    private let shared: PostgresConnectionGroup

    /// - Parameters:
    ///   - url: libpq's URL or keyword string; may name several hosts, with `target_session_attrs` to find the primary.
    ///   - connections: for ``acquire(timeout:)``, at most. 4 to 8 keep a PostgreSQL busy; more only wait for each other.
    ///   - sharedConnections: additional ones, for ``execute(_:timeout:)``, which must not be called if there are none.
    ///   - spareConnections: of the shared ones, those that are used only beside work that takes long.
    ///   - sessionSettings: `SET` for each connection, for example `("lock_timeout", "2s")`.
    ///   - sharedSettings: further ones for the shared connections. `statement_timeout` there, well below
    ///     ``PostgresPoolLimits/requestTimeout``, keeps a slow statement from delaying those behind it.
    ///   - kind: what the first connections are for; the shared ones are for reads.
    /// - Throws: `invalidURL`. An unreachable server is no error here.
    package init(
        url: String, connections: Int, sharedConnections: Int = 1, spareConnections: Int = 0, loop: EventLoop,
        sessionSettings: [(String, String)] = [], sharedSettings: [(String, String)] = [],
        applicationName: String = "tidemark", kind: PostgresPoolKind = .other,
        limits: PostgresPoolLimits = PostgresPoolLimits()
    ) throws(PostgresError) {
        precondition(connections > 0 && sharedConnections >= 0)
        precondition(spareConnections == 0 || spareConnections < sharedConnections)
        let parameters = try ConnectionParameters(
            url: url, settings: sessionSettings, applicationName: applicationName)
        let sharedParameters = try ConnectionParameters(
            url: url, settings: sessionSettings + sharedSettings, applicationName: applicationName)
        self.loop = loop
        self.limits = limits
        func group(
            _ kind: PostgresPoolKind, _ parameters: ConnectionParameters, _ count: Int, capacity: Int,
            spareCount: Int = 0
        ) -> PostgresConnectionGroup {
            PostgresConnectionGroup(
                loop: loop, kind: kind, parameters: parameters, count: count, capacity: capacity,
                waiterCountMax: limits.waiterCountMax, requestTimeout: limits.requestTimeout,
                renewalDelay: limits.renewalDelay, spareCount: spareCount)
        }
        exclusive = group(kind, parameters, connections, capacity: 1)
        shared = group(
            .read, sharedParameters, sharedConnections, capacity: limits.sharedBatchCountMax,
            spareCount: spareConnections)
        loop.execute { [exclusive, shared] in
            exclusive.start()
            shared.start()
        }
    }

    /// Lends a connection until ``release(_:)``, for a transaction of several batches.
    ///
    /// - Parameter timeout: how long to wait for a connection.
    /// - Throws: `connectionUnavailable`, `poolExhausted`, `stopped`; `cancelled` if the task is cancelled while it
    ///   waits.
    package func acquire(timeout: Duration? = nil) async throws(PostgresError) -> PostgresLease {
        PostgresLease(lease: try await lease(from: exclusive, timeout: timeout ?? limits.waitTimeout))
    }

    /// Takes a connection back, exactly once. An open transaction is rolled back before the next caller gets the
    /// connection.
    package func release(_ lease: PostgresLease) {
        release(lease.lease, to: exclusive)
    }

    /// Runs a batch that needs no other transaction on a shared connection, among batches of others. It takes one round
    /// trip, and no wait for a free connection.
    ///
    /// - Parameters:
    ///   - timeout: for the answer, after the wait for a connection.
    ///   - isLong: whether PostgreSQL may take many milliseconds for it. Others go to another connection then.
    package func execute(
        _ batch: [BoundStatement], timeout: Duration? = nil, isLong: Bool = false
    ) async throws(PostgresError) -> [PostgresRows] {
        for bound in batch {
            let effect = bound.statement.effect
            precondition(
                effect == .read || effect == .write, "a transaction needs a connection of its own: acquire")
        }
        let lease = try await lease(from: shared, timeout: limits.waitTimeout, isLong: isLong)
        defer { release(lease, to: shared) }
        return try await lease.connection.execute(batch, timeout: timeout)
    }

    /// Refuses new requests, waits up to ``PostgresPoolLimits/stopTimeout`` for those under way, and closes all connections.
    ///
    /// - Parameter cancels: whether PostgreSQL is asked to end what runs now. Otherwise it would go on when the connections are
    ///   closed.
    package func stop(cancels: Bool = false) async {
        // Callers that have a connection may still read by `execute`.
        await stop(exclusive, cancels: cancels)
        await stop(shared, cancels: cancels)
    }

    private func stop(_ group: PostgresConnectionGroup, cancels: Bool) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.execute { [loop, limits] in
                if cancels { group.cancelStatements() }
                let timer = loop.schedule(after: limits.stopTimeout) {
                    // A caller may have begun another one meanwhile.
                    if cancels { group.cancelStatements() }
                    group.closeAll()
                }
                group.stop {
                    timer.cancel()
                    continuation.resume()
                }
            }
        }
    }

    private func lease(
        from group: PostgresConnectionGroup, timeout: Duration, isLong: Bool = false
    ) async throws(PostgresError) -> PostgresConnectionGroup.Lease {
        // Nearly always a connection is free, so there is no need to wait.
        if loop.isCurrent, let lease = group.leaseFree(isLong: isLong) { return lease }
        let caller = WaitingCaller()
        let result = await withTaskCancellationHandler {
            let handover = Handover<LeaseResult>()
            let start: @Sendable () -> Void = {
                caller.start(in: group, timeout: timeout, isLong: isLong) { handover.give($0) }
            }
            if loop.isCurrent { start() } else { loop.execute(start) }
            return await handover.take()
        } onCancel: {
            loop.execute { caller.cancel(in: group) }
        }
        return try result.get()
    }

    private func release(_ lease: PostgresConnectionGroup.Lease, to group: PostgresConnectionGroup) {
        if loop.isCurrent { group.release(lease) } else { loop.execute { group.release(lease) } }
    }
}

/// The limits of a ``PostgresPool``, and their defaults.
package struct PostgresPoolLimits: Sendable {
    /// How long a caller waits for a connection. Longer: `connectionUnavailable`.
    package var waitTimeout = Duration.seconds(5)
    /// How many callers may wait. The next one gets `poolExhausted`.
    package var waiterCountMax = 4096
    /// How long a batch may take. Longer: `timeout`, which closes its connection. A shared connection is closed only
    /// if the server answers nothing at all for so long.
    package var requestTimeout = Duration.seconds(10)
    /// How long ``PostgresPool/stop()`` waits for callers that have a connection.
    package var stopTimeout = Duration.seconds(5)
    /// Batches under way at the same time on a shared connection.
    package var sharedBatchCountMax = 64
    /// How long after a statement of more than 1 MiB its connection is replaced, if nobody uses it then. libpq frees the
    /// statement's memory no earlier. Of several such connections, one is replaced in each such time.
    package var renewalDelay = Duration.seconds(5)

    package init() {}
}

/// A connection lent by ``PostgresPool/acquire(timeout:)``.
package struct PostgresLease: Sendable {
    let lease: PostgresConnectionGroup.Lease

    package var connection: PostgresConnection { lease.connection }
}

private typealias LeaseResult = Result<PostgresConnectionGroup.Lease, PostgresError>

/// A caller that waits for a connection and may be cancelled at any time. Loop-confined.
private final class WaitingCaller: @unchecked Sendable {
    private var number: Int?
    private var isCancelled = false

    func start(
        in group: PostgresConnectionGroup, timeout: Duration, isLong: Bool,
        _ waiter: @escaping PostgresConnectionGroup.Waiter
    ) {
        guard !isCancelled else { return waiter(.failure(PostgresError(.cancelled))) }
        number = group.lease(timeout: timeout, isLong: isLong, waiter)
    }

    func cancel(in group: PostgresConnectionGroup) {
        isCancelled = true
        if let number { group.cancel(waiter: number) }
    }
}
