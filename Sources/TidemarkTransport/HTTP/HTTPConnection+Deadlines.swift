// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets

extension HTTPConnection {
    /// Called by the group at intervals.
    func checkDeadlines(_ now: Duration) {
        let limits = group.limits
        if let stopStart, now - stopStart > limits.closeDeadline { return cutOff() }
        switch phase {
        case .securing:
            if now - waitStart > limits.handshakeDeadline { end() }
        case .serving: checkServing(now)
        case .lingering:
            if isStuck(now) { return cutOff() }
            if let shutDownTime, now - shutDownTime > limits.closeDeadline { end() }
        case .ended: break
        }
    }

    private func checkServing(_ now: Duration) {
        let limits = group.limits
        if isStuck(now) { return cutOff() }
        // While its peer does not read, a request is not awaited.
        guard hasRoom else { return }
        let waited = now - waitStart
        switch awaited {
        case .request: if waited > limits.idleDeadline { linger() }
        case .head: if waited > limits.headDeadline { timeOut() }
        case .body: if waited > limits.bodyDeadline { timeOut() }
        case .answer, .nothing: break
        }
    }

    /// Whether the peer takes no bytes of the output that waits for it. The kernel reports them.
    private func isStuck(_ now: Duration) -> Bool {
        guard let socket, outgoing.isBlocked else { return false }
        let limits = group.limits
        _ = outgoing.delivery.look(
            unacknowledged: socket.unacknowledgedByteCount, bytesPerSecondMin: limits.sentBytesPerSecondMin, now: now)
        return outgoing.isStuck(now, deadline: limits.writeProgressDeadline)
    }
}
