// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The result of an attempt to receive or to send.
package enum TransferOutcome: Sendable, Equatable {
    /// This many bytes were moved: at least one, perhaps fewer than asked for.
    case bytes(Int)
    /// Nothing is possible now. The loop says when to try again.
    case wouldBlock
    /// The peer sends no more (receiving only).
    case closed
    case failed(SocketError)
}

/// A non-blocking stream socket (TCP or Unix). It knows no loop; ``EventLoop`` reports when it is ready.
package struct Socket: Sendable {
    package let descriptor: FileDescriptor

    /// Takes over a connected, non-blocking socket, for example from a ``Listener``.
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

    /// Throws the error of ``connecting(to:)``, if there is one. Call it once the socket is writable.
    package func finishConnecting() throws(SocketError) {
        let code = try SystemCalls.option(descriptor.rawValue, SOL_SOCKET, SO_ERROR)
        if code != 0 { throw SocketError(errorNumber: code, operation: "connect") }
    }

    // MARK: Bytes

    /// Receives at most `buffer.count` bytes. The buffer must not be empty.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferOutcome {
        let result = SystemCalls.receive(descriptor.rawValue, buffer)
        if result > 0 { return .bytes(result) }
        return result == 0 ? .closed : Self.outcome(errorNumber: Int32(-result), "recv")
    }

    /// Sends as much of `buffer` as the kernel accepts. The buffer must not be empty. Never raises SIGPIPE.
    package func send(_ buffer: UnsafeRawBufferPointer) -> TransferOutcome {
        let result = SystemCalls.send(descriptor.rawValue, buffer)
        return result >= 0 ? .bytes(result) : Self.outcome(errorNumber: Int32(-result), "send")
    }

    private static func outcome(errorNumber: Int32, _ operation: StaticString) -> TransferOutcome {
        if errorNumber == EAGAIN || errorNumber == EWOULDBLOCK { return .wouldBlock }
        return .failed(SocketError(errorNumber: errorNumber, operation: operation))
    }

    /// Bytes that were sent and that the peer's kernel has not acknowledged. Zero if the kernel does not say.
    package var unacknowledgedByteCount: Int { SystemCalls.unacknowledged(descriptor.rawValue) ?? 0 }

    // MARK: The end

    /// Tells the peer that nothing more follows (FIN). Receiving goes on.
    package func shutdownSending() {
        SystemCalls.shutdownSending(descriptor.rawValue)
    }

    /// Makes ``close()`` send a reset (RST) and discard unsent bytes, for peers that misbehave.
    package func discardOnClose() {
        SystemCalls.setLingerZero(descriptor.rawValue)
    }

    /// Closes the descriptor. Cancel its registration first.
    package func close() {
        descriptor.close()
    }

    // MARK: Options

    /// Sends small writes at once, without waiting for the acknowledgement of the last one (TCP_NODELAY).
    package func setNoDelay() throws(SocketError) {
        try SystemCalls.setOption(descriptor.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    package var localAddress: SocketAddress? {
        (try? SystemCalls.localAddress(descriptor.rawValue)).flatMap { SocketAddress($0) }
    }

    package var peerAddress: SocketAddress? {
        (try? SystemCalls.peerAddress(descriptor.rawValue)).flatMap { SocketAddress($0) }
    }
}
