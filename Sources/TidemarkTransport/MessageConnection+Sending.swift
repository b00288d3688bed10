// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkWebSocket

extension MessageConnection {
    func appendFrame(_ opcode: Opcode, isCompressed: Bool = false, _ payload: UnsafeRawBufferPointer) {
        let key = role == .client ? group.takeMaskKey() : nil
        outgoing.queue.append(about: payload.count + FrameHeader.byteCountMax) {
            FrameEncoder.append(opcode, isCompressed: isCompressed, payload: payload, maskKey: key, to: &$0)
        }
    }

    /// Appends a frame for a message that is not copied. The message is longer than ``OutgoingQueue/togetherBytesMax``.
    func appendFrame(_ opcode: Opcode, kept payload: [UInt8]) {
        let key = role == .client ? group.takeMaskKey() : nil
        outgoing.queue.append(about: FrameHeader.byteCountMax) {
            FrameEncoder.appendHeader(
                FrameHeader(opcode: opcode, maskKey: key, payloadCount: payload.count), to: &$0)
        }
        if let key { outgoing.queue.append(masked: payload, key: key) } else { outgoing.queue.append(shared: payload) }
    }

    func queueControl(_ opcode: Opcode, _ payload: MessagePayload) {
        payload.withUnsafeBytes { appendFrame(opcode, $0) }
        didQueue()
    }

    /// RFC 6455 §5.5.3: while earlier pongs wait, only the newest ping is answered. So a peer that pings and does not
    /// read costs one payload.
    func queuePong(_ payload: MessagePayload) {
        guard outgoing.isBlocked else { return queueControl(.pong, payload) }
        delayedPong = payload.bytes
    }

    func queueClose(_ code: CloseCode?, reason: String = "") {
        FrameEncoder.closePayload(code, reason: reason).withUnsafeBytes { appendFrame(.close, $0) }
        scheduleFlush()
    }

    func queueBytes(_ bytes: [UInt8]) {
        outgoing.queue.append(shared: bytes)
        scheduleFlush()
    }

    func didQueue() {
        // The usual case, many times in a tick.
        if isFlushScheduled, outgoing.queue.count <= group.limits.queuedBytesLow { return }
        let queued = queuedByteCount
        if queued > group.limits.queuedBytesLow { isAboveLow = true }
        guard queued <= group.limits.queuedBytesMax else {
            socket?.discardOnClose()
            return fail(.queueOverflow)
        }
        group.queues(self, queuedMemory)
        scheduleFlush()
    }

    /// TLS itself has produced output, for example that it does not renegotiate.
    func didAnswerByTLS(_ tls: TLSSession) {
        guard !outgoing.isBlocked || tls.outputCount <= group.limits.encryptedBytesMax else {
            socket?.discardOnClose()
            return fail(.queueOverflow)
        }
        scheduleFlush()
    }

    /// Everything that is queued until the end of the tick is sent together. A blocked connection waits for its loop.
    func scheduleFlush() {
        guard !isFlushScheduled, !outgoing.isBlocked, phase != .ended else { return }
        isFlushScheduled = true
        if !isReceiving { loop.atEndOfTick(self) }
    }

    func write() {
        guard let socket, phase != .connecting, phase != .ended else { return }
        defer { if outgoing.isBlocked || unsentBytes > 0 { group.queues(self, queuedMemory) } }
        switch outgoing.write(to: socket, through: tls) {
        case .sentAll:
            unblock()
            didSendAll()
        case .sentShare:
            unblock()
            scheduleFlush()
            tellIfDrained()
        case .blocked(let hasProgress): block(hasProgress: hasProgress)
        case .refused:
            // This connection has ended or lingers.
            outgoing.queue.clear()
            unblock()
            didSendAll()
        case .failed(let error): fail(.connectionLost, error)
        }
    }

    private func block(hasProgress: Bool) {
        if outgoing.block(hasProgress: hasProgress, at: group.now) { updateInterest() }
        tellIfDrained()
    }

    private func unblock() {
        guard outgoing.unblock() else { return }
        updateInterest()
        guard let pong = delayedPong else { return }
        delayedPong = nil
        if phase == .open { queueControl(.pong, .owned(pong)) }
    }

    private func didSendAll() {
        if phase == .lingering, !hasShutDown { return shutDown() }
        tellIfDrained()
    }

    private func tellIfDrained() {
        guard isAboveLow, queuedByteCount <= group.limits.queuedBytesLow else { return }
        isAboveLow = false
        if phase == .open { handler?.drained(self) }
    }

    /// Ends our half of the stream. RFC 6455 §7.1.1: the server goes first, so that the client has to wait.
    private func shutDown() {
        hasShutDown = true
        sendCloseNotify()
        if hasStreamEnded { return end() }
        if role == .server { socket?.shutdownSending() }
    }

    /// RFC 8446 §6.1: a side that ends its half of the stream says so first, even to a peer that has ended its own.
    func sendCloseNotify() {
        guard let tls else { return }
        tls.close()
        OutgoingStream.sendLast(of: tls, to: socket)
    }
}
