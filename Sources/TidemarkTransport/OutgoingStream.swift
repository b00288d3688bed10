// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTLS

/// The sending half of a connection: what waits to be sent, and its way through TLS into the socket.
///
/// It encrypts, sends, and notes whether the kernel takes more. The connection decides what follows from that.
struct OutgoingStream {
    /// How a turn of sending ended.
    enum Outcome {
        /// Nothing waits.
        case sentAll
        /// As much was sent as one tick allows, and perhaps more waits.
        case sentShare
        /// The kernel takes no more.
        case blocked(hasProgress: Bool)
        /// The TLS session takes no plaintext, because it was closed or has failed.
        case refused
        case failed(SocketError)
    }

    private enum Step {
        case sent(Int)
        case blocked(Int)
        case nothingToSend
        case refused
        case failed(SocketError)
    }

    /// Plaintext. Encrypted bytes wait in the TLS session.
    var queue = OutgoingQueue()
    var delivery = DeliveryProgress()
    /// Whether the socket accepts no more. The loop reports when it does.
    private(set) var isBlocked = false
    /// When it last accepted something before it accepted no more.
    private(set) var blockedStart: Duration?

    /// Plaintext that is encrypted at a time: four full records. The rest waits as plaintext, so that it is in memory
    /// once.
    private static let encryptedBytesPerWrite = 65_536
    /// Bytes that one connection sends in a tick. A longer queue continues in the next tick, after the other
    /// connections.
    private static let sentBytesPerTickMax = 1024 * 1024

    /// Sends waiting output, until the kernel takes no more or the connection has had its share of this tick.
    mutating func write(to socket: Socket, through tls: TLSSession?) -> Outcome {
        var sentCount = 0
        while sentCount < Self.sentBytesPerTickMax {
            switch step(socket, tls) {
            case .sent(let count):
                delivery.sent(count)
                sentCount += count
            case .blocked(let count):
                delivery.sent(count)
                return .blocked(hasProgress: sentCount + count > 0)
            case .nothingToSend: return .sentAll
            case .refused: return .refused
            case .failed(let error): return .failed(error)
            }
        }
        return .sentShare
    }

    private mutating func step(_ socket: Socket, _ tls: TLSSession?) -> Step {
        guard let tls else {
            guard !queue.isEmpty else { return .nothingToSend }
            let step = queue.withBytes(atMost: Self.sentBytesPerTickMax) { Self.send($0, socket) }
            switch step {
            case .sent(let count), .blocked(let count): queue.discard(count)
            case .nothingToSend, .refused, .failed: break
            }
            return step
        }
        if tls.outputCount == 0 {
            guard tls.isEstablished, !queue.isEmpty else { return .nothingToSend }
            guard encrypt(tls) else { return .refused }
        }
        var step = Step.nothingToSend
        tls.withOutput { bytes in
            step = Self.send(bytes, socket)
            switch step {
            case .sent(let count), .blocked(let count): return count
            case .nothingToSend, .refused, .failed: return 0
            }
        }
        return step
    }

    /// Encrypts as much as is sent at once.
    ///
    /// - Returns: whether the session took it.
    private mutating func encrypt(_ tls: TLSSession) -> Bool {
        var rest = Self.encryptedBytesPerWrite
        // Masked data comes in several pieces.
        tls.reserveOutput(forPlaintext: min(rest, queue.count))
        while rest > 0, !queue.isEmpty {
            let count = queue.withBytes(atMost: rest, maskedAt: tls.plaintextPlace) { bytes in
                do throws(TLSError) {
                    try tls.send(bytes)
                    return bytes.count
                } catch {
                    return 0
                }
            }
            guard count > 0 else { return false }
            queue.discard(count)
            rest -= count
        }
        return true
    }

    /// A kernel that accepted only a part is full. Another call would be wasted.
    private static func send(_ bytes: UnsafeRawBufferPointer, _ socket: Socket) -> Step {
        switch socket.send(bytes) {
        case .bytes(let count): count == bytes.count ? .sent(count) : .blocked(count)
        case .wouldBlock: .blocked(0)
        case .closed: .failed(SocketError(.connectionReset, operation: "send"))
        case .failed(let error): .failed(error)
        }
    }

    /// - Returns: whether it was not blocked before.
    mutating func block(hasProgress: Bool, at now: Duration) -> Bool {
        if hasProgress || blockedStart == nil { blockedStart = now }
        defer { isBlocked = true }
        return !isBlocked
    }

    /// - Returns: whether it was blocked before.
    mutating func unblock() -> Bool {
        guard isBlocked else { return false }
        isBlocked = false
        blockedStart = nil
        return true
    }

    /// Whether the peer has taken no bytes of the output that waits for it, for longer than this.
    func isStuck(_ now: Duration, deadline: Duration) -> Bool {
        guard let blockedStart else { return false }
        return now - max(blockedStart, delivery.last ?? .zero) > deadline
    }

    /// TLS's last output is sent if the kernel has room for it.
    static func sendLast(of tls: TLSSession, to socket: Socket?) {
        tls.withOutput { bytes in
            guard let socket, case .bytes(let count) = socket.send(bytes) else { return 0 }
            return count
        }
    }
}
