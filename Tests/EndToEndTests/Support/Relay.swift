// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkBytes
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// Stands between devices and a server without TLS: messages wait in it, or get lost in it, as when a machine goes to sleep.
final class Relay: Sendable {
    private struct State {
        var holds: @Sendable (WireClientEnvelope) -> Bool = { _ in false }
        var losesRequest: @Sendable (WireClientEnvelope) -> Bool = { _ in false }
        var losesAnswer: @Sendable (WireServerEnvelope) -> Bool = { _ in false }
        var held: [@Sendable () -> Void] = []
        var lostCount = 0
        var connections: [RelayedConnection] = []
    }

    private let loop: EventLoop
    private let server: TransportServer
    private let state: Mutex<State>
    /// The server as its devices know it by way of this.
    let site: Site

    /// Runs `body` with a relay to a server, which must have no TLS.
    static func with(_ site: Site, _ body: (Relay) async throws -> Void) async throws {
        let relay = try await Relay(to: site)
        try await running {
            try await body(relay)
        } finally: {
            await relay.stop()
        }
    }

    private init(to site: Site) async throws {
        let loop = try EventLoop(name: "relay")
        let target = TransportClient.Target(
            host: "127.0.0.1", port: UInt16(site.port), tls: nil, subprotocols: ["tidemark.v1"])
        let address = try SocketAddress(parsing: "127.0.0.1:0")
        let box = Box()
        server = try await TransportServer.start(on: [loop], .init(addresses: [address], tls: nil)) { _, _ in
            let offer = ServerHandshake.Offer(subprotocols: ["tidemark.v1"], requiresSubprotocol: true)
            let connection = RelayedConnection(loop, target)
            if let relay = box.relay { relay.add(connection) }
            return .webSocket(offer, connection)
        }
        self.loop = loop
        state = Mutex(State())
        self.site = Site(
            url: "ws://127.0.0.1:\(server.localAddresses[0].port)", authorityFile: "", tokens: site.tokens,
            container: site.container)
        box.relay = self
    }

    private func stop() async {
        await server.stop()
        loop.stop()
    }

    // MARK: What tests say

    /// From now on such requests wait.
    func hold(_ holds: @escaping @Sendable (WireClientEnvelope) -> Bool) {
        state.withLock { $0.holds = holds }
    }

    /// From now on such requests do not come to the server.
    func loseRequests(_ loses: @escaping @Sendable (WireClientEnvelope) -> Bool) {
        state.withLock { $0.losesRequest = loses }
    }

    /// From now on such answers do not come to the devices.
    func loseAnswers(_ loses: @escaping @Sendable (WireServerEnvelope) -> Bool) {
        state.withLock { $0.losesAnswer = loses }
    }

    var heldCount: Int { state.withLock { $0.held.count } }
    var lostCount: Int { state.withLock { $0.lostCount } }
    /// All that there ever were since the last ``cut()``.
    var connectionCount: Int { state.withLock { $0.connections.count } }

    /// What waits goes on, and nothing waits any more.
    func release() {
        let held = state.withLock { state in
            defer { (state.held, state.holds) = ([], { _ in false }) }
            return state.held
        }
        loop.execute { held.forEach { $0() } }
    }

    /// Ends all connections; what comes over new ones passes.
    func cut() {
        let connections = state.withLock { state in
            defer { state = State() }
            return state.connections
        }
        loop.execute { connections.forEach { $0.close() } }
    }

    // MARK: What connections ask

    fileprivate func add(_ connection: RelayedConnection) {
        connection.relay = self
        state.withLock { $0.connections.append(connection) }
    }

    fileprivate func takeRequest(_ message: [UInt8], _ pass: @escaping @Sendable () -> Void) {
        guard let request = try? WireClientEnvelope(reading: message) else { return pass() }
        let passes = state.withLock { state in
            if state.losesRequest(request) {
                state.lostCount += 1
                return false
            }
            guard state.holds(request) else { return true }
            state.held.append(pass)
            return false
        }
        if passes { pass() }
    }

    fileprivate func passesAnswer(_ message: [UInt8]) -> Bool {
        guard let answer = try? WireServerEnvelope(reading: message) else { return true }
        return state.withLock { state in
            guard state.losesAnswer(answer) else { return true }
            state.lostCount += 1
            return false
        }
    }

    /// The relay, for connections that come while it is being made.
    private final class Box: @unchecked Sendable {
        private let lock = Mutex(())
        private weak var value: Relay?

        var relay: Relay? {
            get { lock.withLock { _ in value } }
            set { lock.withLock { _ in value = newValue } }
        }
    }
}

/// A device's connection, and one to the server for it. On the relay's loop alone.
private final class RelayedConnection: MessageHandler, @unchecked Sendable {
    weak var relay: Relay?
    private let loop: EventLoop
    private let target: TransportClient.Target
    private var device: MessageConnection?
    private var server: MessageConnection?
    /// What came before the server's end was open.
    private var waiting: [[UInt8]] = []

    init(_ loop: EventLoop, _ target: TransportClient.Target) {
        self.loop = loop
        self.target = target
    }

    func close() {
        device?.close(.goingAway)
        server?.close()
    }

    func opened(_ connection: MessageConnection) {
        device = connection
        server = TransportClient.connect(on: loop, to: target, handler: ServerEnd(self))
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        let message = payload.bytes
        relay?.takeRequest(message) { self.pass(message) }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        device = nil
        server?.close()
    }

    private func pass(_ message: [UInt8]) {
        if server?.isOpen == true { server?.send(.binary, message) } else { waiting.append(message) }
    }

    private final class ServerEnd: MessageHandler {
        private let owner: RelayedConnection

        init(_ owner: RelayedConnection) {
            self.owner = owner
        }

        func opened(_ connection: MessageConnection) {
            owner.waiting.forEach { connection.send(.binary, $0) }
            owner.waiting = []
        }

        func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
            let message = payload.bytes
            if owner.relay?.passesAnswer(message) == true { owner.device?.send(.binary, message) }
        }

        func closed(_ connection: MessageConnection, _ reason: CloseReason) {
            owner.server = nil
            owner.device?.close(.goingAway)
        }
    }
}

extension WireClientEnvelope {
    /// Whether it changes records.
    var isSave: Bool {
        if case .modifyRecords = request { return true }
        return false
    }

    /// Whether it brings a part of an asset that is not the first one.
    var isLaterPartOfUpload: Bool {
        if case .uploadAssetChunk(let part) = request { return part.offset > 0 }
        return false
    }

    /// Whether it asks for a part of an asset.
    var isAssetFetch: Bool {
        if case .fetchAssetChunk = request { return true }
        return false
    }
}

extension WireClientEnvelope {
    /// Whether it asks for nothing, and only says which pushes were heard.
    var isAcknowledgement: Bool { request == nil && id == 0 }
}

extension WireServerEnvelope {
    var isPush: Bool {
        if case .push = answer { return true }
        return false
    }

    /// Whether it answers a request that changes records.
    var isAnswerToSave: Bool {
        if case .modifyRecords = answer { return true }
        return false
    }
}
