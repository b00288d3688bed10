// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTestSupport
internal import TidemarkTransport

/// An HTTP server on a loop of its own, and a loop for clients that say what a test wants, byte for byte.
final class HTTPScene: Sendable {
    let wire: Wire
    let serverLoop: EventLoop
    let clientLoop: EventLoop
    let server: HTTPServer
    let handler: SceneHandler

    private init(_ wire: Wire, _ limits: HTTPLimits) async throws {
        self.wire = wire
        serverLoop = try EventLoop(name: "server")
        clientLoop = try EventLoop(name: "client")
        handler = SceneHandler()
        server = try await HTTPServer.start(
            on: [serverLoop], addresses: [.loopback(port: 0)], tls: wire == .tls ? TestContexts.shared.server : nil,
            limits: limits, handler: handler)
    }

    /// Runs a test and stops everything after it.
    static func run(
        _ wire: Wire, limits: HTTPLimits = .patient, _ body: (HTTPScene) async throws -> Void
    ) async throws {
        let scene = try await HTTPScene(wire, limits)
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
    }

    func peer(_ tamper: RawPeer.Tamper = .none, isEncrypted: Bool = true, sending text: String = "") async throws
        -> RawPeer
    {
        try await RawPeer.connect(
            to: server.localAddresses[0], on: clientLoop,
            tls: wire == .tls && isEncrypted ? TestContexts.shared.client : nil, tamper, sending: Array(text.utf8))
    }

    /// Fails unless an ordinary client is served.
    func expectService() async throws {
        let peer = try await peer(sending: Self.get("/hello", "Connection: close\r\n"))
        guard await peer.receiveAllText().hasSuffix("\r\n\r\nhello\n") else { throw SceneError.notServed }
    }

    static func get(_ path: String, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
    }

    static func post(_ path: String, _ fields: String, _ body: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\(body)"
    }
}

/// `/hello` is a text; `/echo` sends the body back; `/wait` answers when the test lets it; `/stream` is 32 MiB; `/endless` has
/// no end; `/short` says that it is longer than it is; `/forbidden` is refused before its body.
final class SceneHandler: HTTPHandler {
    static let pieceCount = 32
    static let pieceBytes = 1_048_576
    static let bodyBytesMax = 100_000

    /// The paths of requests, when their answers begin; and `cut` when a stream's client is gone.
    let events: AsyncStream<String>
    private let eventsContinuation: AsyncStream<String>.Continuation
    private let gate: AsyncStream<Void>
    private let gateContinuation: AsyncStream<Void>.Continuation
    private let written = Mutex(0)
    private let begun = Mutex<[String]>([])

    init() {
        (events, eventsContinuation) = AsyncStream.makeStream()
        (gate, gateContinuation) = AsyncStream.makeStream()
    }

    /// Parts of a stream that were taken.
    var writtenCount: Int { written.withLock { $0 } }

    /// The paths of all requests whose answers have begun.
    var begunPaths: [String] { begun.withLock { $0 } }

    /// Lets one `/wait` be answered.
    func letOneGo() { gateContinuation.yield() }

    func decide(_ head: RequestHead, from peer: HTTPPeer) -> HTTPDecision {
        head.path == "/forbidden" ? .refuse(.plain(.forbidden)) : .take(bodyBytesMax: Self.bodyBytesMax)
    }

    func answer(_ request: HTTPRequest) async -> HTTPAnswer {
        begun.withLock { $0.append(request.head.path) }
        eventsContinuation.yield(request.head.path)
        switch request.head.path {
        case "/echo": return .whole(HTTPResponse(.ok, body: request.body))
        case "/wait":
            var iterator = gate.makeAsyncIterator()
            _ = await iterator.next()
            return .whole(.text(.ok, "waited"))
        case "/stream": return stream(Self.pieceCount)
        case "/endless": return stream(.max)
        case "/short":
            return .streamed(.ok, HeaderFields(), length: 10) { try await $0.write([1, 2, 3]) }
        default: return .whole(.answer(request.head, found: request.head.path == "/hello" ? .text(.ok, "hello") : nil))
        }
    }

    private func stream(_ count: Int) -> HTTPAnswer {
        .streamed(.ok, HeaderFields()) { [self] writer in
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: Self.pieceBytes)
            do {
                for _ in 0..<count {
                    try await writer.write(piece)
                    written.withLock { $0 += 1 }
                }
            } catch {
                eventsContinuation.yield("cut")
                throw error
            }
        }
    }
}

extension HTTPLimits {
    /// Deadlines that a busy machine does not miss, for tests that are about something else.
    static var patient: HTTPLimits {
        var limits = HTTPLimits()
        limits.handshakeDeadline = .seconds(60)
        limits.headDeadline = .seconds(60)
        limits.closeDeadline = .milliseconds(500)
        return limits
    }
}
