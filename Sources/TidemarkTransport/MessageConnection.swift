// SPDX-License-Identifier: Apache-2.0

package import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry
package import TidemarkWebSocket

/// A stream of messages to one peer, in either role: socket, TLS, head and WebSocket as one state machine.
///
/// The bytes of one system call are passed on before the next call, and answers to them are sent right after. All other
/// output of one tick of the loop is sent at its end. Each goes in one TLS write and one system call. An idle
/// connection holds no buffers.
///
/// Loop-confined: use every member on ``loop`` only. Sendable so that work on the loop can capture it.
package final class MessageConnection: ListedConnection, @unchecked Sendable {
    enum Phase {
        /// Waiting for addresses or for the TCP connection (client).
        case connecting
        /// Waiting for the header of a proxy (server).
        case proxied
        /// In the TLS handshake.
        case securing
        /// Waiting for the peer's head.
        case heading
        case open
        /// Our close frame has been sent, and the peer's has not arrived.
        case closing
        /// Everything has been sent. It waits for the end of the peer's stream, so that a reset cannot overtake our
        /// last bytes.
        case lingering
        case ended
    }

    /// The peer's address; nil for a client that is not connected yet. Behind a proxy that says so it is that of the proxy's
    /// client.
    package internal(set) var peerAddress: SocketAddress?
    /// The handler, which is released after ``MessageHandler/closed(_:_:)``.
    package internal(set) var handler: (any MessageHandler)?

    let group: ConnectionGroup
    var index = -1

    // Fields that each message uses. `unchecked` saves the runtime check for overlapping access.

    @exclusivity(unchecked) var socket: Socket?
    @exclusivity(unchecked) var tls: TLSSession?
    @exclusivity(unchecked) var reader: MessageReader
    @exclusivity(unchecked) var deflater: Deflater?
    @exclusivity(unchecked) var outgoing = OutgoingStream()
    @exclusivity(unchecked) var messageStart: Duration?

    // NB: the following take a byte or two each, because they stand together.

    @exclusivity(unchecked) var phase: Phase
    package let role: WebSocketRole
    /// Whether it is passing on received bytes. It sends the answers right after.
    var isReceiving = false
    /// Whether something waits to be sent at the end of the tick, or after receiving.
    var isFlushScheduled = false
    var isReadingPaused = false
    /// Whether more than ``TransportLimits/queuedBytesLow`` has waited. The handler is called when it has been sent.
    var isAboveLow = false
    /// Whether our half of the stream has ended; the next property is about the peer's.
    var hasShutDown = false
    var hasStreamEnded = false
    /// Whether the gauge of open connections counts it.
    var isCounted = false
    /// Whether ``pingSent`` was after a sleep. The answer must come sooner.
    var isWakePing = false
    /// The code given to ``close(_:reason:)``, until the peer answers.
    var closingCode: CloseCode?
    /// Whether a message was unfinished at the last check.
    var wasUnfinished = false

    var registration: Registration?
    /// Nil once it is open.
    var opening: Opening?
    /// Its place among a server's connections, if that counts them by kind.
    var pass: ConnectionPass?
    /// Its owner; 0 for none.
    var owner: UInt64 = 0
    /// The bytes that its group counts for a message that has arrived in part.
    var unfinishedBytes = 0
    /// The bytes that count for it in ``ConnectionGroup/queues(_:_:)``.
    var unsentBytes = 0
    /// The payload of the newest ping that arrived while it was blocked.
    var delayedPong: [UInt8]?

    // Times by the group's coarse clock.
    var phaseStart: Duration
    var lastReceived: Duration
    var pingSent: Duration?
    var messageByteCount = 0
    /// How much of an unfinished message was there at the last check. `Int.min`: another one has begun since.
    var seenByteCount = 0
    var lingerByteCount = 0

    init(group: ConnectionGroup, role: WebSocketRole, phase: Phase, opening: Opening) {
        self.group = group
        self.role = role
        self.phase = phase
        self.opening = opening
        reader = MessageReader(role: role, limits: group.limits.message)
        phaseStart = group.loop.now
        lastReceived = phaseStart
    }

    package var loop: EventLoop { group.loop }

    /// Whether it is between the handshake and the first close frame, so that messages are sent.
    package var isOpen: Bool { phase == .open }

    /// Whether TLS protects it.
    package var isSecured: Bool { tls != nil }

    /// Bytes of frames that were sent on this connection and have not reached the kernel.
    ///
    /// Encrypted bytes remain only if the kernel accepted no more, so usually the session does not have to be asked.
    package var queuedByteCount: Int { outgoing.queue.count + encryptedByteCount }
    /// The memory of what waits until the peer takes it.
    var queuedMemory: Int { outgoing.queue.memory + encryptedByteCount }
    private var encryptedByteCount: Int { outgoing.isBlocked ? tls?.outputCount ?? 0 : 0 }

    // MARK: Sending

    /// Sends a message, at the latest at the end of this tick. Does nothing if the connection is not open.
    ///
    /// The message is compressed if that was negotiated and the message is large enough. If more than
    /// ``TransportLimits/queuedBytesMax`` then waits, the connection fails with `queueOverflow`.
    package func send(_ kind: MessageKind, _ payload: UnsafeRawBufferPointer) {
        assert(loop.isCurrent)
        guard phase == .open else { return }
        if let deflater, payload.count >= deflater.messageBytesMin, let compressed = deflater.compress(payload) {
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

    /// Sends a frame from ``FrameEncoder/frame(_:payload:maskKey:)`` without a mask, which was built once for many
    /// peers. Only for a server's connections, because a client must mask each frame with a new key.
    package func sendFrame(_ frame: [UInt8]) {
        assert(loop.isCurrent)
        precondition(role == .server, "a client's frames are masked one by one")
        guard phase == .open else { return }
        outgoing.queue.append(shared: frame)
        didQueue()
    }

    /// From this size on, a message is kept as it is until it is sent, and not copied into a frame.
    private static let keptBytesMin = 131_072

    // MARK: Input

    /// Changes the longest allowed message, from now on, from the value in ``TransportLimits/message``. A peer that has
    /// not identified itself must not occupy much memory. Longer messages end the connection with 1009.
    package func limitMessages(to byteCount: Int) {
        assert(loop.isCurrent)
        reader.limitMessages(to: byteCount)
    }

    /// Counts it as a connection whose peer is known, with or without a credential. It needs a place among such
    /// connections.
    ///
    /// - Parameter owner: whose it is; nil for somebody without a credential.
    /// - Returns: nil, if it has a place. Otherwise the caller closes the connection.
    package func settle(owner: UInt64?) -> Overcrowding? {
        assert(loop.isCurrent)
        let (held, unsent) = (unfinishedBytes, unsentBytes)
        group.holds(self, 0)
        group.queues(self, 0)
        self.owner = owner ?? 0
        group.holds(self, held)
        group.queues(self, unsent)
        return pass?.settle(isAnonymous: owner == nil)
    }

    /// Receives nothing until ``resumeReading()``, so that the peer's sends fill its own memory. Messages from the last
    /// receive (at most 64 KiB of bytes) still arrive.
    package func pauseReading() {
        isReadingPaused = true
        updateInterest()
    }

    package func resumeReading() {
        isReadingPaused = false
        // Silence of the peer while nobody was reading does not count.
        lastReceived = group.now
        if messageStart != nil { beginMessage() }
        updateInterest()
    }

    // MARK: The end

    /// Begins the closing handshake. Earlier messages are still sent, and no later ones. The handler is called when the
    /// peer has answered, or after ``TransportLimits/closeDeadline``.
    ///
    /// A connection that is not open yet just ends. A second call does nothing.
    package func close(_ code: CloseCode = .normal, reason: String = "") {
        assert(loop.isCurrent)
        switch phase {
        case .connecting, .proxied, .securing, .heading:
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

    /// From now on it is seen whether the rest of a message arrives.
    func beginMessage() {
        (messageStart, messageByteCount, seenByteCount) = (group.now, 0, .min)
    }

    func enter(_ next: Phase) {
        phase = next
        phaseStart = group.now
    }

    /// Tells the handler of the end, once. It is not called again.
    func report(_ reason: CloseReason) {
        let handler = handler
        self.handler = nil
        handler?.closed(self, reason)
    }

    /// Ends at once; nothing more is sent.
    func fail(_ code: TransportError.Code, _ underlying: (any Error)? = nil) {
        guard phase != .ended else { return }
        let error = TransportError(code, underlying: underlying)
        if role == .server, opening != nil {
            // No handler is called.
            TransportMetrics.shared.failed.increment()
            if phase == .securing { TransportMetrics.shared.handshakes.increment(.failed) }
            HandshakeReports.failed(error, from: peerAddress)
        }
        end()
        report(.failed(error))
    }

    /// Sends what waits, then ends the stream, and waits for the end of the peer's.
    func linger() {
        guard phase != .ended else { return }
        enter(.lingering)
        opening = nil
        reader = MessageReader(role: role)
        group.holds(self, 0)
        isReadingPaused = false
        updateInterest()
        scheduleFlush()
    }

    /// Releases everything.
    func end() {
        guard phase != .ended else { return }
        enter(.ended)
        registration?.cancel()
        registration = nil
        socket?.close()
        socket = nil
        tls = nil
        if let turn = opening?.awaitedTurn { group.leavesHandshakeTurns(self, of: turn) }
        opening = nil
        deflater = nil
        reader = MessageReader(role: role)
        outgoing.queue.clear()
        pass?.leave()
        pass = nil
        group.holds(self, 0)
        group.queues(self, 0)
        if isCounted { TransportMetrics.shared.open.add(-1, group.listener) }
        group.remove(self)
    }
}

extension MessageConnection: EventHandler, TickFlushable {
    package func ready(_ readiness: Readiness) {
        if phase == .connecting { return finishConnecting() }
        // Bytes that the peer sent before the reset are still in the kernel. A step for it would be wasted.
        if readiness.contains(.hangup), phase == .securing || phase == .proxied, role == .server {
            return fail(.connectionLost)
        }
        if readiness.contains(.writable) { write() }
        if readiness.contains(.readable) || readiness.contains(.hangup) { receive() }
    }

    package func flush() {
        isFlushScheduled = false
        write()
    }

    func updateInterest() {
        var interest: Interest = []
        // A stream that has ended stays readable for ever.
        if !isReadingPaused, !hasStreamEnded, opening?.awaitedTurn == nil { interest.insert(.readable) }
        if outgoing.isBlocked { interest.insert(.writable) }
        registration?.update(interest)
    }
}
