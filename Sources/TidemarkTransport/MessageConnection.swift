// SPDX-License-Identifier: Apache-2.0

package import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry
package import TidemarkWebSocket

/// A stream of messages to one peer: socket, TLS, head and WebSocket as one state machine, in either role.
///
/// What one system call received is handed out before the next, and what is answered to it meanwhile leaves right after;
/// everything else that is due to the peer in one tick of the loop leaves at its end. Either goes in one TLS write and one
/// system call. An idle connection holds no buffers.
///
/// Loop-confined: every member may be used on ``loop`` only. Sendable so that work on the loop can capture it.
package final class MessageConnection: @unchecked Sendable {
    enum Phase {
        /// Waiting for addresses or for the TCP connection (client).
        case connecting
        /// In the TLS handshake.
        case securing
        /// Waiting for the peer's head.
        case heading
        case open
        /// Our close frame is on its way, the peer's has not come.
        case closing
        /// All is said; waiting for the peer's end of the stream, so that a reset cannot overtake our last words.
        case lingering
        case ended
    }

    package let role: Role
    /// The peer's address; nil for a client that is not connected yet.
    package internal(set) var peerAddress: SocketAddress?
    /// What the handshake agreed on; nil if nothing or not yet.
    package internal(set) var subprotocol: String?
    /// Who is told; let go of when it has heard ``MessageHandler/closed(_:_:)``.
    package internal(set) var handler: (any MessageHandler)?

    let group: ConnectionGroup
    /// The place in the group's list; -1 outside of it.
    var index = -1

    // What each message looks at. That no access is within another one is not looked up each time.

    @exclusivity(unchecked) var phase: Phase
    @exclusivity(unchecked) var socket: Socket?
    @exclusivity(unchecked) var tls: TLSSession?
    @exclusivity(unchecked) var reader: MessageReader
    @exclusivity(unchecked) var deflater: Deflater?
    @exclusivity(unchecked) var outgoing = OutgoingQueue()
    @exclusivity(unchecked) var messageStart: Duration?

    var registration: Registration?
    /// Until it is open.
    var opening: Opening?
    var deflateBytesMin = 0

    /// Is handing out what was received, and sends what was answered to it right after.
    var isReceiving = false
    /// Something waits to be sent at the end of the tick, or when it has received.
    var isFlushScheduled = false
    /// The socket takes no more; the loop tells when it does.
    var isBlocked = false
    /// What the newest ping said that came meanwhile.
    var delayedPong: [UInt8]?
    var isReadingPaused = false
    /// More than ``TransportLimits/queuedBytesLow`` has waited, and the handler will be told when it is sent.
    var isAboveLow = false
    /// Our half of the stream has ended, and the peer's.
    var hasShutDown = false
    var hasStreamEnded = false
    /// It is in the gauge of open connections.
    var isCounted = false
    /// What ``close(_:reason:)`` was called with, until the peer answers.
    var closingCode: CloseCode?

    // When things began, by the group's coarse clock.
    var phaseStart: Duration
    var lastReceived: Duration
    var pingSent: Duration?
    /// Whether that ping asks after a sleep, and its answer must come sooner.
    var isWakePing = false
    var blockedStart: Duration?
    var messageByteCount = 0
    var lingerByteCount = 0

    init(group: ConnectionGroup, role: Role, phase: Phase, opening: Opening) {
        self.group = group
        self.role = role
        self.phase = phase
        self.opening = opening
        reader = MessageReader(role: role, limits: group.limits.message)
        phaseStart = group.loop.now
        lastReceived = phaseStart
    }

    package var loop: EventLoop { group.loop }

    /// Between the handshake and the first close frame: what is sent goes out.
    package var isOpen: Bool { phase == .open }

    /// Whether TLS protects it.
    package var isSecured: Bool { tls != nil }

    /// Bytes of frames that have been sent to this connection but not yet to the kernel.
    ///
    /// Only a kernel that took no more leaves encrypted bytes behind, so mostly there is nothing to ask the session.
    package var queuedByteCount: Int { outgoing.count + (isBlocked ? tls?.outputCount ?? 0 : 0) }

    // MARK: Sending

    /// Sends a message, at the end of this tick at the latest. Does nothing when the connection is not open.
    ///
    /// Compressed if that was negotiated and the message is big enough. If more than ``TransportLimits/queuedBytesMax``
    /// then waits, the connection fails with `queueOverflow`.
    package func send(_ kind: MessageKind, _ payload: UnsafeRawBufferPointer) {
        assert(loop.isCurrent)
        guard phase == .open else { return }
        if let deflater, payload.count >= deflateBytesMin, let compressed = deflater.compress(payload) {
            compressed.withUnsafeBytes { appendFrame(kind.opcode, isCompressed: true, $0) }
        } else {
            appendFrame(kind.opcode, payload)
        }
        didQueue()
    }

    /// As ``send(_:_:)-(_,UnsafeRawBufferPointer)``.
    package func send(_ kind: MessageKind, _ payload: [UInt8]) {
        guard deflater == nil, payload.count >= Self.keptBytesMin, phase == .open else {
            return payload.withUnsafeBytes { send(kind, $0) }
        }
        assert(loop.isCurrent)
        appendFrame(kind.opcode, kept: payload)
        didQueue()
    }

    /// Sends a frame made by ``FrameEncoder/frame(_:payload:maskKey:)`` without a mask: built once for many peers. A
    /// server's connections only, since a client must mask each frame with a fresh key.
    package func sendFrame(_ frame: [UInt8]) {
        assert(loop.isCurrent)
        precondition(role == .server, "a client's frames are masked one by one")
        guard phase == .open else { return }
        outgoing.append(shared: frame)
        didQueue()
    }

    /// From this size on a message is kept as it is until it is sent, and not copied into a frame.
    private static let keptBytesMin = 131_072

    // MARK: What comes in

    /// Changes how long messages may be that begin from now on, from what ``TransportLimits/message`` says: a peer that
    /// has not said who it is need not be trusted with much memory. Longer ones end with 1009.
    package func limitMessages(to byteCount: Int) {
        assert(loop.isCurrent)
        reader.limitMessages(to: byteCount)
    }

    /// Receives no more until ``resumeReading()``, so that the peer's sends fill its own memory. Messages that the last
    /// receive brought (64 KiB of bytes at most) still come.
    package func pauseReading() {
        isReadingPaused = true
        updateInterest()
    }

    package func resumeReading() {
        isReadingPaused = false
        // What the peer did while nobody listened is not silence.
        lastReceived = group.now
        updateInterest()
    }

    // MARK: The end

    /// Begins the closing handshake: what was sent before still goes out, nothing after it. The handler is told when the
    /// peer has answered, or after ``TransportLimits/closeDeadline``.
    ///
    /// Before the connection is open it just ends. Twice it does nothing.
    package func close(_ code: CloseCode = .normal, reason: String = "") {
        assert(loop.isCurrent)
        switch phase {
        case .connecting, .securing, .heading:
            report(.local(code))
            end()
        case .open:
            closingCode = code
            enter(.closing)
            queueClose(code, reason: reason)
            if isReadingPaused { resumeReading() }
        case .closing, .lingering, .ended: break
        }
    }

    func enter(_ next: Phase) {
        phase = next
        phaseStart = group.now
    }

    /// Tells the handler, once; it is not called again.
    func report(_ reason: CloseReason) {
        let handler = handler
        self.handler = nil
        handler?.closed(self, reason)
    }

    /// Ends at once: nothing more is sent.
    func fail(_ code: TransportError.Code, _ underlying: (any Error)? = nil) {
        guard phase != .ended else { return }
        let error = TransportError(code, underlying: underlying)
        if role == .server, opening != nil {
            // Nobody else hears of it.
            TransportMetrics.failedHandshakes.increment()
            TransportMetrics.log.debug(
                "handshake failed", ["peer": peerAddress?.description ?? "", "error": error.description])
        }
        end()
        report(.failed(error))
    }

    /// All is said: sends what waits, then the end of the stream, and waits for the peer's.
    func linger() {
        guard phase != .ended else { return }
        enter(.lingering)
        opening = nil
        isReadingPaused = false
        updateInterest()
        scheduleFlush()
    }

    /// Lets go of everything.
    func end() {
        guard phase != .ended else { return }
        enter(.ended)
        registration?.cancel()
        registration = nil
        socket?.close()
        socket = nil
        tls = nil
        opening = nil
        deflater = nil
        reader = MessageReader(role: role)
        outgoing.clear()
        if isCounted { TransportMetrics.open.add(-1) }
        group.remove(self)
    }
}

extension MessageConnection: EventHandler, TickFlushable {
    package func ready(_ readiness: Readiness) {
        if phase == .connecting { return finishConnecting() }
        if readiness.contains(.writable) { write() }
        if readiness.contains(.readable) || readiness.contains(.hangup) { receive() }
    }

    package func flush() {
        isFlushScheduled = false
        write()
    }

    func updateInterest() {
        var interest: Interest = []
        // An ended stream is readable for ever.
        if !isReadingPaused, !hasStreamEnded { interest.insert(.readable) }
        if isBlocked { interest.insert(.writable) }
        registration?.update(interest)
    }
}
