// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP
internal import TidemarkScheduling
package import TidemarkSockets
package import TidemarkTLS

/// Sends requests to one HTTP/1.1 server, one after another, over one connection that it keeps.
///
/// Loop-confined; Sendable so that work on the loop can capture it. It repeats nothing. A kept connection may end just
/// when a request is sent, and then only the caller knows whether the request may be sent again.
package final class HTTPClient: @unchecked Sendable {
    /// The server.
    package struct Target: Sendable {
        /// The DNS name or numeric address for which the server's certificate must be valid.
        package var host: String
        package var port: UInt16
        /// Nil for no TLS. Then only this machine is connected to, as devices do.
        package var tls: TLSContext?

        package init(host: String, port: UInt16, tls: TLSContext?) {
            self.host = host
            self.port = port
            self.tls = tls
        }

        /// The Host field.
        var authority: String { HTTPURL.authority(host, port, isSecured: tls != nil) }
    }

    private enum Phase {
        case closed
        case resolving
        case connecting
        case securing
        /// Connected, and nothing is asked.
        case idle
        case asking
    }

    /// The request under way.
    private struct Call {
        let bytes: [UInt8]
        let answered: CheckedContinuation<Result<WholeResponse, TransportError>, Never>
        var deadline: ScheduledTimer?
        var reader: ResponseReader
    }

    private let loop: EventLoop
    private let target: Target
    private let limits: HTTPClientLimits
    private var phase = Phase.closed
    private var call: Call?
    /// Counts connections, so that a name that was looked up for an earlier one is not used.
    private var attempt = 0
    /// Addresses that have not been tried.
    private var addresses = AddressTurns()
    private let lookUp: HostLookUp
    /// When the request under way must have ended.
    private var callEnd = Duration.zero
    private var socket: Socket?
    private var tls: TLSSession?
    private var registration: Registration?
    /// How much of the request has been sent, or encrypted.
    private var sentCount = 0

    /// Plaintext that is encrypted at a time: four full records.
    private static let encryptedBytesPerWrite = 65_536

    /// - Parameter lookUp: finds the host's addresses.
    package init(
        on loop: EventLoop, target: Target, limits: HTTPClientLimits = HTTPClientLimits(),
        lookUp: @escaping HostLookUp = Resolver.resolve(host:port:completion:)
    ) {
        self.lookUp = lookUp
        self.loop = loop
        self.target = target
        self.limits = limits
    }

    /// Sends a POST and returns its response, with any status. One at a time.
    ///
    /// - Parameter path: path and query, valid by `RequestTarget.isOriginForm(_:)`.
    package func post(
        _ path: String, fields: HeaderFields, body: [UInt8]
    ) async throws(TransportError) -> WholeResponse {
        var fields = fields
        fields.append(name: "Content-Length", value: String(body.count))
        return try await send("POST", path, fields, body)
    }

    /// Sends a GET and returns its response, with any status. Redirects are not followed. One at a time.
    ///
    /// - Parameter path: as for ``post(_:fields:body:)``.
    package func get(_ path: String, fields: HeaderFields) async throws(TransportError) -> WholeResponse {
        try await send("GET", path, fields, [])
    }

    private func send(
        _ method: String, _ path: String, _ fields: HeaderFields, _ body: [UInt8]
    ) async throws(TransportError) -> WholeResponse {
        precondition(loop.isCurrent && call == nil, "one request at a time")
        var all = HeaderFields([("Host", target.authority)])
        for field in fields.fields { all.append(name: field.name, value: field.value) }
        let bytes = RequestHead(method: method, target: path, fields: all).serialized() + body
        let result = await withCheckedContinuation { begin(bytes, $0) }
        return try result.get()
    }

    /// Ends the connection, and the request under way with `connectionLost`. A later request connects again.
    package func close() { fail(.connectionLost) }

    private func begin(
        _ bytes: [UInt8], _ answered: CheckedContinuation<Result<WholeResponse, TransportError>, Never>
    ) {
        call = Call(
            bytes: bytes, answered: answered,
            reader: ResponseReader(limits: limits.head, bodyBytesMax: limits.bodyBytesMax))
        sentCount = 0
        let timer = loop.schedule(after: limits.deadline) { [self] in fail(.requestTimedOut) }
        call?.deadline = timer
        callEnd = loop.now + limits.deadline
        guard phase == .idle else { return resolve() }
        phase = .asking
        write()
    }

    // MARK: Connecting

    private func resolve() {
        phase = .resolving
        attempt += 1
        let number = attempt
        lookUp(target.host, target.port) { [self] result in
            loop.execute { [self] in
                guard phase == .resolving, number == attempt else { return }
                resolved(result)
            }
        }
    }

    private func resolved(_ result: Result<[SocketAddress], SocketError>) {
        switch result {
        case .success(let found):
            // A name server may say anything, even of `localhost`.
            let allowed = target.tls == nil ? found.filter(\.isLoopback) : found
            addresses = AddressTurns(allowed, deadline: callEnd, patience: limits.addressDeadline)
            connectToNext(after: SocketError(.notLoopback, operation: "connect"))
        case .failure(let error): fail(.connectFailed, error)
        }
    }

    private func connectToNext(after error: SocketError) {
        disconnect()
        guard let (address, time) = addresses.next(at: loop.now) else { return fail(.connectFailed, error) }
        phase = .connecting
        if let time { endTurn(addresses.number, of: attempt, after: time) }
        do throws(SocketError) {
            let socket = try Socket.connecting(to: address)
            registration = try loop.register(socket.descriptor, interest: .writable, handler: self)
            self.socket = socket
        } catch {
            connectToNext(after: error)
        }
    }

    private func endTurn(_ number: Int, of connection: Int, after time: Duration) {
        loop.schedule(after: time) { [self] in
            guard phase == .connecting, attempt == connection, addresses.number == number else { return }
            connectToNext(after: SocketError(.timedOut, operation: "connect"))
        }
    }

    private func finishConnecting() {
        guard let socket else { return }
        do throws(SocketError) {
            try socket.finishConnecting()
            try socket.setNoDelay()
        } catch {
            return connectToNext(after: error)
        }
        registration?.update(.readable)
        guard let context = target.tls else {
            phase = .asking
            return write()
        }
        phase = .securing
        do throws(TLSError) {
            let session = try TLSSession(context: context, side: .client(hostName: target.host))
            tls = session
            try session.start()
        } catch {
            return fail(.tlsFailed, error)
        }
        write()
    }

    // MARK: Sending

    private func write() {
        guard let socket else { return }
        while let outcome = writeStep(socket) {
            switch outcome {
            case .bytes: continue
            case .wouldBlock: registration?.update([.readable, .writable])
            // NB: the response may have come before the end. The receiver finds both.
            case .closed, .failed: registration?.update(.readable)
            }
            return
        }
        registration?.update(.readable)
    }

    /// Nil: nothing is to be sent now.
    private func writeStep(_ socket: Socket) -> TransferOutcome? {
        guard let tls else {
            guard phase == .asking, let bytes = call?.bytes, sentCount < bytes.count else { return nil }
            let outcome = bytes.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }
            if case .bytes(let count) = outcome { sentCount += count }
            return outcome
        }
        if tls.outputCount == 0, !encrypt(tls) { return nil }
        var outcome: TransferOutcome?
        tls.withOutput { bytes in
            let sent = socket.send(bytes)
            outcome = sent
            guard case .bytes(let count) = sent else { return 0 }
            return count
        }
        return outcome
    }

    /// - Returns: false if nothing is to be encrypted, or the session has failed. Then it is read that it has ended.
    private func encrypt(_ tls: TLSSession) -> Bool {
        guard phase == .asking, tls.isEstablished, let bytes = call?.bytes, sentCount < bytes.count else {
            return false
        }
        let end = min(bytes.count, sentCount + Self.encryptedBytesPerWrite)
        let isDone = bytes.withUnsafeBytes { all in
            do throws(TLSError) {
                try tls.send(UnsafeRawBufferPointer(rebasing: all[sentCount..<end]))
                return true
            } catch {
                return false
            }
        }
        if isDone { sentCount = end }
        return isDone
    }

    // MARK: The end

    private func finish(_ response: WholeResponse) {
        guard let call else { return }
        // A server may answer before it has all of the request. Then it reads no further.
        if response.keepsConnection, sentCount == call.bytes.count { phase = .idle } else { disconnect() }
        self.call = nil
        call.deadline?.cancel()
        call.answered.resume(returning: .success(response))
    }

    private func fail(_ code: TransportError.Code, _ underlying: (any Error)? = nil) {
        disconnect()
        guard let call else { return }
        self.call = nil
        call.deadline?.cancel()
        call.answered.resume(returning: .failure(TransportError(code, underlying: underlying)))
    }

    private func disconnect() {
        if let tls, let socket {
            // The alert, or the goodbye, is sent if the kernel has room for it.
            tls.close()
            tls.withOutput { bytes in
                guard case .bytes(let count) = socket.send(bytes) else { return 0 }
                return count
            }
        }
        phase = .closed
        registration?.cancel()
        registration = nil
        socket?.close()
        socket = nil
        tls = nil
    }
}

// MARK: Input

extension HTTPClient: EventHandler {
    package func ready(_ readiness: Readiness) {
        if phase == .connecting { return finishConnecting() }
        if readiness.contains(.writable) { write() }
        if readiness.isToReceive { receive() }
    }

    /// Receives once. The rest in the kernel is reported again in the next tick.
    private func receive() {
        guard let socket else { return }
        let scratch = loop.receiveScratch
        switch socket.receive(into: scratch) {
        case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        case .wouldBlock: break
        case .closed: endOfStream()
        case .failed: fail(.connectionLost)
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard let tls else { return takeContent(bytes) }
        var content: [UInt8] = []
        do throws(TLSError) {
            try tls.receive(bytes) { content.append(contentsOf: $0) }
        } catch {
            return fail(.tlsFailed, error)
        }
        if phase == .securing, tls.isEstablished { phase = .asking }
        write()
        if !content.isEmpty { content.withUnsafeBytes { takeContent($0) } }
        if tls.receivedCloseNotify, self.tls === tls { endOfStream() }
    }

    private func takeContent(_ bytes: UnsafeRawBufferPointer) {
        // Nobody asked, so the next response would be taken for another.
        guard phase == .asking, var reader = call?.reader else { return fail(.connectionLost) }
        do throws(HTTPError) {
            let response = try reader.receive(bytes)
            call?.reader = reader
            if let response { finish(response) }
        } catch {
            fail(.httpInvalid, error)
        }
    }

    private func endOfStream() {
        if phase == .asking, let response = call?.reader.end() { finish(response) } else { fail(.connectionLost) }
    }
}
