// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTestSupport
internal import TidemarkTransport
internal import TidemarkWebSocket

/// What a client makes of servers that are not what it wants.
@Suite(.timeLimit(.minutes(10))) struct TransportClientTests {
    private func end(_ scene: Scene, _ target: TransportClient.Target, _ limits: TransportLimits = .init()) async
        -> Recorder.Event?
    {
        let client = await scene.client(target, limits: limits)
        var events = client.events.makeAsyncIterator()
        return await events.next()
    }

    @Test(arguments: Wire.allCases)
    func `a path that is no WebSocket`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            #expect(await end(scene, scene.target("/healthz")) == .closed("failed upgradeRefused"))
            #expect(await end(scene, scene.target("/nothing")) == .closed("failed upgradeRefused"))
        }
    }

    @Test func `a port where nobody listens, and a name that is none`() async throws {
        try await Scene.run(.plain) { scene in
            let loop = scene.clientLoop
            let port = try await loop.runThrowing {
                let listener = try Listener(loop: loop, address: .loopback(port: 0)) { _, _ in }
                defer { listener.close() }
                return listener.localAddress.port
            }.value
            let nobody = TransportClient.Target(host: "127.0.0.1", port: port, tls: nil)
            #expect(await end(scene, nobody) == .closed("failed connectFailed"))
            let nowhere = TransportClient.Target(host: "no such host.invalid", port: 1, tls: nil)
            #expect(await end(scene, nowhere) == .closed("failed connectFailed"))
        }
    }

    /// 192.0.2.0/24 is for documentation (RFC 5737): nothing answers there.
    @Test(arguments: ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "0.0.0.0"])
    func `R-740: without TLS, an address beyond loopback is not connected to`(host: String) async throws {
        try await Scene.run(.plain) { scene in
            let loop = scene.clientLoop
            let (endings, continuation) = AsyncStream<CloseReason>.makeStream()
            await loop.run {
                let target = TransportClient.Target(host: host, port: scene.address.port, tls: nil)
                TransportClient.connect(on: loop, to: target, handler: Ending { continuation.yield($0) })
            }.value
            var iterator = endings.makeAsyncIterator()
            guard case .failed(let error)? = await iterator.next() else {
                Issue.record("it connected")
                return
            }
            #expect(error.code == .connectFailed)
            #expect((error.underlying as? SocketError)?.code == .notLoopback)
        }
    }

    @Test func `a certificate that is not trusted, or for another host`() async throws {
        try await Scene.run(.tls) { scene in
            var target = scene.target("/echo")
            target.tls = try TLSContext(client: .init(trustsSystemRoots: false))
            #expect(await end(scene, target) == .closed("failed tlsFailed"))
            var other = scene.target("/echo")
            other.host = "localhost"
            #expect(await end(scene, other) == .closed("failed tlsFailed"))
        }
    }

    @Test(arguments: Wire.allCases)
    func `a server of the other kind`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            var target = scene.target("/echo")
            target.tls = wire == .tls ? nil : TestContexts.shared.client
            let expected = wire == .tls ? ["httpInvalid", "connectionLost"] : ["tlsFailed"]
            let event = await end(scene, target)
            #expect(expected.contains { event == .closed("failed \($0)") }, "\(String(describing: event))")
        }
    }

    /// A server that answers every connection with the same bytes.
    private func withServer(answering answer: String, _ body: (Scene, TransportClient.Target) async -> Void)
        async throws
    {
        try await Scene.run(.plain) { scene in
            let loop = scene.serverLoop
            let listener = try await loop.runThrowing {
                try Listener(loop: loop, address: .loopback(port: 0)) { descriptor, _ in
                    let bytes = Array(answer.utf8)
                    if !bytes.isEmpty { _ = bytes.withUnsafeBytes { Socket(descriptor).send($0) } }
                    // Held until the loop has nothing else to do with it.
                    _ = loop.schedule(after: .seconds(2)) { descriptor.close() }
                }
            }.value
            await body(scene, .init(host: "127.0.0.1", port: listener.localAddress.port, tls: nil))
            await loop.run { listener.close() }.value
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "upgradeRefused"),
        ("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n", "upgradeRefused"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "httpInvalid"),
        ("\u{0}", "httpInvalid"),
        (
            "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", "upgradeRefused"
        ),
    ])
    func `an answer to something else`(_ answer: String, _ code: String) async throws {
        try await withServer(answering: answer) { scene, target in
            #expect(await end(scene, target) == .closed("failed \(code)"))
        }
    }

    @Test func `no answer at all, or closed before there is one`() async throws {
        try await withServer(answering: "") { scene, target in
            var limits = TransportLimits()
            limits.handshakeDeadline = .milliseconds(100)
            #expect(await end(scene, target, limits) == .closed("failed handshakeTimedOut"))
            let client = await scene.client(target)
            await client.close(.goingAway)
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .closed("local 1001"))
        }
    }
}

/// Tells how a connection ended.
private final class Ending: MessageHandler {
    private let report: (CloseReason) -> Void

    init(_ report: @escaping (CloseReason) -> Void) { self.report = report }

    func opened(_ connection: MessageConnection) { connection.close(.normal) }
    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {}
    func closed(_ connection: MessageConnection, _ reason: CloseReason) { report(reason) }
}
