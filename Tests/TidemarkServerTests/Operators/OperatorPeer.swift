// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkBytes
import TidemarkDomain
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTLS
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// A client of an operator's channel that says what a test wants, over a real WebSocket.
final class OperatorPeer: MessageHandler, Sendable {
    /// What it says to a message of the server.
    typealias Answer = @Sendable (WireOperatorServerMessage) -> WireOperatorClientMessage?

    private struct State {
        var connection: MessageConnection?
        var messages: [WireOperatorServerMessage] = []
        var closed: CloseReason?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let loop: EventLoop
    private let greeting: [[UInt8]]
    private let answer: Answer
    private let state = Mutex(State())

    /// - Parameter greeting: messages that are sent as soon as the connection is open.
    init(_ loop: EventLoop, greeting: [[UInt8]], answer: @escaping Answer = { _ in nil }) {
        self.loop = loop
        self.greeting = greeting
        self.answer = answer
    }

    func connect(port: UInt16, tls: TLSContext?, subprotocols: [String] = ["tidemark.operator.v1"]) {
        loop.execute { [self] in
            let target = TransportClient.Target(
                host: "127.0.0.1", port: port, path: "/admin", tls: tls, subprotocols: subprotocols)
            let made = TransportClient.connect(on: loop, to: target, handler: self)
            state.withLock { $0.connection = made }
        }
    }

    func close() {
        loop.execute { [self] in state.withLock { $0.connection }?.close(.normal) }
    }

    /// Everything that came, when the connection has ended, and the code of the server's close frame.
    func untilClosed() async -> (messages: [WireOperatorServerMessage], code: UInt16?) {
        await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
            let isClosed = state.withLock { state in
                if state.closed == nil { state.waiter = ended }
                return state.closed != nil
            }
            if isClosed { ended.resume() }
        }
        return state.withLock { state in
            guard case .peer(let code, _)? = state.closed else { return (state.messages, nil) }
            return (state.messages, code?.rawValue)
        }
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        for message in greeting { connection.send(.binary, message) }
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard let message = try? WireOperatorServerMessage(reading: payload.bytes) else { return }
        state.withLock { $0.messages.append(message) }
        if let reply = answer(message) { connection.send(.binary, reply.encoded) }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        let waiter = state.withLock { state in
            state.connection = nil
            state.closed = reason
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    // MARK: Messages

    static func hello(_ credential: String) -> [UInt8] {
        var message = WireOperatorClientMessage()
        message.hello.credential = Array(credential.utf8)
        return message.encoded
    }

    static func command(_ arguments: [String], credit: UInt32 = 262_144) -> [UInt8] {
        var message = WireOperatorClientMessage()
        message.command.arguments = arguments
        message.command.credit = credit
        return message.encoded
    }
}

/// Commands that need no database, for tests of the channel.
final class TestCommands: OperatorCommands {
    private let counts = Mutex((begun: 0, ended: 0, cancelled: 0))
    private let turns = Mutex<Set<ObjectIdentifier>>([])

    /// Where the long queries of all commands took turns.
    var turnCount: Int { turns.withLock { $0.count } }

    var begun: Int { counts.withLock { $0.begun } }
    var ended: Int { counts.withLock { $0.ended } }
    var cancelled: Int { counts.withLock { $0.cancelled } }

    func run(_ request: OperatorRequest, over channel: any OperatorChannel) async -> Int32 {
        counts.withLock { $0.begun += 1 }
        turns.withLock { _ = $0.insert(ObjectIdentifier(request.longQueries)) }
        let status = await perform(request, channel)
        counts.withLock { counts in
            counts.ended += 1
            if Task.isCancelled { counts.cancelled += 1 }
        }
        return status
    }

    private func perform(_ request: OperatorRequest, _ channel: any OperatorChannel) async -> Int32 {
        switch request.arguments.first {
        case "greet":
            switch request.sender {
            case .operator(let found): channel.say("hello \(found.name)")
            case .user(let found): channel.say("hello account \(found.account.rawValue)")
            }
            return await channel.write("at your service\n") ? 0 : 6
        case "flood":
            let piece = String(repeating: "a", count: 100_000)
            while await channel.write(piece) {}
            return 5
        case "shout":
            for _ in 0..<10 { channel.say(String(repeating: "a", count: 16_000)) }
            return 0
        case "ask": return await channel.ask("Really?") == "y" ? 0 : 5
        case "read":
            guard case .opened(_, let count) = channel.openFile("notes.csv") else { return 2 }
            var bytes: [UInt8] = []
            while case .bytes(let part) = channel.readFile(0), !part.isEmpty { bytes += part }
            return bytes.count == count ? 0 : 1
        default: return 2
        }
    }
}
