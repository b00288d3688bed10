// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTelemetry

/// Several connections of one kind: opens them, reopens them, and lends them. Loop-confined.
///
/// Those that are lent to one caller at a time are opened on demand (``LeaseTable``). Shared ones are all opened at the start:
/// if the others came later, two long reads could be on the first one, and everybody would wait behind both.
final class PostgresConnectionGroup: @unchecked Sendable {
    struct Lease: Sendable {
        let place: Int
        let connection: PostgresConnection
        /// Whether the caller's work takes long.
        let isLong: Bool
    }

    typealias Waiter = @Sendable (Result<Lease, PostgresError>) -> Void

    private let loop: EventLoop
    private let kind: PostgresPoolKind
    private let parameters: ConnectionParameters
    private let requestTimeout: Duration
    private let isShared: Bool
    private var table: LeaseTable
    private var connections: [PostgresConnection?]
    private var backOffs: [BackOff]
    private var waiters: [Int: WaitingLease] = [:]
    private var nextWaiter = 0
    private var isStopped = false
    private let renewalDelay: Duration
    private var renewalTimer: ScheduledTimer?
    /// The place whose connection is being replaced.
    private var renewedPlace: Int?
    private struct WaitingLease {
        let waiter: Waiter
        let timer: ScheduledTimer
        let start: Duration
        let isLong: Bool
    }

    /// Called when the last lease has been returned after ``stop(whenDrained:)``.
    private var whenDrained: (@Sendable () -> Void)?
    /// Why the last attempt to connect failed. Callers that waited in vain are told.
    private(set) var lastFailure: PostgresError?

    /// If a connection is returned within a transaction, its ROLLBACK must be answered in this time. Otherwise it is
    /// closed.
    private static let rollbackTimeout = Duration.seconds(5)

    init(
        loop: EventLoop, kind: PostgresPoolKind, parameters: ConnectionParameters, count: Int, capacity: Int,
        waiterCountMax: Int, requestTimeout: Duration, renewalDelay: Duration, spareCount: Int = 0
    ) {
        self.loop = loop
        self.kind = kind
        self.parameters = parameters
        self.requestTimeout = requestTimeout
        self.renewalDelay = renewalDelay
        isShared = capacity > 1
        table = LeaseTable(
            placeCount: count, capacity: capacity, waiterCountMax: waiterCountMax, spareCount: spareCount,
            opensOnDemand: !isShared)
        connections = Array(repeating: nil, count: count)
        backOffs = Array(repeating: BackOff(), count: count)
    }

    func start() { openPlaces() }

    /// Lends a connection, now or when one is free. Returns the number for ``cancel(waiter:)``.
    @discardableResult
    func lease(timeout: Duration, isLong: Bool = false, _ waiter: @escaping Waiter) -> Int {
        nextWaiter += 1
        let number = nextWaiter
        guard !isStopped else {
            waiter(.failure(PostgresError(.stopped)))
            return number
        }
        switch table.acquire(waiter: number, isLong: isLong) {
        case .granted(let place):
            noteLease(after: .zero)
            grant(place, to: waiter, isLong: isLong)
        case .refused: waiter(.failure(PostgresError(.poolExhausted)))
        case .wait:
            let timer = loop.schedule(after: timeout) { [weak self] in self?.expire(number) }
            waiters[number] = WaitingLease(waiter: waiter, timer: timer, start: loop.now, isLong: isLong)
            openPlaces()
        }
        return number
    }

    /// Lends a free connection; nil if there is none, or if the group has stopped.
    func leaseFree(isLong: Bool = false) -> Lease? {
        guard !isStopped, let place = table.acquireFree(isLong: isLong), let connection = connections[place] else {
            return nil
        }
        noteLease(after: .zero)
        return Lease(place: place, connection: connection, isLong: isLong)
    }

    private func noteLease(after wait: Duration) {
        PostgresMetrics.shared.leases.add(1, kind)
        PostgresMetrics.shared.waits.observe(wait, kind)
    }

    /// The caller stops waiting.
    func cancel(waiter number: Int) {
        dismiss(number, PostgresError(.cancelled))
    }

    func release(_ lease: Lease) {
        let connection = lease.connection
        PostgresMetrics.shared.leases.add(-1, kind)
        guard connection.isOpen, connection.needsRollback else {
            return giveBack(lease)
        }
        connection.start([.rollback], timeout: Self.rollbackTimeout) { [weak self] outcome in
            if case .failure(let error) = outcome { connection.close(error) }
            self?.giveBack(lease)
        }
    }

    /// Refuses waiting and new callers, lets those with a connection finish, and then closes.
    func stop(whenDrained: @escaping @Sendable () -> Void) {
        isStopped = true
        renewalTimer?.cancel()
        self.whenDrained = whenDrained
        for number in table.stop() {
            guard let waiting = waiters.removeValue(forKey: number) else { continue }
            waiting.timer.cancel()
            waiting.waiter(.failure(PostgresError(.stopped)))
        }
        closeIfDrained()
    }

    /// Asks PostgreSQL to end what runs on the connections.
    func cancelStatements() {
        for connection in connections { connection?.cancelStatement() }
    }

    /// Ends a ``stop(whenDrained:)`` that takes too long: closes even connections that are lent.
    func closeAll() {
        for connection in connections { connection?.close(PostgresError(.stopped)) }
        let whenDrained = self.whenDrained
        self.whenDrained = nil
        whenDrained?()
    }

    var waiterCount: Int { table.waiterCount }
    var openCount: Int { connections.reduce(0) { $0 + ($1 == nil ? 0 : 1) } }

    private func giveBack(_ lease: Lease) {
        if connections[lease.place]?.isLarge == true { renewLater() }
        serve(table.release(lease.place, isLong: lease.isLong))
        closeIfDrained()
    }

    private func closeIfDrained() {
        if isStopped, table.useCount == 0 { closeAll() }
    }

    private func grant(_ place: Int, to waiter: Waiter, isLong: Bool) {
        guard let connection = connections[place] else { preconditionFailure("An open place has a connection.") }
        waiter(.success(Lease(place: place, connection: connection, isLong: isLong)))
    }

    private func serve(_ grants: [(waiter: Int, place: Int)]) {
        for (number, place) in grants {
            guard let waiting = waiters.removeValue(forKey: number) else {
                preconditionFailure("Whoever waits is known.")
            }
            waiting.timer.cancel()
            noteLease(after: loop.now - waiting.start)
            grant(place, to: waiting.waiter, isLong: waiting.isLong)
        }
    }

    private func expire(_ number: Int) {
        dismiss(number, PostgresError(.connectionUnavailable, detail: whyNoneIsFree))
    }

    /// With all of the connections in use, they are merely busy. Otherwise the reason why one is missing is of interest.
    private var whyNoneIsFree: String {
        if openCount == connections.count { return "all \(openCount) connections are in use" }
        let reason = lastFailure?.detail ?? ""
        if openCount == 0 { return reason }
        let use = "\(openCount) connections are in use, and no other could be opened"
        return reason.isEmpty ? use : "\(use): \(reason)"
    }

    private func dismiss(_ number: Int, _ error: PostgresError) {
        guard table.leave(waiter: number), let waiting = waiters.removeValue(forKey: number) else { return }
        waiting.timer.cancel()
        PostgresMetrics.shared.waits.observe(loop.now - waiting.start, kind)
        waiting.waiter(.failure(error))
    }

    // MARK: Connecting

    private func openPlaces() {
        guard !isStopped else { return }
        for place in table.placesToOpen() { connect(place) }
    }

    private func connect(_ place: Int) {
        guard !isStopped else { return }
        PostgresConnector.connect(parameters, loop: loop) { [weak self] result in
            self?.connected(place, result)
        }
    }

    private func connected(_ place: Int, _ result: Result<LibpqConnection, PostgresError>) {
        guard !isStopped else { return }
        do throws(PostgresError) {
            let link = try result.get()
            let connection = try PostgresConnection(
                link, loop: loop, timeout: requestTimeout, isShared: isShared
            ) { [weak self] error in
                self?.closed(place, error)
            }
            connections[place] = connection
            PostgresMetrics.shared.open.add(1, kind)
            backOffs[place].reset()
            lastFailure = nil
            serve(table.opened(place))
            openPlaces()
        } catch {
            PostgresMetrics.shared.failedConnects.increment(kind)
            FailureLog.shared.note(
                .warning, "PostgreSQL cannot be reached", cause: error.kind,
                ["error": error.textForLog, "advice": Self.advice], request: nil)
            lastFailure = error
            connectLater(place)
        }
    }

    /// For whoever reads of a connection that failed.
    private static let advice = "check that PostgreSQL runs and can be reached; tidemark reconnects by itself"

    private func closed(_ place: Int, _ error: PostgresError) {
        PostgresMetrics.shared.open.add(-1, kind)
        if place == renewedPlace {
            connections[place] = nil
            table.closed(place)
            return connect(place)
        }
        if !isStopped {
            PostgresMetrics.shared.lost.increment(kind)
            FailureLog.shared.note(
                .warning, "a connection to PostgreSQL was lost", cause: error.kind,
                ["error": error.textForLog, "advice": Self.advice], request: nil)
        }
        connections[place] = nil
        table.closed(place)
        lastFailure = error
        connectLater(place)
    }

    private func connectLater(_ place: Int) {
        guard !isStopped else { return }
        let delay = backOffs[place].next(randomBits: loop.randomBits())
        loop.schedule(after: delay) { [weak self] in self?.connectAgain(place) }
    }

    private func connectAgain(_ place: Int) {
        guard !isStopped, table.reopens(place) else { return }
        connect(place)
    }

    // MARK: Renewing

    /// Replaces large connections that nobody uses, one after the other, so that their memory is freed.
    private func renewLater() {
        guard renewalTimer == nil, !isStopped else { return }
        renewalTimer = loop.schedule(after: renewalDelay) { [weak self] in self?.renew() }
    }

    private func renew() {
        renewalTimer = nil
        let large = connections.indices.filter { connections[$0]?.isLarge == true }
        if let place = large.first(where: { table.isUnused($0) && connections[$0]?.isIdle == true }) {
            renewedPlace = place
            connections[place]?.close(PostgresError(.stopped))
            renewedPlace = nil
        }
        if connections.contains(where: { $0?.isLarge == true }) { renewLater() }
    }
}
