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
        case .connecting, .proxied, .securing:
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

    /// The peer may have been gone for long. The connection pings it at once, and connections that were being opened
    /// start again.
    private func wokeUp(_ now: Duration) {
        switch phase {
        case .connecting, .proxied, .securing, .heading: fail(.handshakeTimedOut)
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
        if noteProgress(now), role == .client { handler?.progressed(self) }
        if outgoing.isStuck(now, deadline: limits.writeProgressDeadline) {
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
        let lastDelivery = outgoing.delivery.last ?? .zero
        if let pingSent {
            // The ping waits behind earlier output.
            let silence = now - max(pingSent, lastDelivery)
            if silence > (isWakePing ? limits.wakeDeadline : limits.pongDeadline) { fail(.idleTimedOut) }
        } else if now - max(lastReceived, lastDelivery) > limits.idleDeadline {
            pingSent = now
            isWakePing = false
            queueControl(.ping, .owned([]))
        }
    }

    /// - Returns: whether bytes have moved of a message that was not complete at the last check.
    private func noteProgress(_ now: Duration) -> Bool {
        // It is complete, or there is more of it.
        let isArriving = wasUnfinished && (messageStart == nil || seenByteCount < messageByteCount)
        (wasUnfinished, seenByteCount) = (messageStart != nil, messageByteCount)
        return isDelivering(now) || isArriving
    }

    /// Whether the peer takes the bytes that were sent. A server asks its kernel only about silent peers, because most
    /// others have taken everything.
    private func isDelivering(_ now: Duration) -> Bool {
        let limits = group.limits
        guard let socket, !outgoing.delivery.isComplete,
            role == .client || outgoing.isBlocked || now - lastReceived > limits.writeProgressDeadline / 8
        else { return false }
        return outgoing.delivery.look(
            unacknowledged: socket.unacknowledgedByteCount, bytesPerSecondMin: limits.messageBytesPerSecondMin, now: now
        )
    }

    private func isTooSlow(_ elapsed: Duration) -> Bool {
        let limits = group.limits
        guard elapsed > limits.messageGrace else { return false }
        let seconds = Int((elapsed - limits.messageGrace).components.seconds)
        return messageByteCount / limits.messageBytesPerSecondMin <= seconds
    }
}
