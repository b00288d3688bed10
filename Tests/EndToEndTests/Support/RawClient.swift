// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkBytes
import TidemarkSockets
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// A client that says what it is told to say, byte for byte, also what the library would never say.
final class RawClient: MessageHandler, @unchecked Sendable {
    private struct State {
        var isOpen = false
        var answers: [WireServerEnvelope] = []
        var reason: CloseReason?
    }

    private static let loop: Result<EventLoop, any Error> = Result { try EventLoop(name: "raw clients") }

    private let state = Mutex(State())
    private let loop: EventLoop
    /// Touched on the loop alone.
    private var connection: MessageConnection?

    /// Connects, and waits until messages can be sent or the connection has failed.
    init(_ site: Site, subprotocols: [String] = ["tidemark.v1"]) async throws {
        loop = try Self.loop.get()
        let target = TransportClient.Target(
            host: "127.0.0.1", port: UInt16(site.port), tls: try site.makeTLS(), subprotocols: subprotocols)
        loop.execute { self.connection = TransportClient.connect(on: self.loop, to: target, handler: self) }
        try await eventually("the connection opens or fails") {
            self.state.withLock { $0.isOpen || $0.reason != nil }
        }
    }

    var answers: [WireServerEnvelope] { state.withLock { $0.answers } }
    var isClosed: Bool { state.withLock { $0.reason != nil } }

    /// Nil: not closed by the server, or without a code.
    var closeCode: UInt16? {
        guard case .peer(let code, _)? = state.withLock({ $0.reason }) else { return nil }
        return code?.rawValue
    }

    func send(_ bytes: [UInt8], as kind: MessageKind = .binary) {
        loop.execute { self.connection?.send(kind, bytes) }
    }

    func send(_ envelope: WireClientEnvelope) throws {
        send(envelope.encoded)
    }

    /// In one piece, as far as the network lets them.
    func sendTogether(_ messages: [[UInt8]]) {
        loop.execute { for message in messages { self.connection?.send(.binary, message) } }
    }

    func pauseReading() {
        loop.execute { self.connection?.pauseReading() }
    }

    func resumeReading() {
        loop.execute { self.connection?.resumeReading() }
    }

    func disconnect() {
        loop.execute { self.connection?.close() }
    }

    /// The answer to a request that was sent.
    func answer(to id: UInt64) async throws -> WireServerEnvelope {
        var answer: WireServerEnvelope?
        try await eventually("the answer to \(id) comes") {
            // NB: looked at first: what came before the end is here by then.
            let end = self.state.withLock { $0.reason }
            answer = self.answers.first { $0.id == id }
            if answer == nil, let end {
                throw NeverHappened(description: "closed before the answer to \(id): \(end)")
            }
            return answer != nil
        }
        return answer ?? WireServerEnvelope()
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        state.withLock { $0.isOpen = true }
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard let envelope = try? WireServerEnvelope(reading: payload.bytes) else { return }
        state.withLock { $0.answers.append(envelope) }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        state.withLock { $0.reason = reason }
        self.connection = nil
    }
}

extension WireClientEnvelope {
    static func hello(
        _ site: Site, _ account: String = "alice", token: String? = nil, device: UInt8 = 1, id: UInt64 = 1
    ) -> WireClientEnvelope {
        var hello = WireHello()
        hello.container = site.container
        hello.environment = .development
        hello.credential = token ?? site.tokens[account] ?? ""
        hello.device = [UInt8](repeating: device, count: 16)
        hello.clientName = "test"
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.hello = hello
        return envelope
    }

    static func zones(id: UInt64) -> WireClientEnvelope {
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.fetchZones = WireFetchZones()
        envelope.fetchZones.database = .private
        return envelope
    }
}
