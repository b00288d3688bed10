// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTestSupport
internal import TidemarkTransport
internal import TidemarkWebSocket

@testable internal import TidemarkTLS

/// With or without TLS: everything must be the same.
enum Wire: Sendable, CaseIterable {
    case plain
    case tls
}

/// Certificates for 127.0.0.1 and who trusts them, made once.
enum TestContexts {
    static let shared: (server: TLSContext, client: TLSContext, clientOfTLS12: TLSContext) = {
        do {
            let directory = try TestDirectory()
            defer { directory.remove() }
            let files = try DevelopmentCertificates(
                directory: directory.path, hosts: ["127.0.0.1"], now: Int64(time(nil)))
            let client = TLSContext.ClientSettings(
                additionalRootsFile: files.authorityFile, trustsSystemRoots: false)
            let clientOfTLS12 = try TLSContext(client: client)
            clientOfTLS12.current.withLock { BadTLS.limitToTLS12($0.pointer) }
            return (
                try TLSContext(
                    server: .init(certificateFile: files.certificateFile, privateKeyFile: files.privateKeyFile)),
                try TLSContext(client: client), clientOfTLS12
            )
        } catch {
            preconditionFailure("no test certificates: \(error)")
        }
    }()
}

/// A server on a loop of its own and what its tests need. Paths: `/echo` sends back; `/record` tells the test, which
/// takes recorders from ``accepted``; `/protocol` wants the subprotocol `test.v1`; `/healthz` is plain HTTP.
final class Scene: Sendable {
    let wire: Wire
    let serverLoop: EventLoop
    let clientLoop: EventLoop
    let server: TransportServer
    let accepted: AsyncStream<Recorder>
    private let acceptedContinuation: AsyncStream<Recorder>.Continuation

    private init(_ wire: Wire, _ limits: TransportLimits) async throws {
        self.wire = wire
        let serverLoop = try EventLoop(name: "server")
        self.serverLoop = serverLoop
        clientLoop = try EventLoop(name: "client")
        let (accepted, continuation) = AsyncStream<Recorder>.makeStream()
        self.accepted = accepted
        acceptedContinuation = continuation
        let configuration = TransportServer.Configuration(
            addresses: [.loopback(port: 0)], tls: wire == .tls ? TestContexts.shared.server : nil, limits: limits)
        server = try await TransportServer.start(on: [serverLoop], configuration) { head, _ in
            switch head.path {
            case "/echo": return .webSocket(.init(deflate: DeflateSettings()), Echo())
            case "/record":
                let recorder = Recorder(loop: serverLoop)
                continuation.yield(recorder)
                return .webSocket(.init(deflate: DeflateSettings()), recorder)
            case "/protocol":
                return .webSocket(.init(subprotocols: ["test.v1"], requiresSubprotocol: true), Echo())
            case "/healthz": return .response(.answer(head, found: .text(.ok, "ok")))
            default: return .response(.answer(head, found: nil))
            }
        }
    }

    /// Runs a test and stops everything after it.
    static func run(
        _ wire: Wire, limits: TransportLimits = .patient, _ body: (Scene) async throws -> Void
    ) async throws {
        let scene = try await Scene(wire, limits)
        try await running {
            try await body(scene)
        } finally: {
            await scene.stop()
        }
    }

    private func stop() async {
        await server.stop()
        serverLoop.stop()
        clientLoop.stop()
        acceptedContinuation.finish()
    }

    var address: SocketAddress { server.localAddresses[0] }

    func target(_ path: String, deflate: DeflateSettings? = nil, subprotocols: [String] = []) -> TransportClient.Target
    {
        .init(
            host: "127.0.0.1", port: address.port, path: path,
            tls: wire == .tls ? TestContexts.shared.client : nil, subprotocols: subprotocols, deflate: deflate)
    }

    /// A client whose events a test looks at.
    func client(
        _ target: TransportClient.Target, limits: TransportLimits = TransportLimits(),
        clockWithSleep: (@Sendable () -> Duration)? = nil
    ) async -> Recorder {
        let recorder = Recorder(loop: clientLoop)
        await clientLoop.run { [clientLoop] in
            recorder.connection = TransportClient.connect(
                on: clientLoop, to: target, limits: limits, clockWithSleep: clockWithSleep, handler: recorder)
        }.value
        return recorder
    }

    /// A peer that sends whatever the test wants.
    func rawPeer(_ tamper: RawPeer.Tamper = .none, isEncrypted: Bool = true) async throws -> RawPeer {
        try await RawPeer.connect(
            to: address, on: clientLoop, tls: wire == .tls && isEncrypted ? TestContexts.shared.client : nil, tamper)
    }

    /// Has a peer open a connection, and read nothing from then on.
    ///
    /// - Returns: the server's end of it.
    func openAndStopReading(_ peer: RawPeer) async throws -> Recorder {
        await peer.send(RawPeer.upgrade("/record"))
        await peer.receive { $0.count > 100 }
        await peer.pauseReading()
        var accepted = accepted.makeAsyncIterator()
        guard let server = await accepted.next() else { throw SceneError.notServed }
        return server
    }

    /// Fails unless an ordinary client is served.
    func expectService() async throws {
        let client = await client(target("/echo"))
        var events = client.events.makeAsyncIterator()
        guard await events.next() == .opened else { throw SceneError.notServed }
        await client.send("still there?")
        guard await events.next() == .text("still there?") else { throw SceneError.notServed }
        await client.close(.normal)
        guard await events.next() == .closed("local 1000") else { throw SceneError.notServed }
    }

    /// Waits until the server has no connections.
    func allEnded() async {
        while server.connectionCount > 0 { await serverLoop.run { [serverLoop] in await serverLoop.pass() }.value }
    }
}

enum SceneError: Error {
    case notServed
}

extension EventLoop {
    /// Lets the loop do what it has to do.
    func pass() async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: .milliseconds(1)) { continuation.resume() }
        }
    }
}

/// Sends back.
final class Echo: MessageHandler {
    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        payload.withUnsafeBytes { connection.send(kind, $0) }
        if connection.queuedByteCount > 256 * 1024 { connection.pauseReading() }
    }

    func drained(_ connection: MessageConnection) {
        connection.resumeReading()
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {}
}

/// Tells a test what its connection tells.
final class Recorder: MessageHandler, @unchecked Sendable {
    enum Event: Equatable, Sendable {
        case opened
        case text(String)
        case binary([UInt8])
        case drained
        /// `peer CODE REASON`, `local CODE` or `failed CODE`.
        case closed(String)
    }

    let loop: EventLoop
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    /// Used on the loop.
    var connection: MessageConnection?
    /// Set before anything is sent.
    var reportsDrained = false
    /// Used on the loop.
    var progressCount = 0

    init(loop: EventLoop) {
        self.loop = loop
        (events, continuation) = AsyncStream.makeStream()
    }

    func opened(_ connection: MessageConnection) {
        self.connection = connection
        continuation.yield(.opened)
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        switch kind {
        case .text: continuation.yield(.text(String(decoding: payload.bytes, as: UTF8.self)))
        case .binary: continuation.yield(.binary(payload.bytes))
        }
    }

    func drained(_ connection: MessageConnection) {
        if reportsDrained { continuation.yield(.drained) }
    }

    func progressed(_ connection: MessageConnection) {
        progressCount += 1
    }

    /// The stream is not finished, so that a second call would be seen.
    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        switch reason {
        case .peer(let code, let text):
            continuation.yield(.closed("peer \(code?.description ?? "-")" + (text.isEmpty ? "" : " \(text)")))
        case .local(let code): continuation.yield(.closed("local \(code)"))
        case .failed(let error): continuation.yield(.closed("failed \(error.code.rawValue)"))
        }
    }

    /// Runs on the loop with the connection.
    func act(_ body: @escaping @Sendable (MessageConnection) -> Void) async {
        await loop.run { [self] in
            if let connection { body(connection) }
        }.value
    }

    func send(_ text: String) async {
        await act { $0.send(.text, Array(text.utf8)) }
    }

    func close(_ code: CloseCode) async {
        await act { $0.close(code) }
    }
}

extension TransportLimits {
    /// Deadlines that a busy machine does not miss, for tests that are about something else.
    static var patient: TransportLimits {
        var limits = TransportLimits()
        limits.handshakeDeadline = .seconds(60)
        limits.idleDeadline = .seconds(60)
        limits.messageGrace = .seconds(60)
        return limits
    }
}
