// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry
internal import TidemarkWebSocket

// MARK: Server

extension MessageConnection {
    /// Takes over an accepted connection.
    static func accept(
        _ descriptor: FileDescriptor, from peer: SocketAddress, group: ConnectionGroup, context: TLSContext?,
        pass: ConnectionPass? = nil, proxies: TrustedProxies = TrustedProxies(),
        decide: @escaping (RequestHead, SocketAddress) -> AcceptDecision
    ) throws {
        let socket = Socket(descriptor)
        if peer.family != .unix { try socket.setNoDelay() }
        let parser = RequestHeadParser(limits: group.limits.head)
        let opening = Opening(.server(parser, accept: decide))
        opening.proxies = proxies
        let connection = MessageConnection(
            group: group, role: .server,
            phase: proxies.sendsHeader(peer) ? .proxied : context == nil ? .heading : .securing, opening: opening)
        connection.peerAddress = peer
        connection.tls = try context.map { try TLSSession(context: $0, side: .server) }
        connection.registration = try group.loop.register(
            descriptor, interest: .readable, handler: connection)
        connection.socket = socket
        group.add(connection)
        connection.isCounted = true
        TransportMetrics.shared.open.add(1, group.listener)
        connection.pass = pass
        pass?.connection = connection
        if pass?.isEnded == true { connection.crowdOut() }
    }

    private func takeRequest(
        _ parser: inout RequestHeadParser, _ opening: Opening,
        decide: @escaping (RequestHead, SocketAddress) -> AcceptDecision
    ) {
        let progress: HeadProgress<RequestHead>
        do throws(HTTPError) {
            progress = try Self.parse(opening.received) { (bytes) throws(HTTPError) in try parser.parse(bytes) }
        } catch {
            return respond(.plain(error.status), omitsBody: opening.isHead)
        }
        guard case .complete(let head, let count) = progress, let peer = peerAddress else {
            opening.side = .server(parser, accept: decide)
            return
        }
        let omitsBody = head.method == "HEAD"
        switch opening.proxies.sender(of: head.fields, from: peer) {
        case .peer: break
        case .client(let client): isFrom(client)
        case .unreadable: return respond(.text(.badRequest, Self.unreadableSender), omitsBody: omitsBody)
        }
        switch decide(head, peerAddress ?? peer) {
        case .response(let response):
            respond(response, omitsBody: omitsBody)
        case .webSocket(let offer, let handler):
            if let crowd = pass?.refusal { return refuse(crowd, omitsBody: omitsBody) }
            switch ServerHandshake.answer(head, offer) {
            case .refused(let refusal):
                respond(.plain(refusal.status, fields: refusal.fields), omitsBody: omitsBody)
            case .accepted(let acceptance):
                queueBytes(acceptance.response.serialized())
                self.handler = handler
                open(
                    deflate: acceptance.deflate, settings: offer.deflate, rest: Array(opening.received[count...]))
            }
        }
    }

    private static let unreadableSender = "The last address of X-Forwarded-For cannot be read. Let the proxy set it."

    /// There is no place for the connection.
    func refuse(_ crowd: Overcrowding, omitsBody: Bool = false) {
        let retry = HeaderFields([("Retry-After", String(group.limits.retryAfterSeconds))])
        let response: HTTPResponse =
            switch crowd {
            case .ofAddress: .text(.tooManyRequests, "Your address has too many connections.", fields: retry)
            case .ofServer: .text(.serviceUnavailable, "The server has too many connections.", fields: retry)
            }
        respond(response, omitsBody: omitsBody)
    }

    /// Another connection gets its place. It says so, if it can.
    func giveWay(_ crowd: Overcrowding) {
        TransportMetrics.shared.crowdedOut.increment()
        switch phase {
        case .heading: refuse(crowd, omitsBody: opening?.isHead ?? false)
        case .open: close(.tryAgainLater, reason: "too many connections")
        // A handshake goes on: its request is refused then.
        case .connecting, .proxied, .securing, .closing, .lingering, .ended: break
        }
    }

    /// Ends at once: too many others are leaving too.
    func crowdOut() {
        guard phase != .ended else { return }
        socket?.discardOnClose()
        fail(.crowdedOut)
    }

    func respond(_ response: HTTPResponse, omitsBody: Bool = false) {
        queueBytes(
            response.serialized(
                omitsBody: omitsBody, isSecured: isSecured, wallClockMilliseconds: loop.wallClockMilliseconds))
        linger()
    }
}

// MARK: Client

extension MessageConnection {
    /// Tries the addresses one after the other. Each has its part of the time.
    func connect(to addresses: [SocketAddress]) {
        guard phase == .connecting, let opening else { return }
        opening.addresses = AddressTurns(
            addresses, deadline: phaseStart + group.limits.handshakeDeadline, patience: group.limits.addressDeadline)
        connectToNext(after: SocketError(.nameNotFound, operation: "connect"))
    }

    private func connectToNext(after error: SocketError) {
        registration?.cancel()
        registration = nil
        socket?.close()
        socket = nil
        guard let (address, time) = opening?.addresses.next(at: loop.now) else { return fail(.connectFailed, error) }
        if let time { endTurn(opening?.addresses.number, after: time) }
        do throws(SocketError) {
            let socket = try Socket.connecting(to: address)
            registration = try loop.register(socket.descriptor, interest: .writable, handler: self)
            self.socket = socket
            peerAddress = address
        } catch {
            connectToNext(after: error)
        }
    }

    private func endTurn(_ number: Int?, after time: Duration) {
        loop.schedule(after: time) { [weak self] in
            guard let self, phase == .connecting, opening?.addresses.number == number else { return }
            connectToNext(after: SocketError(.timedOut, operation: "connect"))
        }
    }

    func finishConnecting() {
        guard let socket, case .client(_, let handshake, let target) = opening?.side else { return }
        do throws(SocketError) {
            try socket.finishConnecting()
            if peerAddress?.family != .unix { try socket.setNoDelay() }
        } catch {
            return connectToNext(after: error)
        }
        updateInterest()
        guard let context = target.tls else {
            phase = .heading
            return queueBytes(handshake.request.serialized())
        }
        phase = .securing
        do throws(TLSError) {
            let session = try TLSSession(context: context, side: .client(hostName: target.host))
            tls = session
            try session.start()
        } catch {
            return fail(.tlsFailed, error)
        }
        scheduleFlush()
    }

    private func takeResponse(
        _ parser: inout ResponseHeadParser, _ opening: Opening, _ handshake: ClientHandshake,
        _ target: TransportClient.Target
    ) {
        let progress: HeadProgress<ResponseHead>
        do throws(HTTPError) {
            progress = try Self.parse(opening.received) { (bytes) throws(HTTPError) in try parser.parse(bytes) }
        } catch {
            return fail(.httpInvalid, error)
        }
        guard case .complete(let head, let count) = progress else {
            opening.side = .client(parser, handshake, target)
            return
        }
        do throws(WebSocketError) {
            let acceptance = try handshake.confirm(head)
            open(
                deflate: acceptance.deflate, settings: target.deflate, rest: Array(opening.received[count...]))
        } catch {
            fail(.upgradeRefused, error)
        }
    }
}

// MARK: Both

extension MessageConnection {
    /// Called when the TLS handshake is done.
    func secured() {
        if role == .server, let tls {
            let metrics = TransportMetrics.shared
            metrics.handshakes.increment(tls.wasResumed ? .resumed : .full)
            metrics.handshakeTime.observe(loop.now - phaseStart)
        }
        phase = .heading
        if case .client(_, let handshake, _) = opening?.side { queueBytes(handshake.request.serialized()) }
    }

    func takeHead(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let opening else { return }
        opening.received.append(contentsOf: bytes)
        switch opening.side {
        case .server(var parser, let decide): takeRequest(&parser, opening, decide: decide)
        case .client(var parser, let handshake, let target): takeResponse(&parser, opening, handshake, target)
        }
    }

    /// Called when the handshake is done; `rest` arrived after the head.
    private func open(deflate: DeflateParameters?, settings: DeflateSettings?, rest: [UInt8]) {
        enter(.open)
        opening = nil
        lastReceived = group.now
        if let deflate, let settings {
            reader = MessageReader(role: role, limits: group.limits.message, deflate: deflate)
            deflater = Deflater(
                role: role, parameters: deflate, level: settings.level, messageBytesMin: settings.messageBytesMin)
        }
        handler?.opened(self)
        guard !rest.isEmpty else { return }
        var rest = rest
        rest.withUnsafeMutableBytes { takeFrames($0) }
    }

    /// A typed error does not pass through the rethrowing closure of `withUnsafeBytes`.
    private static func parse<Head>(
        _ bytes: [UInt8], _ parse: (UnsafeRawBufferPointer) throws(HTTPError) -> HeadProgress<Head>
    ) throws(HTTPError) -> HeadProgress<Head> {
        let result: Result<HeadProgress<Head>, HTTPError> = bytes.withUnsafeBytes { bytes in
            do throws(HTTPError) { return .success(try parse(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
