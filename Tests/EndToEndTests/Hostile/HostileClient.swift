// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkBytes
import TidemarkScheduling
import TidemarkSockets
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// Somebody who attacks over one connection at a time.
protocol AttackingClient: Sendable {
    /// What the server has said so far.
    var told: HostileClient.Told { get }
    /// Lets a client that does not read take one answer.
    func takeAnswer()
    /// Ends the connection.
    func stop() async
}

/// A client that wants everything: it keeps so many requests under way, and comes back when the server ends the
/// connection.
final class HostileClient: AttackingClient, MessageHandler, @unchecked Sendable {
    /// What the server said to a client.
    struct Told {
        /// Answers to Hello.
        var entrances = 0
        /// Of Hello, by the text of the code.
        var refusalsAtHello: [String: Int] = [:]
        var answers = 0
        /// Of requests, by the text of the code.
        var refusals: [String: Int] = [:]
        /// Connections that the server ended.
        var ends = 0
        /// Connections that were never made.
        var unmade = 0

        static func + (left: Told, right: Told) -> Told {
            Told(
                entrances: left.entrances + right.entrances,
                refusalsAtHello: left.refusalsAtHello.merging(right.refusalsAtHello, uniquingKeysWith: +),
                answers: left.answers + right.answers,
                refusals: left.refusals.merging(right.refusals, uniquingKeysWith: +), ends: left.ends + right.ends,
                unmade: left.unmade + right.unmade)
        }
    }

    static let helloID: UInt64 = 1
    private static let loop: Result<EventLoop, any Error> = AttackersLoop.make("hostile clients")
    /// Long enough that the attack is on the server, and not on the loop that all attackers share.
    private static let pauseBeforeReturn = Duration.milliseconds(20)

    private let state = Mutex(Told())
    private let loop: EventLoop
    private let target: TransportClient.Target
    private let underWay: Int
    private let reads: Bool
    private let leaves: Bool
    private let hello: @Sendable () -> [UInt8]
    private let request: @Sendable (UInt64) -> [UInt8]
    // Touched on the loop alone.
    private var connection: MessageConnection?
    private var isOpen = false
    private var nextID: UInt64
    private var hasStopped = false

    /// - Parameters:
    ///   - underWay: how many requests it keeps under way.
    ///   - reads: whether it reads more than the answer to Hello.
    ///   - leaves: whether it leaves and comes back when it has been answered.
    ///   - firstID: of its requests.
    ///   - hello: what it says first, each time.
    ///   - request: the message with a number that no other message of the client has.
    init(
        _ site: Site, underWay: Int, reads: Bool, leaves: Bool, firstID: UInt64 = HostileClient.helloID + 1,
        hello: @escaping @Sendable () -> [UInt8], request: @escaping @Sendable (UInt64) -> [UInt8]
    ) throws {
        loop = try Self.loop.get()
        target = TransportClient.Target(
            host: "127.0.0.1", port: UInt16(site.port), tls: nil, subprotocols: ["tidemark.v1"])
        self.underWay = underWay
        self.reads = reads
        self.leaves = leaves
        nextID = firstID
        self.hello = hello
        self.request = request
        loop.execute { self.connect() }
    }

    var told: Told { state.withLock { $0 } }

    func takeAnswer() {
        loop.execute { self.connection?.resumeReading() }
    }

    func stop() async {
        await loop.run { [self] in
            hasStopped = true
            connection?.close()
        }.value
    }

    private func connect() {
        guard !hasStopped else { return }
        connection = TransportClient.connect(on: loop, to: target, handler: self)
    }

    private func ask() {
        connection?.send(.binary, request(nextID))
        nextID += 1
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        isOpen = true
        connection.send(.binary, hello())
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard let envelope = try? WireServerEnvelope(reading: payload.bytes), envelope.id > 0 else { return }
        let isGreeting = envelope.id == Self.helloID
        note(envelope.answer, isGreeting: isGreeting)
        // Who is refused at Hello is cut off.
        if isGreeting, case .failure? = envelope.answer { return }
        guard !hasStopped else { return }
        if leaves, !isGreeting || underWay == 0 { return connection.close() }
        for _ in 0..<(isGreeting ? underWay : 1) { ask() }
        if !reads { connection.pauseReading() }
    }

    private func note(_ answer: WireServerEnvelope.OneOfAnswer?, isGreeting: Bool) {
        state.withLock { told in
            switch (answer, isGreeting) {
            case (.failure(let failure)?, true): told.refusalsAtHello["\(failure.code)", default: 0] += 1
            case (.failure(let failure)?, false): told.refusals["\(failure.code)", default: 0] += 1
            case (_, true): told.entrances += 1
            case (_, false): told.answers += 1
            }
        }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        let wasOpen = isOpen
        self.connection = nil
        isOpen = false
        guard !hasStopped else { return }
        if case .local = reason {
            // Its own choice.
        } else {
            state.withLock { told in
                if wasOpen { told.ends += 1 } else { told.unmade += 1 }
            }
        }
        // NB: no task. The neighbour's client has the same threads for its tasks.
        _ = loop.schedule(after: Self.pauseBeforeReturn) { self.connect() }
    }
}
