// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkWebSocket

extension MessageConnection {
    /// Bytes that are discarded while waiting for the end of the stream. A peer that sends more does not listen. It is
    /// enough for a peer in the middle of a message that is too long: a reset would take the close code from it.
    private static let lingerBytesMax = 16 * 1024 * 1024

    /// Receives once, and handles everything that arrived. The rest in the kernel is reported again in the next tick.
    func receive() {
        if phase == .proxied { return receiveProxyHeader() }
        if phase == .securing, role == .server, let block = peerAddress?.block {
            guard group.mayTakeHandshakeStep(self, of: block) else { return awaitHandshakeTurn(of: block) }
            return receiveOnce(stepOf: block)
        }
        receiveOnce()
    }

    /// Receives nothing that follows the header: the client's step of the TLS handshake waits for its turn.
    private func receiveProxyHeader() {
        while phase == .proxied, let socket, let opening {
            let missing = loop.receiveScratch[..<opening.proxyHeader.missingCount]
            let buffer = UnsafeMutableRawBufferPointer(rebasing: missing)
            switch socket.receive(into: buffer) {
            case .bytes(let count): takeProxyHeader(UnsafeRawBufferPointer(rebasing: buffer[..<count]), opening)
            case .wouldBlock: return
            case .closed: return endOfStream()
            case .failed(let error): return lose(error)
            }
        }
        receive()
    }

    private func takeProxyHeader(_ bytes: UnsafeRawBufferPointer, _ opening: Opening) {
        let header: ProxyHeader?
        do throws(ProxyHeaderError) {
            header = try opening.proxyHeader.take(bytes)
        } catch {
            return fail(.proxyHeaderInvalid, error)
        }
        guard let header else { return }
        if case .client(let bytes, let port) = header, let client = SocketAddress(networkBytes: bytes, port: port) {
            isFrom(client)
        }
        phase = tls == nil ? .heading : .securing
    }

    /// The peer is a proxy, and this is the client for which it connects.
    func isFrom(_ client: SocketAddress) {
        if let peerAddress { pass?.move(from: peerAddress, to: client) }
        peerAddress = client
    }

    /// - Parameter block: whose step of a TLS handshake it is, if there is something to receive.
    private func receiveOnce(stepOf block: AddressBlock? = nil) {
        guard let socket, !isReadingPaused, !hasStreamEnded, phase != .ended else { return }
        let scratch = loop.receiveScratch
        switch socket.receive(into: scratch) {
        case .bytes(let count):
            if let block { group.takesHandshakeStep(of: block) }
            lastReceived = group.now
            pingSent = nil
            isReceiving = true
            take(UnsafeMutableRawBufferPointer(rebasing: scratch[..<count]))
            isReceiving = false
            // Answers given at once are sent at once, while the connection's data is in the processor's cache. With
            // many ready connections in one tick it would no longer be there at the end. Later answers are sent at the
            // end of the tick.
            if isFlushScheduled { flush() }
        case .wouldBlock: break
        case .closed: endOfStream()
        case .failed(let error): lose(error)
        }
    }

    /// Until its turn comes, it gets no event but a hang-up. Otherwise thousands of waiting connections would fill each
    /// tick with their events.
    private func awaitHandshakeTurn(of block: AddressBlock) {
        opening?.awaitedTurn = block
        updateInterest()
    }

    /// Called by the group when its turn has come.
    func takeHandshakeTurn() {
        guard let block = opening?.awaitedTurn else { return }
        opening?.awaitedTurn = nil
        receiveOnce(stepOf: block)
        updateInterest()
    }

    private func take(_ bytes: UnsafeMutableRawBufferPointer) {
        if phase == .lingering {
            lingerByteCount += bytes.count
            if lingerByteCount > Self.lingerBytesMax { end() }
            return
        }
        guard let tls else { return takePlaintext(bytes) }
        do throws(TLSError) {
            try tls.receive(UnsafeRawBufferPointer(bytes)) { plaintext in
                // NB: the plaintext is in memory of the session that nobody else reads, so it may be unmasked in place.
                takePlaintext(UnsafeMutableRawBufferPointer(mutating: plaintext))
            }
        } catch {
            return failTLS(error)
        }
        guard phase != .ended else { return }
        if phase == .securing, tls.isEstablished { secured() }
        if tls.outputCount > 0 { didAnswerByTLS(tls) }
        if tls.receivedCloseNotify { endOfStream() }
    }

    private func takePlaintext(_ bytes: UnsafeMutableRawBufferPointer) {
        if phase == .securing { secured() }
        switch phase {
        case .heading: takeHead(bytes)
        case .open, .closing: takeFrames(bytes)
        case .connecting, .proxied, .securing, .lingering, .ended: break
        }
    }

    func takeFrames(_ bytes: UnsafeMutableRawBufferPointer) {
        var (offset, controlByteCount) = (0, 0)
        while phase == .open || phase == .closing {
            do throws(WebSocketError) {
                guard let event = try reader.next(in: bytes, at: &offset) else { break }
                controlByteCount += byteCount(ofControl: event)
                take(event)
            } catch {
                return violate(error)
            }
        }
        if reader.isBetweenMessages {
            messageStart = nil
            if unfinishedBytes > 0 { group.holds(self, 0) }
        } else {
            if messageStart == nil { beginMessage() }
            messageByteCount += bytes.count - controlByteCount
            group.holds(self, reader.heldByteCount)
        }
    }

    /// The bytes of a control frame. They are not part of an unfinished message, so they do not keep it alive.
    private func byteCount(ofControl event: MessageEvent) -> Int {
        switch event {
        case .ping(let payload), .pong(let payload): payload.count + (role == .server ? 6 : 2)
        case .message, .close: 0
        }
    }

    private func take(_ event: MessageEvent) {
        switch event {
        case .message(let kind, let payload):
            messageStart = nil
            if phase == .open { handler?.received(self, kind, payload) }
        case .ping(let payload):
            // RFC 6455 §5.5.1: after the close frame nothing is sent.
            if phase == .open { queuePong(payload) }
        case .pong: break
        case .close(let code, let reason): takeClose(code, reason)
        }
    }

    private func takeClose(_ code: CloseCode?, _ reason: String) {
        if let closingCode {
            report(.local(closingCode))
        } else {
            queueClose(code)
            report(.peer(code, reason: reason))
        }
        linger()
    }

    /// The peer broke the protocol. It gets the reason, after all earlier output (RFC 6455 §7.1.7).
    private func violate(_ error: WebSocketError) {
        if phase == .open { queueClose(error.closeCode) }
        report(.failed(TransportError(.protocolViolated, underlying: error)))
        linger()
    }

    // MARK: The end of the stream

    private func endOfStream() {
        switch phase {
        case .lingering:
            // The queue is sent first: a peer may end its half and still listen.
            hasStreamEnded = true
            if hasShutDown { end() } else { updateInterest() }
        case .ended: break
        case .closing:
            if let closingCode { report(.local(closingCode)) }
            sendCloseNotify()
            end()
        case .connecting, .proxied, .securing, .heading, .open:
            sendCloseNotify()
            fail(.connectionLost)
        }
    }

    private func lose(_ error: SocketError) {
        switch phase {
        case .lingering: end()
        case .ended, .closing: endOfStream()
        case .connecting, .proxied, .securing, .heading, .open: fail(.connectionLost, error)
        }
    }

    /// The alert that tells the peer why is sent if the kernel has room for it.
    private func failTLS(_ error: TLSError) {
        guard let tls, phase != .ended else { return }
        OutgoingStream.sendLast(of: tls, to: socket)
        if phase == .lingering || phase == .closing { return endOfStream() }
        fail(.tlsFailed, error)
    }
}
