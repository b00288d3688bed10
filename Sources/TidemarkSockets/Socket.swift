// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What became of an attempt to receive or to send.
package enum TransferOutcome: Sendable, Equatable {
    /// So many bytes were moved: at least one, perhaps fewer than asked for.
    case bytes(Int)
    /// Nothing now; the loop says when to try again.
    case wouldBlock
    /// The peer sends no more (receiving only).
    case closed
    case failed(SocketError)
}

/// A non-blocking stream socket (TCP or Unix). It knows no loop: readiness comes from ``EventLoop``.
package struct Socket: Sendable {
    package let descriptor: FileDescriptor

    /// Takes over a connected, non-blocking socket, as ``Listener`` hands out.
    package init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Begins to connect. Wait until the socket is writable, then ask ``finishConnecting()``.
    package static func connecting(to address: SocketAddress) throws(SocketError) -> Socket {
        let descriptor = FileDescriptor(owning: try SystemCalls.createSocket(family: address.addressFamily))
        let result = try address.withKernelForm { raw, length in
            SystemCalls.connect(descriptor.rawValue, raw, length)
        }
        guard result == 0 || result == -Int(EINPROGRESS) else {
            throw SocketError(errorNumber: Int32(-result), operation: "connect")
        }
        return Socket(descriptor)
    }

    /// Throws what became of ``connecting(to:)``; call it once the socket is writable.
    package func finishConnecting() throws(SocketError) {
        let code = try SystemCalls.option(descriptor.rawValue, SOL_SOCKET, SO_ERROR)
        if code != 0 { throw SocketError(errorNumber: code, operation: "connect") }
    }

    // MARK: Bytes

    /// Receives at most `buffer.count` bytes, which is more than none.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferOutcome {
        let result = SystemCalls.receive(descriptor.rawValue, buffer)
        if result > 0 { return .bytes(result) }
        return result == 0 ? .closed : Self.outcome(errorNumber: Int32(-result), "recv")
    }

    /// Sends what the kernel takes of `buffer`, which holds more than nothing. Never raises SIGPIPE.
    package func send(_ buffer: UnsafeRawBufferPointer) -> TransferOutcome {
        let result = SystemCalls.send(descriptor.rawValue, buffer)
        return result >= 0 ? .bytes(result) : Self.outcome(errorNumber: Int32(-result), "send")
    }

    private static func outcome(errorNumber: Int32, _ operation: StaticString) -> TransferOutcome {
        if errorNumber == EAGAIN || errorNumber == EWOULDBLOCK { return .wouldBlock }
        return .failed(SocketError(errorNumber: errorNumber, operation: operation))
    }

    // MARK: The end

    /// Tells the peer that nothing more comes (FIN); receiving goes on.
    package func shutdownSending() {
        SystemCalls.shutdownSending(descriptor.rawValue)
    }

    /// Makes ``close()`` a reset (RST) that throws away what was not sent, for peers that misbehave.
    package func discardOnClose() {
        SystemCalls.setLingerZero(descriptor.rawValue)
    }

    /// Closes the descriptor; cancel its registration before.
    package func close() {
        descriptor.close()
    }

    // MARK: Options

    /// Sends small writes at once instead of waiting for the last one's acknowledgement (TCP_NODELAY).
    package func setNoDelay() throws(SocketError) {
        try SystemCalls.setOption(descriptor.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Lets the kernel find out that a silent peer has gone: after `idle`, `count` probes `interval` apart.
    ///
    /// Whole seconds, at least one.
    package func setKeepAlive(idle: Duration, interval: Duration, count: Int) throws(SocketError) {
        let fd = descriptor.rawValue
        try SystemCalls.setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1)
        try SystemCalls.setOption(fd, Int32(IPPROTO_TCP), TCP_KEEPIDLE, Self.seconds(idle))
        try SystemCalls.setOption(fd, Int32(IPPROTO_TCP), TCP_KEEPINTVL, Self.seconds(interval))
        try SystemCalls.setOption(fd, Int32(IPPROTO_TCP), TCP_KEEPCNT, Int32(clamping: max(count, 1)))
    }

    /// How long sent bytes may stay unacknowledged before the connection fails with `timedOut` (TCP_USER_TIMEOUT).
    package func setUserTimeout(_ timeout: Duration) throws(SocketError) {
        let milliseconds = timeout.components.seconds * 1_000 + timeout.components.attoseconds / 1_000_000_000_000_000
        try SystemCalls.setOption(
            descriptor.rawValue, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(clamping: max(milliseconds, 1)))
    }

    package var localAddress: SocketAddress? {
        (try? SystemCalls.localAddress(descriptor.rawValue)).flatMap { SocketAddress($0) }
    }

    package var peerAddress: SocketAddress? {
        (try? SystemCalls.peerAddress(descriptor.rawValue)).flatMap { SocketAddress($0) }
    }

    private static func seconds(_ duration: Duration) -> Int32 {
        Int32(clamping: max(duration.components.seconds, 1))
    }
}
