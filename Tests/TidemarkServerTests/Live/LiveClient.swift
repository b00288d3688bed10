// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import TidemarkBytes
import TidemarkScheduling
import TidemarkSockets
import TidemarkTLS
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// A client over a real WebSocket that speaks the protocol itself: what it got is looked at, in any order.
final class LiveClient: MessageHandler, Sendable {
    struct State {
        var isOpen = false
        var greeting: [UInt8]?
        var inbox: [WireServerEnvelope] = []
        var closed: CloseReason?
        var lastID: UInt64 = 0
        var counter: UInt64 = 0
        /// Each looks at the state and says whether it has seen enough.
        var waiters: [@Sendable (State) -> Bool] = []
    }

    let loop: EventLoop
    private let state = Mutex(State())
    let connection = Mutex<MessageConnection?>(nil)
    /// Nothing that a test waits for takes so long, even on a busy machine.
    private static let patience = Duration.seconds(30)

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Loop-confined.
    func connect(port: UInt16, tls: TLSContext?, subprotocols: [String]) {
        let target = TransportClient.Target(host: "127.0.0.1", port: port, tls: tls, subprotocols: subprotocols)
        let made = TransportClient.connect(on: loop, to: target, handler: self)
        connection.withLock { $0 = made }
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        if let greeting = state.withLock({ $0.greeting }) { connection.send(.binary, greeting) }
        change { $0.isOpen = true }
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        let envelope = try? WireServerEnvelope(reading: payload.bytes)
        change { $0.inbox.append(envelope ?? WireServerEnvelope()) }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        change { $0.closed = reason }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let now = state
            state.waiters.removeAll { $0(now) }
        }
    }

    // MARK: Waiting

    /// Waits until `pick` finds something.
    func wait<Value: Sendable>(
        for what: String, _ pick: @escaping @Sendable (State) -> Value?
    ) async throws -> Value {
        let outcome = Outcome<Value>()
        let timer = loop.schedule(after: Self.patience) {
            outcome.finish(.failure(LiveError("waited in vain for \(what)")))
        }
        defer { timer.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            outcome.start(continuation)
            change { state in
                state.waiters.append { state in
                    guard let value = pick(state) else { return false }
                    outcome.finish(.success(value))
                    return true
                }
            }
        }
    }

    func opened() async throws {
        let isOpen = try await wait(for: "the handshake") { state -> Bool? in
            state.isOpen || state.closed != nil ? state.isOpen : nil
        }
        guard isOpen else { throw LiveError("not opened: \(String(describing: closeReason))") }
    }

    var closeReason: CloseReason? { state.withLock { $0.closed } }

    /// The code with which the server closed; nil if the connection just broke.
    func closeCode() async throws -> UInt16? {
        let reason = try await wait(for: "the end") { $0.closed }
        if case .peer(let code, _) = reason { return code?.rawValue }
        return nil
    }

    func answer(to id: UInt64) async throws -> WireServerEnvelope {
        try await wait(for: "answer \(id)") { state in
            if let answer = state.inbox.first(where: { $0.id == id }) { return answer }
            return state.closed.map { _ in WireServerEnvelope() }
        }
    }

    /// All that have come so far.
    var answers: [WireServerEnvelope] { state.withLock { $0.inbox.filter { $0.id != 0 } } }

    var pushes: [WirePush] { state.withLock { $0.inbox.filter { $0.id == 0 }.map(\.push) } }

    func pushes(_ count: Int) async throws -> [WirePush] {
        try await wait(for: "\(count) pushes") { state in
            let pushes = state.inbox.filter { $0.id == 0 }.map(\.push)
            return pushes.count >= count ? pushes : nil
        }
    }

    func forgetInbox() { state.withLock { $0.inbox = [] } }

    // MARK: Sending

    func send(_ kind: MessageKind = .binary, _ bytes: [UInt8]) {
        loop.execute { [self] in connection.withLock { $0 }?.send(kind, bytes) }
    }

    /// Sends this first, as soon as it is connected, however long the test's own task has to wait for its turn. Its id
    /// is 1.
    func greet(with request: WireClientEnvelope.OneOfRequest) {
        state.withLock { state in
            state.lastID = 1
            state.greeting = TestClient.envelope(request, id: 1)
        }
    }

    func post(_ request: WireClientEnvelope.OneOfRequest) -> UInt64 {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        send(.binary, TestClient.envelope(request, id: id))
        return id
    }

    func ask(_ request: WireClientEnvelope.OneOfRequest) async throws -> WireServerEnvelope {
        try await answer(to: post(request))
    }

    func pauseReading() {
        loop.execute { [self] in connection.withLock { $0 }?.pauseReading() }
    }

    func resumeReading() {
        loop.execute { [self] in connection.withLock { $0 }?.resumeReading() }
    }

    func stamp() -> WireRequestStamp {
        WireRequestStamp(
            counter: state.withLock { state in
                state.counter += 1
                return state.counter
            })
    }
}

/// One answer for one who waits: what comes first counts.
private final class Outcome<Value: Sendable>: Sendable {
    private let continuation = Mutex<CheckedContinuation<Value, any Error>?>(nil)

    func start(_ continuation: CheckedContinuation<Value, any Error>) {
        self.continuation.withLock { $0 = continuation }
    }

    func finish(_ result: Result<Value, any Error>) {
        continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }?.resume(with: result)
    }
}
