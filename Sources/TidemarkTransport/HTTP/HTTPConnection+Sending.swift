// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTLS

extension HTTPConnection: TickFlushable {
    /// Plaintext that is encrypted at a time: four full records.
    private static let encryptedBytesPerWrite = 65_536
    /// Bytes that one connection sends in a tick. The rest follows in the next, after the other connections.
    private static let sentBytesPerTickMax = 1024 * 1024

    private enum SendStep {
        case sent(Int)
        case blocked(Int)
        case nothingToSend
        case failed
    }

    /// Bytes that have not reached the kernel.
    private var queuedByteCount: Int { outgoing.count + (isBlocked ? tls?.outputCount ?? 0 : 0) }

    /// Whether another answer may be made.
    var hasRoom: Bool { queuedByteCount <= group.limits.queuedBytesLow }

    func queue(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, phase != .ended else { return }
        outgoing.append(shared: bytes)
        scheduleFlush()
    }

    /// Everything that is queued until the end of the tick is sent together. A blocked connection waits for its loop.
    func scheduleFlush() {
        guard !isFlushScheduled, !isBlocked, phase != .ended else { return }
        isFlushScheduled = true
        loop.atEndOfTick(self)
    }

    func flush() {
        isFlushScheduled = false
        write()
    }

    func write() {
        guard let socket, phase != .ended else { return }
        var sentCount = 0
        while sentCount < Self.sentBytesPerTickMax {
            switch writeStep(socket) {
            case .sent(let count):
                delivery.sent(count)
                sentCount += count
            case .blocked(let count):
                delivery.sent(count)
                block(hasProgress: sentCount + count > 0)
                return didSend()
            case .nothingToSend:
                unblock()
                return didSendAll()
            case .failed: return end()
            }
        }
        unblock()
        scheduleFlush()
        didSend()
    }

    private func writeStep(_ socket: Socket) -> SendStep {
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
            guard encrypt(tls) else { return .failed }
        }
        var step = SendStep.nothingToSend
        tls.withOutput { bytes in
            step = send(bytes, socket)
            switch step {
            case .sent(let count), .blocked(let count): return count
            case .nothingToSend, .failed: return 0
            }
        }
        return step
    }

    /// Encrypts as much as is sent at once. Only a session that has failed refuses.
    private func encrypt(_ tls: TLSSession) -> Bool {
        var rest = Self.encryptedBytesPerWrite
        tls.reserveOutput(forPlaintext: min(rest, outgoing.count))
        while rest > 0, !outgoing.isEmpty {
            let count = outgoing.withBytes(atMost: rest) { bytes in
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
    private func send(_ bytes: UnsafeRawBufferPointer, _ socket: Socket) -> SendStep {
        switch socket.send(bytes) {
        case .bytes(let count): count == bytes.count ? .sent(count) : .blocked(count)
        case .wouldBlock: .blocked(0)
        case .closed, .failed: .failed
        }
    }

    private func block(hasProgress: Bool) {
        if hasProgress || blockedStart == nil { blockedStart = loop.now }
        guard !isBlocked else { return }
        isBlocked = true
        updateInterest()
    }

    private func unblock() {
        guard isBlocked else { return }
        isBlocked = false
        blockedStart = nil
        updateInterest()
    }

    private func didSendAll() {
        if phase == .lingering, !hasShutDown { return shutDown() }
        didSend()
    }

    /// Ends our half of the stream.
    private func shutDown() {
        (hasShutDown, shutDownTime) = (true, loop.now)
        if let tls {
            tls.close()
            sendOnce(tls)
        }
        if hasStreamEnded { return end() }
        socket?.shutdownSending()
    }

    /// TLS's last output is sent if the kernel has room for it.
    func sendOnce(_ tls: TLSSession) {
        tls.withOutput { bytes in
            guard let socket, case .bytes(let count) = socket.send(bytes) else { return 0 }
            return count
        }
    }
}
