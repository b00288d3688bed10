// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTestSupport
internal import TidemarkTransport

@Suite(.timeLimit(.minutes(10))) struct HTTPClientTests {
    private static let patient: HTTPClientLimits = {
        var limits = HTTPClientLimits()
        limits.deadline = .seconds(60)
        return limits
    }()

    /// A client of the scene's server, on the scene's loop for clients.
    private func client(_ scene: HTTPScene, _ limits: HTTPClientLimits = patient) -> HTTPClient {
        let tls = scene.wire == .tls ? TestContexts.shared.client : nil
        let target = HTTPClient.Target(host: "127.0.0.1", port: scene.server.localAddresses[0].port, tls: tls)
        return HTTPClient(on: scene.clientLoop, target: target, limits: limits)
    }

    /// The status and the body of an answer, or the code of the error.
    private func post(
        _ client: HTTPClient, on loop: EventLoop, _ path: String, _ body: [UInt8] = []
    ) async -> String {
        await loop.run {
            do throws(TransportError) {
                let response = try await client.post(path, fields: HeaderFields(), body: body)
                return "\(response.head.status.code) \(String(decoding: response.body, as: UTF8.self))"
            } catch {
                return error.code.rawValue
            }
        }.value
    }

    private func close(_ client: HTTPClient, on loop: EventLoop) async { await loop.run { client.close() }.value }

    @Test(arguments: Wire.allCases)
    func `R-907: requests go over one connection, and each gets its response`(_ wire: Wire) async throws {
        var limits = HTTPLimits.patient
        // A second connection would be closed at once.
        limits.connectionsMax = 1
        try await HTTPScene.run(wire, limits: limits) { scene in
            let client = client(scene)
            let long = String(repeating: "0123456789", count: 6_000)
            for body in ["a", "", long, "b"] {
                #expect(await post(client, on: scene.clientLoop, "/echo", Array(body.utf8)) == "200 " + body)
            }
            #expect(
                await post(client, on: scene.clientLoop, "/stream") == "200 " + String(repeating: "x", count: 65_536),
                "of a body that is too long the beginning is read")
            #expect(await post(client, on: scene.clientLoop, "/echo", [65]) == "200 A", "over another connection")
            await close(client, on: scene.clientLoop)
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-907: after an end of the connection the next request makes a new one`(_ wire: Wire) async throws {
        var limits = HTTPLimits.patient
        limits.requestsMax = 1
        try await HTTPScene.run(wire, limits: limits) { scene in
            let client = client(scene)
            for body in ["a", "b", "c"] {
                #expect(await post(client, on: scene.clientLoop, "/echo", Array(body.utf8)) == "200 " + body)
            }
            // Answered before its body was read.
            let body = [UInt8](repeating: 0, count: 50_000)
            #expect(await post(client, on: scene.clientLoop, "/forbidden", body).hasPrefix("403"))
            #expect(await post(client, on: scene.clientLoop, "/echo", [65]) == "200 A")
            #expect(await post(client, on: scene.clientLoop, "/short") == "connectionLost")
            #expect(await post(client, on: scene.clientLoop, "/echo", [65]) == "200 A")
            await close(client, on: scene.clientLoop)
        }
    }

    @Test func `R-907: a server that answers early and ends the connection is heard, though it has not read all`()
        async throws
    {
        let loop = try EventLoop(name: "hasty")
        defer { loop.stop() }
        let listener = try await loop.runThrowing {
            try Listener(loop: loop, address: .loopback(port: 0)) { descriptor, _ in
                HastyServer.answer(on: descriptor, loop)
            }
        }.value
        let clientLoop = try EventLoop(name: "client")
        defer { clientLoop.stop() }
        let target = HTTPClient.Target(host: "127.0.0.1", port: listener.localAddress.port, tls: nil)
        let client = HTTPClient(on: clientLoop, target: target, limits: Self.patient)
        // More than two kernels hold.
        let body = [UInt8](repeating: 0, count: 67_108_864)
        #expect(await post(client, on: clientLoop, "/", body) == "413 no")
        await close(client, on: clientLoop)
        await loop.run { listener.close() }.value
    }

    @Test(arguments: Wire.allCases)
    func `I-7, R-907: a server that does not answer is given up in time`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            var limits = HTTPClientLimits()
            limits.deadline = .milliseconds(300)
            let client = client(scene, limits)
            #expect(await post(client, on: scene.clientLoop, "/wait") == "requestTimedOut")
            await close(client, on: scene.clientLoop)
        }
    }

    @Test func `R-907: who closes a client ends its request`() async throws {
        try await HTTPScene.run(.plain) { scene in
            let client = client(scene)
            async let answer = post(client, on: scene.clientLoop, "/wait")
            var events = scene.handler.events.makeAsyncIterator()
            #expect(await events.next() == "/wait")
            await close(client, on: scene.clientLoop)
            #expect(await answer == "connectionLost")
        }
    }

    @Test func `R-908: without TLS only this machine is connected to, and an unknown authority is not trusted`()
        async throws
    {
        let loop = try EventLoop(name: "client")
        defer { loop.stop() }
        // RFC 5737: an address of nobody.
        let elsewhere = HTTPClient(on: loop, target: .init(host: "192.0.2.1", port: 4_318, tls: nil))
        #expect(await post(elsewhere, on: loop, "/") == "connectFailed")
        try await HTTPScene.run(.tls) { scene in
            let port = scene.server.localAddresses[0].port
            let distrustful = HTTPClient(
                on: loop, target: .init(host: "127.0.0.1", port: port, tls: try TLSContext()))
            #expect(await post(distrustful, on: loop, "/echo") == "tlsFailed")
            let plain = HTTPClient(on: loop, target: .init(host: "127.0.0.1", port: port, tls: nil))
            // It may have read the alert.
            #expect(["connectionLost", "httpInvalid"].contains(await post(plain, on: loop, "/echo")))
        }
    }
}

/// Answers when a request begins to come, and ends the connection, which the kernel resets.
private final class HastyServer: EventHandler {
    private let socket: Socket
    private var registration: Registration?

    private init(_ socket: Socket) { self.socket = socket }

    static func answer(on descriptor: FileDescriptor, _ loop: EventLoop) {
        let server = HastyServer(Socket(descriptor))
        server.registration = try? loop.register(descriptor, interest: .readable, handler: server)
    }

    func ready(_ readiness: Readiness) {
        registration?.cancel()
        let answer = Array("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno".utf8)
        _ = answer.withUnsafeBytes { socket.send($0) }
        socket.close()
    }
}
