// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkCrypto
internal import TidemarkScheduling
internal import TidemarkSockets

/// The connections of one loop, and what they share: limits, a coarse clock, and one timer for all their deadlines.
///
/// A timer for each connection would take more memory than the connection's own state. For deadlines of seconds it is
/// enough to check all connections at intervals. Loop-confined.
final class ConnectionGroup: TickFlushable, @unchecked Sendable {
    let loop: EventLoop
    let limits: TransportLimits
    /// The kind of a server's connections in the metrics.
    let listener: ListenerKind
    /// ``EventLoop/now`` at the last check or the last new connection. Deadlines are measured from it.
    private(set) var now: Duration
    private var list = ConnectionList<MessageConnection>()
    var connections: [MessageConnection] { list.all }
    var unfinished: HeldBytes
    var unsent: HeldBytes
    /// A clock that also counts while the machine sleeps; the next property is its time at the last check.
    private let clockWithSleep: @Sendable () -> Duration
    private var lastLook: Duration
    /// For a server: the connections that are here, and those that were passed to the loop and have not arrived. Nil
    /// for a client.
    private let counter: ConnectionCounter?
    private var sweepTimer: ScheduledTimer?
    private var handshakes: HandshakeTurns<MessageConnection>
    private var isFlushScheduled = false
    private var masks: [UInt32] = []

    /// Turns in one tick for connections that wait for a step, including those whose peer has ended the stream. The
    /// latter take no step, but some microseconds.
    private static let handshakeTurnsPerTickMax = 64

    /// - Parameter clockWithSleep: nil for the loop's.
    init(
        loop: EventLoop, limits: TransportLimits, listener: ListenerKind = .clients, counter: ConnectionCounter? = nil,
        clockWithSleep: (@Sendable () -> Duration)? = nil
    ) {
        self.loop = loop
        self.limits = limits
        self.listener = listener
        self.counter = counter
        handshakes = HandshakeTurns(stepsPerTickMax: limits.handshakeStepsPerTickMax)
        unfinished = HeldBytes(bytesMax: limits.unfinishedBytesMax)
        unsent = HeldBytes(bytesMax: limits.unsentBytesMax)
        let clock = clockWithSleep ?? { loop.nowWithSleep }
        self.clockWithSleep = clock
        now = loop.now
        lastLook = clock()
    }

    func add(_ connection: MessageConnection) {
        list.add(connection)
        now = loop.now
        scheduleSweep(after: clockWithSleep())
    }

    func remove(_ connection: MessageConnection) {
        guard list.remove(connection) else { return }
        counter?.remove()
        list.resumeIfEmpty()
    }

    /// Returns when the last connection has ended. From any thread.
    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            loop.execute { self.list.wait(continuation) }
        }
    }

    // MARK: Deadlines

    private func scheduleSweep(after look: Duration) {
        guard sweepTimer == nil, !connections.isEmpty else { return }
        lastLook = look
        sweepTimer = loop.schedule(after: sweepInterval) { [weak self] in self?.sweep() }
    }

    /// A quarter of the shortest deadline, so that none is missed by more than that. Once a second is always enough.
    private var sweepInterval: Duration {
        let shortest = min(
            limits.handshakeDeadline, limits.idleDeadline, limits.pongDeadline, limits.writeProgressDeadline,
            limits.messageGrace, limits.closeDeadline)
        return min(max(shortest / 4, .milliseconds(10)), .seconds(1))
    }

    private func sweep() {
        sweepTimer = nil
        now = loop.now
        // NB: the clock is read once for this sweep and the next. A sleep between two reads would go unnoticed by both.
        let look = clockWithSleep()
        let hasSlept = look - lastLook > sweepInterval + limits.sleepMin
        // Backwards, because a connection that ends is replaced by the last one, which has been checked.
        for index in connections.indices.reversed() where index < connections.count {
            connections[index].checkDeadlines(now, hasSlept: hasSlept)
        }
        scheduleSweep(after: look)
    }

    // MARK: Steps of TLS handshakes

    /// Whether a connection from this block takes its step at once. Otherwise it waits, and gets a turn.
    func mayTakeHandshakeStep(_ connection: MessageConnection, of block: AddressBlock) -> Bool {
        if handshakes.mayStep(connection, of: block) { return true }
        scheduleFlush()
        return false
    }

    /// A connection from this block takes a step.
    func takesHandshakeStep(of block: AddressBlock) {
        handshakes.takesStep(of: block)
        scheduleFlush()
    }

    /// A connection that waits has ended.
    func leavesHandshakeTurns(_ connection: MessageConnection, of block: AddressBlock) {
        handshakes.leave(connection, of: block)
    }

    private func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        loop.atEndOfTick(self)
    }

    /// The tick is over: those that wait get the steps that are left.
    func flush() {
        for _ in 0..<Self.handshakeTurnsPerTickMax {
            guard let connection = handshakes.next() else { break }
            connection.takeHandshakeTurn()
        }
        handshakes.endTick()
        isFlushScheduled = false
        if !handshakes.isEmpty { scheduleFlush() }
    }

    // MARK: Shared things

    /// A key that nobody can guess (RFC 6455 §5.3), from a supply that is generated at once.
    func takeMaskKey() -> UInt32 {
        if masks.isEmpty {
            masks = [UInt32](repeating: 0, count: 256)
            masks.withUnsafeMutableBytes { SecureRandom.fill($0) }
        }
        return masks.removeLast()
    }
}

/// How many connections a server has on all its loops, or on one of them.
final class ConnectionCounter: Sendable {
    private let count = Atomic<Int>(0)
    private let max: Int
    /// Also counts these connections.
    private let total: ConnectionCounter?

    init(max: Int, total: ConnectionCounter? = nil) {
        self.max = max
        self.total = total
    }

    var value: Int { count.load(ordering: .relaxed) }

    /// False, with nothing added, if the limit is reached.
    func add() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= max, total?.add() ?? true { return true }
        count.subtract(1, ordering: .relaxed)
        return false
    }

    func remove() {
        count.subtract(1, ordering: .relaxed)
        total?.remove()
    }
}
