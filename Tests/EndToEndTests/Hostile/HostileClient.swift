// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkBytes
import TidemarkScheduling
import TidemarkSockets
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// A client that wants everything: it keeps so many requests under way, and comes back when the server ends the
/// connection.
final class HostileClient: MessageHandler, @unchecked Sendable {
    /// What the server said to it.
    struct Told {
        var answers = 0
        /// Answers to Hello.
        var entrances = 0
        /// By the text of the code.
        var refusals: [String: Int] = [:]
        /// Connections that ended, or were never made.
        var ends = 0

        static func + (left: Told, right: Told) -> Told {
            Told(
                answers: left.answers + right.answers, entrances: left.entrances + right.entrances,
                refusals: left.refusals.merging(right.refusals, uniquingKeysWith: +), ends: left.ends + right.ends)
        }
    }

    private static let helloID: UInt64 = 1
    private static let loop: Result<EventLoop, any Error> = Result { try EventLoop(name: "hostile clients") }
    /// Long enough that the attack is on the server, and not on the loop that all attackers share.
    private static let pauseBeforeReturn = Duration.milliseconds(20)

    private let told = Mutex(Told())
    private let loop: EventLoop
    private let target: TransportClient.Target
    private let hello: [UInt8]
    private let underWay: Int
    private let reads: Bool
    private let request: @Sendable (UInt64) -> [UInt8]
    // Touched on the loop alone.
    private var connection: MessageConnection?
    private var nextID: UInt64 = 2
    private var hasStopped = false

    /// - Parameters:
    ///   - underWay: how many requests it keeps under way.
    ///   - reads: whether it reads more than the answer to Hello.
    ///   - request: the message with a number that no other message of the client has.
    init(
        _ site: Site, hello: WireClientEnvelope, underWay: Int, reads: Bool = true,
        request: @escaping @Sendable (UInt64) -> [UInt8]
    ) throws {
        loop = try Self.loop.get()
        target = TransportClient.Target(
            host: "127.0.0.1", port: UInt16(site.port), tls: nil, subprotocols: ["tidemark.v1"])
        self.hello = hello.encoded
        self.underWay = underWay
        self.reads = reads
        self.request = request
        loop.execute { self.connect() }
    }

    /// Ends the connection.
    ///
    /// - Returns: what the server said.
    func stop() async -> Told {
        await loop.run { [self] in
            hasStopped = true
            connection?.close()
        }.value
        return told.withLock { $0 }
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
        connection.send(.binary, hello)
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard let envelope = try? WireServerEnvelope(reading: payload.bytes), envelope.id > 0 else { return }
        told.withLock { told in
            if case .failure(let failure)? = envelope.answer {
                told.refusals["\(failure.code)", default: 0] += 1
            } else if envelope.id == Self.helloID {
                told.entrances += 1
            } else {
                told.answers += 1
            }
        }
        guard !hasStopped else { return }
        for _ in 0..<(envelope.id == Self.helloID ? underWay : 1) { ask() }
        if !reads { connection.pauseReading() }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        self.connection = nil
        told.withLock { $0.ends += 1 }
        guard !hasStopped else { return }
        Task {
            try await Task.sleep(for: Self.pauseBeforeReturn)
            loop.execute { self.connect() }
        }
    }
}
