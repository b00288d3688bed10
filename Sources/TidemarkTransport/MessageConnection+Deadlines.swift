// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkWebSocket

extension MessageConnection {
    /// Called by the group at intervals.
    ///
    /// - Parameter hasSlept: whether the machine or the process slept since the last call.
    func checkDeadlines(_ now: Duration, hasSlept: Bool) {
        let limits = group.limits
        if hasSlept, role == .client { wokeUp(now) }
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

    /// The peer may have been gone for long. It is asked at once, and connections that were being opened begin anew.
    private func wokeUp(_ now: Duration) {
        switch phase {
        case .connecting, .securing, .heading: fail(.handshakeTimedOut)
        case .open where !isReadingPaused:
            pingSent = now
            isWakePing = true
            queueControl(.ping, .owned([]))
        case .open, .closing, .lingering, .ended: break
        }
    }

    private func failHead() {
        guard role == .server else { return fail(.handshakeTimedOut) }
        respond(.plain(.requestTimeout), omitsBody: opening?.isHead ?? false)
    }

    private func checkOpen(_ now: Duration) {
        let limits = group.limits
        if let blockedStart, now - blockedStart > limits.writeProgressDeadline {
            socket?.discardOnClose()
            return fail(.writeTimedOut)
        }
        // While reading is paused, silence means nothing.
        guard !isReadingPaused else { return }
        if let messageStart, isTooSlow(now - messageStart) {
            queueClose(.policyViolation)
            report(.failed(TransportError(.messageTimedOut)))
            return linger()
        }
        if let pingSent {
            if now - pingSent > (isWakePing ? limits.wakeDeadline : limits.pongDeadline) { fail(.idleTimedOut) }
        } else if now - lastReceived > limits.idleDeadline {
            pingSent = now
            isWakePing = false
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
