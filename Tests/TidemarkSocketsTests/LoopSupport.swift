// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling
import TidemarkTelemetry
import TidemarkTestSupport

@testable import TidemarkSockets

/// Runs `body` with a loop of its own, which is stopped afterwards.
func withLoop(_ body: @Sendable (EventLoop) async throws -> Void) async throws {
    let loop = try EventLoop(name: "test")
    defer { loop.stop() }
    try await body(loop)
}

extension EventLoop {
    /// Runs `work` on the loop and waits for what it returns.
    func onLoop<Success: Sendable>(_ work: @escaping @Sendable () -> Success) async -> Success {
        // NB: a continuation that is resumed before its task has suspended orders the two threads inside the runtime,
        // which the thread sanitizer does not see; it does see this lock.
        let handover = Lock(0)
        let result = await withCheckedContinuation { continuation in
            execute {
                let result = work()
                handover.withLock { $0 += 1 }
                continuation.resume(returning: result)
            }
        }
        handover.withLock { $0 += 1 }
        return result
    }

    /// As ``onLoop(_:)``, for work that throws.
    func tryOnLoop<Success: Sendable>(
        _ work: @escaping @Sendable () throws(SocketError) -> Success
    ) async throws -> Success {
        try await onLoop { Result(catching: work) }.get()
    }
}

/// A value that many threads change, as an object that closures can share.
final class Locked<Value: Sendable>: Sendable {
    private let lock: Lock<Value>

    init(_ value: Value) { lock = Lock(value) }

    var value: Value { lock.withLock { $0 } }

    func update(_ change: (inout Value) -> Void) {
        lock.withLock { change(&$0) }
    }
}

extension EventLoop {
    /// Waits until `condition`, which is asked on the loop, holds; a failure of the test after ten seconds.
    func eventually(
        _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @escaping @Sendable () -> Bool
    ) async throws {
        let end = now + .seconds(10)
        while now < end {
            if await onLoop(condition) { return }
            try await sleep(for: .milliseconds(1))
        }
        Issue.record(what, sourceLocation: sourceLocation)
        throw CancellationError()
    }
}

/// One end of a connection that keeps what it receives and queues what it cannot send. Loop-confined.
final class TestConnection: EventHandler, @unchecked Sendable {
    let socket: Socket
    private(set) var registration: Registration!
    private(set) var received: [UInt8] = []
    private(set) var receivedCount = 0
    private(set) var readinesses: [Readiness] = []
    private(set) var end: TransferOutcome?
    private var queued: [UInt8] = []
    /// How much of it has been sent.
    private var sentCount = 0
    private let loop: EventLoop
    var isEcho = false
    var keepsReceived = true
    var onReady: (() -> Void)?

    init(_ socket: Socket, on loop: EventLoop, interest: Interest = .readable) throws(SocketError) {
        self.socket = socket
        self.loop = loop
        registration = try loop.register(socket.descriptor, interest: interest, handler: self)
    }

    static func connect(to address: SocketAddress, on loop: EventLoop) async throws -> TestConnection {
        let connection = try await loop.tryOnLoop { () throws(SocketError) in
            try TestConnection(.connecting(to: address), on: loop, interest: .writable)
        }
        try await loop.eventually("connected") { !connection.readinesses.isEmpty }
        try await loop.tryOnLoop { () throws(SocketError) in
            try connection.socket.finishConnecting()
            connection.registration.update(.readable)
        }
        return connection
    }

    var unsentCount: Int { queued.count - sentCount }

    func ready(_ readiness: Readiness) {
        readinesses.append(readiness)
        onReady?()
        guard !registration.isCancelled else { return }
        if registration.interest.contains(.readable), readiness != .writable { receive() }
        if readiness.contains(.writable), unsentCount > 0 { sendUnsent() }
    }

    func send(_ bytes: [UInt8]) {
        queued += bytes
        sendUnsent()
    }

    func close() {
        registration.cancel()
        socket.close()
    }

    private func receive() {
        switch socket.receive(into: loop.receiveScratch) {
        case .bytes(let count):
            let bytes = Array(loop.receiveScratch[..<count])
            receivedCount += count
            if keepsReceived { received += bytes }
            if isEcho { send(bytes) }
        case .wouldBlock:
            break
        case let outcome:
            end = outcome
            close()
        }
    }

    private func sendUnsent() {
        switch queued.withUnsafeBytes({ socket.send(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }) {
        case .bytes(let count): sentCount += count
        case .wouldBlock: break
        case let outcome:
            end = outcome
            return close()
        }
        let interest = registration.interest
        if unsentCount == 0 { (queued, sentCount) = ([], 0) }
        registration.update(queued.isEmpty ? interest.subtracting(.writable) : interest.union(.writable))
    }
}

/// A listener and the connections that it has accepted. Loop-confined.
final class TestServer: @unchecked Sendable {
    private(set) var listener: Listener!
    private(set) var connections: [TestConnection] = []
    private(set) var peers: [SocketAddress] = []

    init(
        on loop: EventLoop, at address: SocketAddress = .loopback(port: 0), options: Listener.Options = .init(),
        failures: FailureLog = .shared, isEcho: Bool = false
    ) throws(SocketError) {
        listener = try Listener(loop: loop, address: address, options: options, failures: failures) {
            [unowned self] descriptor, peer in
            peers.append(peer)
            do throws(SocketError) {
                let connection = try TestConnection(Socket(descriptor), on: loop)
                connection.isEcho = isEcho
                connections.append(connection)
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    static func start(
        on loop: EventLoop, at address: SocketAddress = .loopback(port: 0), options: Listener.Options = .init(),
        failures: FailureLog = .shared, isEcho: Bool = false
    ) async throws -> TestServer {
        try await loop.tryOnLoop { () throws(SocketError) in
            try TestServer(on: loop, at: address, options: options, failures: failures, isEcho: isEcho)
        }
    }
}
