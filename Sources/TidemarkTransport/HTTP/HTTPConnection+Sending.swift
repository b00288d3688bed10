// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTLS

extension HTTPConnection: TickFlushable {
    /// Bytes that have not reached the kernel.
    private var queuedByteCount: Int { outgoing.queue.count + (outgoing.isBlocked ? tls?.outputCount ?? 0 : 0) }

    /// Whether another answer may be made.
    var hasRoom: Bool { queuedByteCount <= group.limits.queuedBytesLow }

    func queue(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, phase != .ended else { return }
        outgoing.queue.append(shared: bytes)
        scheduleFlush()
    }

    /// Everything that is queued until the end of the tick is sent together. A blocked connection waits for its loop.
    func scheduleFlush() {
        guard !isFlushScheduled, !outgoing.isBlocked, phase != .ended else { return }
        isFlushScheduled = true
        loop.atEndOfTick(self)
    }

    func flush() {
        isFlushScheduled = false
        write()
    }

    func write() {
        guard let socket, phase != .ended else { return }
        switch outgoing.write(to: socket, through: tls) {
        case .sentAll:
            unblock()
            didSendAll()
        case .sentShare:
            unblock()
            scheduleFlush()
            didSend()
        case .blocked(let hasProgress):
            if outgoing.block(hasProgress: hasProgress, at: loop.now) { updateInterest() }
            didSend()
        case .refused, .failed: end()
        }
    }

    private func unblock() {
        if outgoing.unblock() { updateInterest() }
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
            OutgoingStream.sendLast(of: tls, to: socket)
        }
        if hasStreamEnded { return end() }
        socket?.shutdownSending()
    }
}
