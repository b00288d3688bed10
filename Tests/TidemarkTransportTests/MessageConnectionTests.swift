// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkTestSupport
internal import TidemarkTransport
internal import TidemarkWebSocket

@Suite(.timeLimit(.minutes(10))) struct MessageConnectionTests {
    @Test(arguments: Wire.allCases, [nil, DeflateSettings()])
    func `messages of all sizes come back, and the closing handshake ends it`(
        _ wire: Wire, _ deflate: DeflateSettings?
    ) async throws {
        try await Scene.run(wire) { scene in
            var random = SeededRandom()
            let client = await scene.client(scene.target("/echo", deflate: deflate))
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            for count in [0, 1, 125, 126, 1_000, 16_384, 65_535, 65_536, 300_000, 3_000_000] {
                let half = random.bytes(count: count / 2)
                let payload = half + half
                await client.act { $0.send(.binary, payload) }
                #expect(await events.next() == .binary(payload), "seed \(random.seed)")
            }
            await client.send("h\u{e9}")
            #expect(await events.next() == .text("h\u{e9}"))
            await client.close(.normal)
            #expect(await events.next() == .closed("local 1000"))
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `what is sent in one tick arrives in order, also frames built once for many`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            var accepted = scene.accepted.makeAsyncIterator()
            let frame = FrameEncoder.frame(.text, payload: Array("news".utf8))
            for _ in 0..<2 {
                // One after the other: of two that come at once, either may be accepted first.
                let client = await scene.client(scene.target("/record"))
                let server = try #require(await accepted.next())
                var serverEvents = server.events.makeAsyncIterator()
                #expect(await serverEvents.next() == .opened)
                await server.act { connection in
                    connection.sendFrame(frame)
                    connection.send(.binary, [1, 2, 3])
                    connection.sendFrame(frame)
                }
                var events = client.events.makeAsyncIterator()
                #expect(await events.next() == .opened)
                #expect(await events.next() == .text("news"))
                #expect(await events.next() == .binary([1, 2, 3]))
                #expect(await events.next() == .text("news"))
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `RFC 6455 7_1: either side may close, with code and reason, and both hear of it once`(_ wire: Wire)
        async throws
    {
        try await Scene.run(wire) { scene in
            var accepted = scene.accepted.makeAsyncIterator()
            for isServer in [true, false] {
                let client = await scene.client(scene.target("/record"))
                let server = try #require(await accepted.next())
                var clientEvents = client.events.makeAsyncIterator()
                var serverEvents = server.events.makeAsyncIterator()
                #expect(await clientEvents.next() == .opened)
                #expect(await serverEvents.next() == .opened)
                await (isServer ? server : client).act { connection in
                    connection.send(.text, Array("last words".utf8))
                    connection.close(CloseCode(rawValue: 4001), reason: "enough")
                    connection.close(.normal)
                    connection.send(.text, Array("never".utf8))
                }
                if isServer {
                    #expect(await clientEvents.next() == .text("last words"))
                    #expect(await clientEvents.next() == .closed("peer 4001 enough"))
                    #expect(await serverEvents.next() == .closed("local 4001"))
                } else {
                    #expect(await serverEvents.next() == .text("last words"))
                    #expect(await serverEvents.next() == .closed("peer 4001 enough"))
                    #expect(await clientEvents.next() == .closed("local 4001"))
                }
            }
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `stopping a server tells everybody and waits for them`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            var clients: [Recorder] = []
            for _ in 0..<20 {
                let client = await scene.client(scene.target("/echo"))
                var events = client.events.makeAsyncIterator()
                #expect(await events.next() == .opened)
                clients.append(client)
            }
            #expect(scene.server.connectionCount == 20)
            await scene.server.stop(CloseCode(rawValue: 1012))
            #expect(scene.server.connectionCount == 0)
            for client in clients {
                var events = client.events.makeAsyncIterator()
                #expect(await events.next() == .closed("peer 1012"))
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `the subprotocol is agreed on, or the connection refused`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            let fits = await scene.client(scene.target("/protocol", subprotocols: ["other", "test.v1"]))
            var events = fits.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            await fits.act { connection in
                connection.send(.text, Array(String(describing: connection.isSecured).utf8))
            }
            #expect(await events.next() == .text(wire == .tls ? "true" : "false"))
            let peer = try await scene.rawPeer()
            await peer.send(RawPeer.upgrade("/protocol", subprotocol: "other, test.v1"))
            let head = await peer.receive { String(decoding: $0, as: UTF8.self).contains("\r\n\r\n") }
            #expect(String(decoding: head, as: UTF8.self).contains("\r\nSec-WebSocket-Protocol: test.v1\r\n"))
            await peer.close()
            for subprotocols in [["test.v2"], []] {
                let other = await scene.client(scene.target("/protocol", subprotocols: subprotocols))
                var events = other.events.makeAsyncIterator()
                #expect(await events.next() == .closed("failed upgradeRefused"))
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `RFC 6455 4_1: frames may follow the handshake in the same bytes, in any split`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            var random = SeededRandom()
            var bytes = RawPeer.upgrade()
            bytes += RawPeer.frame(.text, Array("one".utf8), isFinal: false) + RawPeer.frame(.ping, [1, 2])
            bytes += RawPeer.frame(.continuation, Array("two".utf8)) + RawPeer.frame(.binary, random.bytes(count: 500))
            bytes += RawPeer.frame(.pong) + RawPeer.frame(.close, [3, 0xE8])
            for _ in 0..<20 {
                let peer = try await scene.rawPeer()
                var start = 0
                while start < bytes.count {
                    let end = min(bytes.count, start + Int.random(in: 1...bytes.count / 3, using: &random))
                    await peer.send(Array(bytes[start..<end]))
                    start = end
                }
                #expect(
                    await peer.receiveAllEvents() == ["pong 2", "text onetwo", "binary 500", "close 1000"],
                    "seed \(random.seed)")
                await peer.close()
            }
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `a paused connection fills the peer's memory, not ours`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            let client = await scene.client(scene.target("/record"), limits: .roomy)
            var accepted = scene.accepted.makeAsyncIterator()
            let server = try #require(await accepted.next())
            var serverEvents = server.events.makeAsyncIterator()
            var clientEvents = client.events.makeAsyncIterator()
            #expect(await serverEvents.next() == .opened)
            #expect(await clientEvents.next() == .opened)
            await server.act { $0.pauseReading() }
            client.reportsDrained = true
            let payload = [UInt8](repeating: 7, count: 1_000_000)
            await client.act { connection in
                for _ in 0..<20 { connection.send(.binary, payload) }
            }
            await client.waitUntilBlocked()
            await client.act { #expect($0.queuedByteCount > 5_000_000) }
            await server.act { $0.resumeReading() }
            for _ in 0..<20 { #expect(await serverEvents.next() == .binary(payload)) }
            #expect(await clientEvents.next() == .drained)
        }
    }
}

extension TransportLimits {
    /// For tests that fill queues.
    static var roomy: TransportLimits {
        var limits = TransportLimits()
        limits.queuedBytesMax = 64 * 1024 * 1024
        return limits
    }
}

extension Recorder {
    /// Returns when the kernel takes no more of what the connection has to send.
    func waitUntilBlocked() async {
        await loop.run { [self] in
            var last = -1
            while let count = connection?.queuedByteCount, count != last {
                last = count
                for _ in 0..<20 { await loop.pass() }
            }
        }.value
    }
}
