// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkWebSocket

extension MessageConnection {
    /// Called by the group now and then.
    func checkDeadlines(_ now: Duration) {
        let limits = group.limits
        switch phase {
        case .connecting, .securing:
            if now - phaseStart > limits.handshakeDeadline { fail(.handshakeTimedOut) }
        case .heading:
            if now - phaseStart > limits.handshakeDeadline { failHead() }
        case .open:
            checkOpen(now)
        case .closing:
            guard now - phaseStart > limits.closeDeadline else { return }
            if let closingCode { report(.local(closingCode)) }
            end()
        case .lingering:
            if now - phaseStart > limits.closeDeadline { end() }
        case .ended: break
        }
    }

    private func failHead() {
        guard role == .server else { return fail(.handshakeTimedOut) }
        respond(.plain(.requestTimeout))
    }

    private func checkOpen(_ now: Duration) {
        let limits = group.limits
        if let blockedStart, now - blockedStart > limits.writeProgressDeadline {
            socket?.discardOnClose()
            return fail(.writeTimedOut)
        }
        // While we do not listen, silence says nothing.
        guard !isReadingPaused else { return }
        if let messageStart, isTooSlow(now - messageStart) {
            queueClose(.policyViolation)
            report(.failed(TransportError(.messageTimedOut)))
            return linger()
        }
        if let pingSent {
            if now - pingSent > limits.pongDeadline { fail(.idleTimedOut) }
        } else if now - lastReceived > limits.idleDeadline {
            pingSent = now
            queueControl(.ping, .owned([]))
        }
    }

    private func isTooSlow(_ elapsed: Duration) -> Bool {
        let limits = group.limits
        guard elapsed > limits.messageGrace else { return false }
        let seconds = Int((elapsed - limits.messageGrace).components.seconds)
        return messageByteCount / limits.messageBytesPerSecondMin <= seconds
    }
}
