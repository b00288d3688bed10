// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkWebSocket

extension MessageConnection {
    /// Plaintext that is encrypted at a time: four full records. The rest waits as plaintext, so that it is in memory
    /// once.
    private static let encryptedBytesPerWrite = 65_536
    /// Bytes that one connection sends in a tick. A longer queue continues in the next tick, after the other
    /// connections.
    private static let sentBytesPerTickMax = 1024 * 1024

    private enum WriteStep {
        case sent(Int)
        case blocked(Int)
        case nothingToSend
        case failed(SocketError)
    }

    func appendFrame(_ opcode: Opcode, isCompressed: Bool = false, _ payload: UnsafeRawBufferPointer) {
        let key = role == .client ? group.takeMaskKey() : nil
        outgoing.append(about: payload.count + FrameHeader.byteCountMax) {
            FrameEncoder.append(opcode, isCompressed: isCompressed, payload: payload, maskKey: key, to: &$0)
        }
    }

    /// Appends a frame for a message that is not copied. The message is longer than ``OutgoingQueue/togetherBytesMax``.
    func appendFrame(_ opcode: Opcode, kept payload: [UInt8]) {
        let key = role == .client ? group.takeMaskKey() : nil
        outgoing.append(about: FrameHeader.byteCountMax) {
            FrameEncoder.appendHeader(
                FrameHeader(opcode: opcode, maskKey: key, payloadCount: payload.count), to: &$0)
        }
        if let key { outgoing.append(masked: payload, key: key) } else { outgoing.append(shared: payload) }
    }

    func queueControl(_ opcode: Opcode, _ payload: MessagePayload) {
        payload.withUnsafeBytes { appendFrame(opcode, $0) }
        didQueue()
    }

    /// RFC 6455 §5.5.3: while earlier pongs wait, only the newest ping is answered. So a peer that pings and does not
    /// read costs one payload.
    func queuePong(_ payload: MessagePayload) {
        guard isBlocked else { return queueControl(.pong, payload) }
        delayedPong = payload.bytes
    }

    func queueClose(_ code: CloseCode?, reason: String = "") {
        FrameEncoder.closePayload(code, reason: reason).withUnsafeBytes { appendFrame(.close, $0) }
        scheduleFlush()
    }

    func queueBytes(_ bytes: [UInt8]) {
        outgoing.append(shared: bytes)
        scheduleFlush()
    }

    func didQueue() {
        // The usual case, many times in a tick.
        if isFlushScheduled, outgoing.count <= group.limits.queuedBytesLow { return }
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
        guard !isBlocked || tls.outputCount <= group.limits.encryptedBytesMax else {
            socket?.discardOnClose()
            return fail(.queueOverflow)
        }
        scheduleFlush()
    }

    /// Everything that is queued until the end of the tick is sent together. A blocked connection waits for its loop.
    func scheduleFlush() {
        guard !isFlushScheduled, !isBlocked, phase != .ended else { return }
        isFlushScheduled = true
        if !isReceiving { loop.atEndOfTick(self) }
    }

    func write() {
        guard let socket, phase != .connecting, phase != .ended else { return }
        defer { if isBlocked || unsentBytes > 0 { group.queues(self, queuedMemory) } }
        var sentCount = 0
        while sentCount < Self.sentBytesPerTickMax {
            switch writeStep(socket) {
            case .sent(let count):
                delivery.sent(count)
                sentCount += count
            case .blocked(let count):
                delivery.sent(count)
                return block(hasProgress: sentCount + count > 0)
            case .nothingToSend:
                unblock()
                return didSendAll()
            case .failed(let error):
                return fail(.connectionLost, error)
            }
        }
        unblock()
        scheduleFlush()
        tellIfDrained()
    }

    private func writeStep(_ socket: Socket) -> WriteStep {
        guard let tls else {
            guard !outgoing.isEmpty else { return .nothingToSend }
            let step = outgoing.withBytes(atMost: Self.sentBytesPerTickMax) { send($0, socket) }
            switch step {
            case .sent(let count), .blocked(let count): outgoing.discard(count)
            case .nothingToSend, .failed: break
            }
            return step
        }
        if tls.outputCount == 0 {
            guard tls.isEstablished, !outgoing.isEmpty else { return .nothingToSend }
            guard encrypt(tls) else {
                outgoing.clear()
                return .nothingToSend
            }
        }
        var step = WriteStep.nothingToSend
        tls.withOutput { bytes in
            step = send(bytes, socket)
            switch step {
            case .sent(let count), .blocked(let count): return count
            case .nothingToSend, .failed: return 0
            }
        }
        return step
    }

    /// Encrypts as much as is sent at once. Only a session that was closed or has failed refuses; then this connection
    /// has ended or lingers.
    private func encrypt(_ tls: TLSSession) -> Bool {
        var rest = Self.encryptedBytesPerWrite
        // Masked data comes in several pieces.
        tls.reserveOutput(forPlaintext: min(rest, outgoing.count))
        while rest > 0, !outgoing.isEmpty {
            let count = outgoing.withBytes(atMost: rest, maskedAt: tls.plaintextPlace) { bytes in
                do throws(TLSError) {
                    try tls.send(bytes)
                    return bytes.count
                } catch {
                    return 0
                }
            }
            guard count > 0 else { return false }
            outgoing.discard(count)
            rest -= count
        }
        return true
    }

    /// A kernel that accepted only a part is full. Another call would be wasted.
    private func send(_ bytes: UnsafeRawBufferPointer, _ socket: Socket) -> WriteStep {
        switch socket.send(bytes) {
        case .bytes(let count): count == bytes.count ? .sent(count) : .blocked(count)
        case .wouldBlock: .blocked(0)
        case .closed: .failed(SocketError(.connectionReset, operation: "send"))
        case .failed(let error): .failed(error)
        }
    }

    private func block(hasProgress: Bool) {
        if hasProgress || blockedStart == nil { blockedStart = group.now }
        if !isBlocked {
            isBlocked = true
            updateInterest()
        }
        tellIfDrained()
    }

    private func unblock() {
        guard isBlocked else { return }
        isBlocked = false
        blockedStart = nil
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
        sendOnce(tls)
    }

    /// TLS's last output is sent if the kernel has room for it.
    func sendOnce(_ tls: TLSSession) {
        tls.withOutput { bytes in
            guard let socket, case .bytes(let count) = socket.send(bytes) else { return 0 }
            return count
        }
    }
}
