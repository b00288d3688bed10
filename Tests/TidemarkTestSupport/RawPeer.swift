// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkScheduling
package import TidemarkSockets
package import TidemarkTLS
package import TidemarkWebSocket

/// A client that sends the bytes it is told to, encrypted or not, and may cut or corrupt them on their way.
package final class RawPeer: EventHandler, @unchecked Sendable {
    /// What happens to the bytes on the wire; positions count from the connection's first byte.
    package enum Tamper: Sendable {
        case none
        /// Ends the stream after so many bytes.
        case cut(Int)
        /// Inverts a bit of the byte at this position.
        case flip(Int)
    }

    private let loop: EventLoop
    private var isReadingPaused = false
    /// Reading pauses when so many bytes have come.
    private var pausesAt = Int.max
    private let socket: Socket
    private let tls: TLSSession?
    private let tamper: Tamper
    private var registration: Registration?
    private var isConnected = false
    private var plaintext: [UInt8] = []
    private var outgoing: [UInt8] = []
    private var sentCount = 0
    private var received: [UInt8] = []
    private var hasEnded = false
    private var endsAfterSending = false
    private var waiter: (condition: ([UInt8]) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    /// The bytes of an upgrade.
    package static func upgrade(
        _ path: String = "/echo", deflate: Bool = false, subprotocol: String? = nil
    ) -> [UInt8] {
        var text = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        text += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        if deflate { text += "Sec-WebSocket-Extensions: permessage-deflate\r\n" }
        if let subprotocol { text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// A client's frame.
    package static func frame(
        _ opcode: Opcode, _ payload: [UInt8] = [], isFinal: Bool = true, isCompressed: Bool = false
    ) -> [UInt8] {
        var output: [UInt8] = []
        payload.withUnsafeBytes {
            FrameEncoder.append(
                opcode, isFinal: isFinal, isCompressed: isCompressed, payload: $0, maskKey: 0x1234_5678, to: &output)
        }
        return output
    }

    /// - Parameters:
    ///   - preface: sent before everything else, never encrypted.
    ///   - bytes: sent as soon as can be, however long the test's own task has to wait for its turn.
    package static func connect(
        to address: SocketAddress, on loop: EventLoop, tls: TLSContext?, _ tamper: Tamper, preface: [UInt8] = [],
        sending bytes: [UInt8] = []
    ) async throws -> RawPeer {
        try await loop.runThrowing {
            let peer = try RawPeer(loop, address, tls, tamper)
            peer.outgoing = preface
            peer.plaintext = bytes
            peer.registration = try loop.register(
                peer.socket.descriptor, interest: [.readable, .writable], handler: peer)
            return peer
        }.value
    }

    private init(_ loop: EventLoop, _ address: SocketAddress, _ context: TLSContext?, _ tamper: Tamper) throws {
        self.loop = loop
        self.tamper = tamper
        socket = try Socket.connecting(to: address)
        tls = try context.map { try TLSSession(context: $0, side: .client(hostName: "127.0.0.1")) }
        try tls?.start()
    }

    // MARK: For tests

    package func send(_ bytes: [UInt8]) async {
        await loop.run { [self] in
            plaintext += bytes
            push()
        }.value
    }

    /// Returns when the kernel has taken all that was sent, or the stream has ended.
    package func sentAll() async {
        while await loop.run({ [self] in !hasEnded && !(plaintext.isEmpty && outgoing.isEmpty) }).value {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// All that has come once `condition` holds for it or the stream has ended.
    @discardableResult
    package func receive(until condition: @escaping @Sendable ([UInt8]) -> Bool) async -> [UInt8] {
        await loop.run { [self] in
            if !hasEnded, !condition(received) {
                await withCheckedContinuation { waiter = (condition, $0) }
            }
            return received
        }.value
    }

    /// All that has come once the server has ended the stream.
    @discardableResult
    package func receiveAll() async -> [UInt8] {
        await receive { _ in false }
    }

    package func receiveAllText() async -> String {
        String(decoding: await receiveAll(), as: UTF8.self)
    }

    /// The frames after the head, once the stream has ended, as a client hears them.
    package func receiveAllEvents() async -> [String] {
        Self.events(await receiveAll())
    }

    package static func events(_ received: [UInt8]) -> [String] {
        var events: [String] = []
        let problem = hear(received) { events.append(describe($0)) }
        return problem.map { events + [$0] } ?? events
    }

    /// The binary messages among them.
    package static func messages(in received: [UInt8]) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        _ = hear(received) { event in
            if case .message(.binary, let payload) = event { messages.append(payload.bytes) }
        }
        return messages
    }

    /// - Returns: What is wrong with it, if something is.
    private static func hear(_ received: [UInt8], _ tell: (MessageEvent) -> Void) -> String? {
        var bytes = received
        var parser = ResponseHeadParser()
        guard case .complete(let head, let count)? = try? bytes.withUnsafeBytes({ try parser.parse($0) }) else {
            return "no head"
        }
        guard head.status == .switchingProtocols else { return "status \(head.status.code)" }
        bytes.removeFirst(count)
        var reader = MessageReader(role: .client)
        return bytes.withUnsafeMutableBytes { raw in
            var offset = 0
            do {
                while let event = try reader.next(in: raw, at: &offset) { tell(event) }
                return nil
            } catch {
                return "error \(error)"
            }
        }
    }

    private static func describe(_ event: MessageEvent) -> String {
        switch event {
        case .message(.text, let payload): "text \(String(decoding: payload.bytes, as: UTF8.self))"
        case .message(.binary, let payload): "binary \(payload.count)"
        case .ping: "ping"
        case .pong(let payload): "pong \(payload.count)"
        case .close(let code, _): "close \(code?.description ?? "-")"
        }
    }

    package func pauseReading() async {
        await loop.run { [self] in
            isReadingPaused = true
            updateInterest()
        }.value
    }

    /// Reads so many bytes of all that comes, or a little more, and then nothing until ``resumeReading()``. To be called
    /// before they are sent.
    package func pauseReading(after byteCount: Int) async {
        await loop.run { [self] in pausesAt = byteCount }.value
    }

    package func resumeReading() async {
        await loop.run { [self] in
            isReadingPaused = false
            pausesAt = .max
            updateInterest()
        }.value
    }

    /// Ends our half of the stream, once all is sent.
    package func shutDown() async {
        await loop.run { [self] in
            endsAfterSending = true
            push()
        }.value
    }

    package func close() async {
        await loop.run { [self] in end() }.value
    }

    /// Ends with a reset.
    package func reset() async {
        await loop.run { [self] in
            socket.discardOnClose()
            end()
        }.value
    }

    /// Does something with the session, if there is one, and sends what comes of it.
    package func act(_ body: @escaping @Sendable (TLSSession) -> Void) async {
        await loop.run { [self] in
            tls.map(body)
            push()
        }.value
    }

    /// Whether the server has ended TLS as it should, and not only the stream.
    package func hasHeardCloseNotify() async -> Bool {
        await loop.run { [self] in tls?.receivedCloseNotify ?? false }.value
    }

    // MARK: On the loop

    package func ready(_ readiness: Readiness) {
        if !isConnected {
            isConnected = true
            updateInterest()
            push()
        }
        if readiness.contains(.writable) { push() }
        if readiness.contains(.readable) || readiness.contains(.hangup) { pull() }
    }

    private func pull() {
        let scratch = loop.receiveScratch
        guard case .bytes(let count) = socket.receive(into: scratch) else { return end() }
        let bytes = UnsafeRawBufferPointer(rebasing: scratch[..<count])
        if let tls {
            do {
                try tls.receive(bytes) { received.append(contentsOf: $0) }
            } catch {
                return end()
            }
            push()
            if tls.receivedCloseNotify { return end() }
        } else {
            received.append(contentsOf: bytes)
        }
        if received.count >= pausesAt, !isReadingPaused {
            isReadingPaused = true
            updateInterest()
        }
        wake()
    }

    private func push() {
        guard isConnected, !hasEnded else { return }
        if let tls {
            if tls.isEstablished, !plaintext.isEmpty {
                _ = try? plaintext.withUnsafeBytes { try tls.send($0) }
                plaintext = []
            }
            tls.withOutput {
                outgoing.append(contentsOf: $0)
                return $0.count
            }
        } else {
            outgoing += plaintext
            plaintext = []
        }
        guard !outgoing.isEmpty else { return shutDownIfDone() }
        tamperWithOutgoing()
        guard !outgoing.isEmpty else { return shutDownIfDone() }
        guard case .bytes(let count) = outgoing.withUnsafeBytes({ socket.send($0) }) else {
            return updateInterest()
        }
        sentCount += count
        outgoing.removeFirst(count)
        updateInterest()
        if outgoing.isEmpty { shutDownIfDone() }
    }

    private func updateInterest() {
        var interest: Interest = []
        if !isReadingPaused { interest.insert(.readable) }
        if !outgoing.isEmpty { interest.insert(.writable) }
        registration?.update(interest)
    }

    private func shutDownIfDone() {
        if case .cut(let position) = tamper, sentCount >= position { return socket.shutdownSending() }
        guard endsAfterSending, plaintext.isEmpty else { return }
        endsAfterSending = false
        if let tls, tls.isEstablished {
            tls.close()
            push()
        }
        socket.shutdownSending()
    }

    private func tamperWithOutgoing() {
        switch tamper {
        case .none: break
        case .cut(let position): outgoing = Array(outgoing.prefix(max(0, position - sentCount)))
        case .flip(let position):
            let index = position - sentCount
            if outgoing.indices.contains(index) { outgoing[index] ^= 1 << UInt8(position & 7) }
        }
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        registration?.cancel()
        socket.close()
        wake()
    }

    private func wake() {
        guard let (condition, continuation) = waiter, hasEnded || condition(received) else { return }
        waiter = nil
        continuation.resume()
    }
}
