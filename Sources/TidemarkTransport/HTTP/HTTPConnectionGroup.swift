// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTelemetry

/// The HTTP connections of one loop, with one timer for all their deadlines. Loop-confined.
final class HTTPConnectionGroup: @unchecked Sendable {
    let loop: EventLoop
    let limits: HTTPLimits
    let handler: any HTTPHandler
    /// Those that are here, and those that were passed to the loop and have not arrived.
    let counter: ConnectionCounter
    private var list = ConnectionList<HTTPConnection>()
    var connections: [HTTPConnection] { list.all }
    private var sweepTimer: ScheduledTimer?

    init(loop: EventLoop, limits: HTTPLimits, handler: any HTTPHandler, counter: ConnectionCounter) {
        self.loop = loop
        self.limits = limits
        self.handler = handler
        self.counter = counter
    }

    func add(_ connection: HTTPConnection) {
        list.add(connection)
        TransportMetrics.shared.open.add(1, .admin)
        scheduleSweep()
    }

    func remove(_ connection: HTTPConnection) {
        guard list.remove(connection) else { return }
        counter.remove()
        TransportMetrics.shared.open.add(-1, .admin)
        list.resumeIfEmpty()
    }

    /// Ends the connection that can best be spared, if one can: it has asked for nothing that it would miss.
    ///
    /// - Returns: whether one has ended.
    func endOneThatWaits() -> Bool {
        let waiting = connections.lazy.filter { $0.sparing != nil }
        guard
            let spared = waiting.min(by: { one, other in
                (one.sparing?.rawValue ?? 0, one.waitStart) < (other.sparing?.rawValue ?? 0, other.waitStart)
            })
        else { return false }
        TransportMetrics.shared.crowdedOut.increment()
        spared.end()
        return true
    }

    /// Returns when the last connection has ended. From any thread.
    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            loop.execute { self.list.wait(continuation) }
        }
    }

    private func scheduleSweep() {
        guard sweepTimer == nil, !connections.isEmpty else { return }
        sweepTimer = loop.schedule(after: sweepInterval) { [weak self] in self?.sweep() }
    }

    /// A quarter of the shortest deadline, so that none is missed by more than that. Once a second is always enough.
    private var sweepInterval: Duration {
        let shortest = min(
            limits.handshakeDeadline, limits.headDeadline, limits.bodyDeadline, limits.idleDeadline,
            limits.writeProgressDeadline, limits.closeDeadline)
        return min(max(shortest / 4, .milliseconds(10)), .seconds(1))
    }

    private func sweep() {
        sweepTimer = nil
        let now = loop.now
        // Backwards, because a connection that ends is replaced by the last one, which has been checked.
        for index in connections.indices.reversed() where index < connections.count {
            connections[index].checkDeadlines(now)
        }
        scheduleSweep()
    }
}
