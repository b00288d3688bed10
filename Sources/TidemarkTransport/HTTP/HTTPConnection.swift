// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry

/// One connection of an ``HTTPServer``: socket and TLS around an `HTTPServerMachine`.
///
/// While an answer is made, or more than a small amount waits to be sent, no further request is taken, and little is
/// read. Loop-confined; Sendable so that work on the loop can capture it.
final class HTTPConnection: ListedConnection, @unchecked Sendable {
    enum Phase {
        /// In the TLS handshake.
        case securing
        case serving
        /// No more requests are taken. It sends what waits, and waits for the end of the peer's stream, so that a reset cannot
        /// overtake our last bytes.
        case lingering
        case ended
    }

    /// The reason why a connection can be closed for another one, in the order in which they are closed.
    enum Sparing: Int {
        /// It was answered, and asks for nothing.
        case idle
        /// Nothing of its request is complete.
        case arriving
    }

    let group: HTTPConnectionGroup
    let peer: HTTPPeer
    var index = -1
    var machine: HTTPServerMachine
    private(set) var phase: Phase
    var socket: Socket?
    var tls: TLSSession?
    private var registration: Registration?
    var outgoing = OutgoingStream()
    var isFlushScheduled = false
    /// Whether our half of the stream has ended; the next property is about the peer's.
    var hasShutDown = false
    private(set) var hasStreamEnded = false
    private var isProceeding = false
    private var lingerByteCount = 0

    /// Whether the head of a request was read.
    private var hasAsked = false
    /// The request that is being received.
    private var head: RequestHead?
    private var body: [UInt8] = []
    private var answering: Task<Void, Never>?
    private var answerCount = 0
    /// Parts of a streamed answer that wait for room.
    private var writers: [CheckedContinuation<TransportError?, Never>] = []

    /// The event that the machine waits for, and since when.
    private(set) var awaited = HTTPServerMachine.Awaited.head
    private(set) var waitStart: Duration
    /// When everything was sent.
    var shutDownTime: Duration?
    /// When the server began to stop.
    private(set) var stopStart: Duration?

    /// Bytes that are discarded while waiting for the end of the stream, for example those of a refused body.
    private static let lingerBytesMax = 16 * 1024 * 1024

    /// Takes over an accepted connection.
    ///
    /// - Throws: if the peer is already gone, or there is no memory for it.
    static func accept(
        _ descriptor: FileDescriptor, from address: SocketAddress, group: HTTPConnectionGroup, context: TLSContext?
    ) throws {
        let socket = Socket(descriptor)
        if address.family != .unix { try socket.setNoDelay() }
        let tls = try context.map { try TLSSession(context: $0, side: .server) }
        let connection = HTTPConnection(group: group, address: address, tls: tls)
        connection.registration = try group.loop.register(descriptor, interest: .readable, handler: connection)
        connection.socket = socket
        group.add(connection)
    }

    private init(group: HTTPConnectionGroup, address: SocketAddress, tls: TLSSession?) {
        self.group = group
        self.tls = tls
        peer = HTTPPeer(address: address, isSecured: tls != nil)
        phase = tls == nil ? .serving : .securing
        machine = HTTPServerMachine(limits: group.limits.head, requestsMax: group.limits.requestsMax)
        waitStart = group.loop.now
    }

    var loop: EventLoop { group.loop }

    /// Nil if it cannot be spared.
    var sparing: Sparing? {
        switch (phase, awaited) {
        case (.serving, .request): .idle
        case (.securing, _), (.serving, .head): .arriving
        case (.serving, _), (.lingering, _), (.ended, _): nil
        }
    }

    // MARK: Requests

    /// Does what the machine says, until it needs more bytes, an answer, or room for one.
    func proceed() {
        guard phase == .serving, !isProceeding else { return }
        isProceeding = true
        while phase == .serving, hasRoom, let step = machine.next() { perform(step) }
        isProceeding = false
        guard phase == .serving else { return }
        noteWait()
        updateInterest()
    }

    private func perform(_ step: HTTPServerMachine.Step) {
        switch step {
        case .request(let head):
            hasAsked = true
            waitStart = loop.now
            decide(head)
        case .send(let bytes): queue(bytes)
        case .body(let bytes): body += bytes
        case .bodyEnd: startAnswer()
        case .refuse(let error):
            (head, body) = (nil, [])
            respond(.plain(error.status))
        case .end: linger()
        }
    }

    private func decide(_ head: RequestHead) {
        switch group.handler.decide(head, from: peer) {
        case .refuse(let response): respond(response)
        case .take(let bodyBytesMax):
            self.head = head
            machine.takeBody(bytesMax: bodyBytesMax)
        }
    }

    private func noteWait() {
        let now = machine.awaits
        if now != awaited { (awaited, waitStart) = (now, loop.now) }
    }

    // MARK: Answers

    private func startAnswer() {
        guard let head else { return }
        let request = HTTPRequest(head: head, body: body, peer: peer)
        (self.head, body) = (nil, [])
        answerCount += 1
        answering = loop.run { [self, handler = group.handler] in
            let answer = await handler.answer(request)
            await deliver(answer, omitsBody: request.head.method == "HEAD")
        }
    }

    private func deliver(_ answer: HTTPAnswer, omitsBody: Bool) async {
        precondition(loop.isCurrent)
        guard phase == .serving else { return }
        switch answer {
        case .whole(let response): respond(response)
        case .streamed(let status, let fields, let length, let produce):
            queue(machine.beginAnswer(answerHead(status, fields), length: length))
            if !omitsBody {
                do {
                    try await produce(HTTPBodyWriter(self, number: answerCount))
                } catch {
                    return cutOff()
                }
            }
            guard phase == .serving else { return }
            finishAnswer()
        }
    }

    private func respond(_ response: HTTPResponse) {
        queue(machine.beginAnswer(answerHead(response.status, response.fields), length: response.body.count))
        queue(machine.answerBytes(response.body))
        finishAnswer()
    }

    private func answerHead(_ status: HTTPStatus, _ fields: HeaderFields) -> ResponseHead {
        var head = ResponseHead(status: status, fields: fields)
        // RFC 9110 §6.6.1: a server with a clock says when it answered.
        head.fields.append(name: "Date", value: HTTPDate.text(loop.wallClockMilliseconds))
        if peer.isSecured { head.fields.append(name: "Strict-Transport-Security", value: HTTPResponse.strictTransport) }
        return head
    }

    private func finishAnswer() {
        answering = nil
        switch machine.endAnswer() {
        case .goesOn(let bytes):
            queue(bytes)
            proceed()
        case .closes(let bytes):
            queue(bytes)
            linger()
        case .broken: cutOff()
        }
    }

    /// A part of a streamed answer.
    func write(_ content: [UInt8], ofAnswer number: Int, _ written: CheckedContinuation<TransportError?, Never>) {
        guard phase == .serving, answering != nil, number == answerCount else {
            return written.resume(returning: TransportError(.connectionLost))
        }
        queue(machine.answerBytes(content))
        if hasRoom { written.resume(returning: nil) } else { writers.append(written) }
    }

    /// Called when something was sent.
    func didSend() {
        guard hasRoom else { return }
        resumeWriters(nil)
        proceed()
    }

    private func resumeWriters(_ error: TransportError?) {
        let waiting = writers
        writers = []
        for writer in waiting { writer.resume(returning: error) }
    }

    // MARK: The end

    /// The request takes too long to arrive.
    func timeOut() {
        guard phase == .serving else { return }
        (head, body) = (nil, [])
        machine.stopReading()
        respond(.plain(.requestTimeout))
    }

    /// The server stops. An answer under way may still be completed.
    func stop() {
        stopStart = loop.now
        switch phase {
        case .securing: end()
        case .serving where machine.awaits == .answer: machine.stopReading()
        case .serving: linger()
        case .lingering, .ended: break
        }
    }

    /// Sends what waits, then ends the stream, and waits for the end of the peer's.
    func linger() {
        guard phase == .serving else { return }
        phase = .lingering
        (head, body) = (nil, [])
        updateInterest()
        scheduleFlush()
    }

    /// Ends with a reset, so that the peer does not take a part for the whole.
    func cutOff() {
        socket?.discardOnClose()
        end()
    }

    /// Releases everything.
    func end() {
        guard phase != .ended else { return }
        count()
        phase = .ended
        registration?.cancel()
        registration = nil
        socket?.close()
        socket = nil
        tls = nil
        outgoing.queue.clear()
        (head, body) = (nil, [])
        answering?.cancel()
        answering = nil
        resumeWriters(TransportError(.connectionLost))
        group.remove(self)
    }

    /// As the connections of devices count.
    private func count() {
        let metrics = TransportMetrics.shared
        if phase == .securing { metrics.handshakes.increment(.failed) }
        if !hasAsked, stopStart == nil { metrics.failed.increment() }
    }
}

// MARK: Input

extension HTTPConnection: EventHandler {
    func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { write() }
        // Both directions have ended: nobody would get the answer.
        if readiness.contains(.hangup), phase == .serving, !isReading { return end() }
        if readiness.isToReceive { receive() }
    }

    /// While an answer waits for its peer, nothing is read.
    private var isReading: Bool {
        switch phase {
        case .securing, .lingering: !hasStreamEnded
        case .serving: !hasStreamEnded && hasRoom && machine.wantsInput
        case .ended: false
        }
    }

    func updateInterest() {
        var interest: Interest = []
        if isReading { interest.insert(.readable) }
        if outgoing.isBlocked { interest.insert(.writable) }
        registration?.update(interest)
    }

    /// Receives once. The rest in the kernel is reported again in the next tick.
    private func receive() {
        guard let socket, isReading else { return }
        let scratch = loop.receiveScratch
        switch socket.receive(into: scratch) {
        case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        case .wouldBlock: break
        case .closed: endOfStream()
        case .failed: end()
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        if phase == .lingering {
            lingerByteCount += bytes.count
            if lingerByteCount > Self.lingerBytesMax { end() }
            return
        }
        guard let tls else {
            machine.received(bytes)
            return proceed()
        }
        do throws(TLSError) {
            try tls.receive(bytes) { machine.received($0) }
        } catch {
            return fail(tls, error)
        }
        if phase == .securing, tls.isEstablished {
            phase = .serving
            let metrics = TransportMetrics.shared
            metrics.handshakes.increment(tls.wasResumed ? .resumed : .full)
            metrics.handshakeTime.observe(loop.now - waitStart)
            waitStart = loop.now
        }
        if tls.outputCount > 0 {
            guard !outgoing.isBlocked || tls.outputCount <= group.limits.encryptedBytesMax else { return cutOff() }
            scheduleFlush()
        }
        proceed()
        if tls.receivedCloseNotify { endOfStream() }
    }

    /// The alert that tells the peer why is sent if the kernel has room for it.
    private func fail(_ tls: TLSSession, _ error: TLSError) {
        OutgoingStream.sendLast(of: tls, to: socket)
        // Later it is the end of a connection like any other, and not that of a handshake.
        if phase == .securing {
            HandshakeReports.failed(TransportError(.tlsFailed, underlying: error), from: peer.address)
        }
        end()
    }

    private func endOfStream() {
        guard !hasStreamEnded, phase != .ended else { return }
        hasStreamEnded = true
        switch phase {
        case .securing: end()
        case .serving:
            machine.peerEnded()
            proceed()
        // The queue is sent first: a peer may end its half and still listen.
        case .lingering: if hasShutDown { end() } else { updateInterest() }
        case .ended: break
        }
    }
}
