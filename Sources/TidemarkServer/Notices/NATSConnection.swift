// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTransport

/// One connection to a server of NATS, from the look-up of its name to its end. It is not used again.
///
/// Loop-confined; Sendable so that work on the loop can capture it.
final class NATSConnection: @unchecked Sendable {
    /// The events for the owner, on the loop.
    enum Event {
        /// The subscriptions of the greeting are in force from now on.
        case opened
        /// It has answered some seconds later as well.
        case alive
        case heard(subject: String, payload: [UInt8])
        case passedOver
        case denied(String)
        /// Once, and last.
        case ended(NATSFailure)
    }

    private enum Phase {
        case resolving, connecting, talking, ended
    }

    /// How long the server may take until it is greeted and has answered, and for each of its addresses.
    private static let openingTime = Duration.seconds(10)
    private static let addressTime = Duration.seconds(2)
    /// A vanished peer sends nothing, but neither does one that has nothing to say.
    private static let pingInterval = Duration.seconds(10)
    private static let answerTime = Duration.seconds(5)
    /// The most bytes that wait to be sent, beside the greeting. If a server does not read that much, the connection
    /// ends.
    private static let waitingBytesMax = 1_048_576
    private static let encryptedBytesPerWrite = 65_536

    private let loop: EventLoop
    private let place: NoticeBusSettings.Place
    private let context: TLSContext?
    private let greeting: () -> [UInt8]
    private let onEvent: (Event) -> Void
    private let lookUp: HostLookUp
    private var phase = Phase.resolving
    private var machine: NATSMachine
    /// In reverse order.
    private var addresses: [SocketAddress] = []
    private var attempt = 0
    private var socket: Socket?
    private var tls: TLSSession?
    private var registration: Registration?
    private var timer: ScheduledTimer?
    private var waiting: [UInt8] = []
    /// How much of `waiting` has been sent, or encrypted.
    private var sentCount = 0
    private var waitingMax = waitingBytesMax
    private var isOpen = false
    /// Whether it was asked whether it is still there.
    private var isAwaited = false

    /// - Parameters:
    ///   - context: nil: without TLS. Then only this machine is connected to.
    ///   - greeting: the first bytes, up to a PING.
    init(
        on loop: EventLoop, to place: NoticeBusSettings.Place, context: TLSContext?,
        lookUp: @escaping HostLookUp = Resolver.resolve(host:port:completion:), greeting: @escaping () -> [UInt8],
        onEvent: @escaping (Event) -> Void
    ) {
        self.loop = loop
        self.place = place
        self.context = context
        self.lookUp = lookUp
        self.greeting = greeting
        self.onEvent = onEvent
        machine = NATSMachine(wantsTLS: context != nil)
    }

    func start() {
        setTimer(Self.openingTime) { $0.end(.silent) }
        lookUp(place.host, place.port) { [self] result in
            loop.execute { [self] in resolved(result) }
        }
    }

    /// - Returns: false if it cannot be sent.
    func send(_ bytes: [UInt8]) -> Bool {
        guard isOpen, waiting.count - sentCount + bytes.count <= waitingMax else { return false }
        waiting += bytes
        write()
        return phase == .talking
    }

    /// Ends it without a word to its owner.
    func close() { disconnect() }

    // MARK: Connecting

    private func resolved(_ result: Result<[SocketAddress], SocketError>) {
        guard phase == .resolving else { return }
        guard case .success(let found) = result else { return end(.unreachable) }
        // A name server may say anything, even of `localhost`.
        addresses = (context == nil ? found.filter(\.isLoopback) : found).reversed()
        connectToNext()
    }

    private func connectToNext() {
        registration?.cancel()
        registration = nil
        socket?.close()
        socket = nil
        guard let address = addresses.popLast() else { return end(.unreachable) }
        phase = .connecting
        attempt += 1
        let number = attempt
        loop.schedule(after: Self.addressTime) { [weak self] in
            guard let self, phase == .connecting, attempt == number else { return }
            connectToNext()
        }
        do throws(SocketError) {
            let socket = try Socket.connecting(to: address)
            registration = try loop.register(socket.descriptor, interest: .writable, handler: self)
            self.socket = socket
        } catch {
            connectToNext()
        }
    }

    private func finishConnecting() {
        guard let socket else { return }
        do throws(SocketError) {
            try socket.finishConnecting()
            try socket.setNoDelay()
        } catch {
            return connectToNext()
        }
        phase = .talking
        registration?.update(.readable)
    }

    private func secure() {
        guard let context else { return }
        do throws(TLSError) {
            let session = try TLSSession(context: context, side: .client(hostName: place.host))
            tls = session
            try session.start()
        } catch {
            return end(.tlsFailed)
        }
        write()
    }

    // MARK: Sending

    private func write() {
        guard let socket, phase == .talking else { return }
        while let outcome = writeStep(socket) {
            switch outcome {
            case .bytes: continue
            case .wouldBlock: registration?.update([.readable, .writable])
            // NB: the reason for the end may have come before. The receiver finds both.
            case .closed, .failed: registration?.update(.readable)
            }
            return
        }
        registration?.update(.readable)
    }

    /// Nil: nothing is to be sent now.
    private func writeStep(_ socket: Socket) -> TransferOutcome? {
        guard let tls else {
            guard sentCount < waiting.count else {
                forgetSent()
                return nil
            }
            let outcome = waiting.withUnsafeBytes { socket.send(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }
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

    private func forgetSent() {
        waiting = []
        sentCount = 0
        if isOpen { waitingMax = Self.waitingBytesMax }
    }

    /// - Returns: false if nothing is to be encrypted, or the session has failed. Then it is read that it has ended.
    private func encrypt(_ tls: TLSSession) -> Bool {
        guard tls.isEstablished else { return false }
        guard sentCount < waiting.count else {
            forgetSent()
            return false
        }
        let end = min(waiting.count, sentCount + Self.encryptedBytesPerWrite)
        let isDone = waiting.withUnsafeBytes { all in
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

    // MARK: Actions of the machine

    private func perform(_ actions: [NATSMachine.Action]) {
        for action in actions {
            guard phase == .talking else { return }
            switch action {
            case .secure: secure()
            case .greet:
                waiting += greeting() + NATSMachine.ping
                waitingMax = max(Self.waitingBytesMax, waiting.count + Self.waitingBytesMax)
                write()
            case .opened:
                isOpen = true
                pingLater()
                onEvent(.opened)
            case .send(let bytes):
                // Only a server that asks and does not read lets so much wait.
                guard waiting.count - sentCount + bytes.count <= waitingMax else { return end(.silent) }
                waiting += bytes
                write()
            case .heard(let subject, let payload): onEvent(.heard(subject: subject, payload: payload))
            case .passedOver: onEvent(.passedOver)
            case .denied(let text): onEvent(.denied(text))
            case .alive:
                pingLater()
                onEvent(.alive)
            case .end(let failure): return end(failure)
            }
        }
    }

    private func pingLater() {
        isAwaited = false
        setTimer(Self.pingInterval) { connection in
            guard connection.send(NATSMachine.ping) else { return connection.end(.silent) }
            connection.awaitAnswer()
        }
    }

    private func awaitAnswer() {
        isAwaited = true
        setTimer(Self.answerTime) { $0.end(.silent) }
    }

    /// Sets the only timer.
    private func setTimer(_ delay: Duration, _ action: @escaping @Sendable (NATSConnection) -> Void) {
        timer?.cancel()
        timer = loop.schedule(after: delay) { [weak self] in
            if let self { action(self) }
        }
    }

    // MARK: The end

    private func end(_ failure: NATSFailure) {
        guard phase != .ended else { return }
        disconnect()
        onEvent(.ended(failure))
    }

    private func disconnect() {
        if let tls, let socket, phase == .talking {
            // The alert, or the goodbye, is sent if the kernel has room for it.
            tls.close()
            tls.withOutput { bytes in
                guard case .bytes(let count) = socket.send(bytes) else { return 0 }
                return count
            }
        }
        phase = .ended
        isOpen = false
        timer?.cancel()
        registration?.cancel()
        registration = nil
        socket?.close()
        socket = nil
        tls = nil
        waiting = []
        sentCount = 0
    }
}

// MARK: Input

extension NATSConnection: EventHandler {
    func ready(_ readiness: Readiness) {
        if phase == .connecting { return finishConnecting() }
        if readiness.contains(.writable) { write() }
        if readiness.isToReceive { receive() }
    }

    /// Receives once. The rest in the kernel is reported again in the next tick.
    private func receive() {
        guard let socket else { return }
        let scratch = loop.receiveScratch
        switch socket.receive(into: scratch) {
        case .bytes(let count):
            // The answer may come behind very many messages.
            if isAwaited { awaitAnswer() }
            take(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        case .wouldBlock: break
        case .closed, .failed: end(.lost)
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard let tls else { return perform(machine.receive(bytes)) }
        let wasEstablished = tls.isEstablished
        var content: [UInt8] = []
        do throws(TLSError) {
            try tls.receive(bytes) { content.append(contentsOf: $0) }
        } catch {
            return end(.tlsFailed)
        }
        write()
        if !wasEstablished, tls.isEstablished { perform(machine.secured()) }
        if !content.isEmpty { perform(content.withUnsafeBytes { machine.receive($0) }) }
        if self.tls === tls, tls.receivedCloseNotify { end(.lost) }
    }
}
