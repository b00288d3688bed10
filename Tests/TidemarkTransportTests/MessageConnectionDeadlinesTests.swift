// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport
internal import TidemarkTransport
internal import TidemarkWebSocket

/// A slow-loris on each phase: whoever holds a connection without using it loses it.
@Suite(.timeLimit(.minutes(10))) struct MessageConnectionDeadlinesTests {
    private var limits: TransportLimits {
        var limits = TransportLimits.patient
        limits.closeDeadline = .milliseconds(150)
        return limits
    }

    private var hastyLimits: TransportLimits {
        var limits = limits
        limits.handshakeDeadline = .seconds(1)
        return limits
    }

    @Test(arguments: Wire.allCases)
    func `who says nothing at all is let go`(_ wire: Wire) async throws {
        try await Scene.run(wire, limits: hastyLimits) { scene in
            let peer = try await scene.rawPeer(isEncrypted: false)
            let text = await peer.receiveAllText()
            #expect(wire == .tls ? text.isEmpty : text.hasPrefix("HTTP/1.1 408 "))
            await scene.allEnded()
        }
    }

    @Test func `who stops in the middle of the TLS handshake is let go`() async throws {
        try await Scene.run(.tls, limits: hastyLimits) { scene in
            let peer = try await scene.rawPeer(isEncrypted: false)
            await peer.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00])
            #expect(await peer.receiveAll() == [])
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `who stops in the middle of the head is told so`(_ wire: Wire) async throws {
        try await Scene.run(wire, limits: hastyLimits) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(Array("GET / HTTP/1.1\r\nHost: h".utf8))
            #expect(await peer.receiveAllText().hasPrefix("HTTP/1.1 408 "))
            // Our end stays open: the server does not wait for it for ever.
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `RFC 9110 9_3_2: who stops in the middle of a HEAD is told so without a body`(_ wire: Wire) async throws {
        try await Scene.run(wire, limits: hastyLimits) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(Array("HEAD / HTTP/1.1\r\nHost: h".utf8))
            let text = await peer.receiveAllText()
            #expect(text.hasPrefix("HTTP/1.1 408 "))
            #expect(text.hasSuffix("\r\n\r\n"))
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `who trickles its head is let go all the same`(_ wire: Wire) async throws {
        try await Scene.run(wire, limits: hastyLimits) { scene in
            let peer = try await scene.rawPeer()
            let trickle = Task {
                while !Task.isCancelled {
                    await peer.send([0x41])
                    await scene.clientLoop.pass()
                }
            }
            #expect(await peer.receiveAllText().hasPrefix("HTTP/1.1 408 "))
            trickle.cancel()
            await trickle.value
            await peer.close()
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `who stops in the middle of a message is told so`(_ wire: Wire) async throws {
        var limits = limits
        limits.messageGrace = .milliseconds(100)
        for bytes in [[0x81] as [UInt8], RawPeer.frame(.text, [0x41], isFinal: false)] {
            try await Scene.run(wire, limits: limits) { scene in
                let peer = try await scene.rawPeer()
                await peer.send(RawPeer.upgrade() + bytes)
                #expect(await peer.receiveAllEvents() == ["close 1008"])
                await peer.close()
                await scene.allEnded()
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `I-7: pings between the parts of a message do not keep it, however many there are`(_ wire: Wire) async throws {
        var limits = limits
        limits.messageGrace = .milliseconds(100)
        try await Scene.run(wire, limits: limits) { scene in
            let start = ContinuousClock.now
            let peer = try await scene.rawPeer()
            let ping = RawPeer.frame(.ping, [UInt8](repeating: 1, count: 125))
            await peer.send(
                RawPeer.upgrade() + RawPeer.frame(.text, [0x41], isFinal: false)
                    + Array(repeatElement(ping, count: 400).joined()))
            #expect(await peer.receiveAllEvents().last == "close 1008")
            // Bytes of a message would have let it live for more than three minutes.
            #expect(ContinuousClock.now - start < .seconds(60))
            await peer.close()
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `RFC 6455 5_5_2: who is silent is asked, and let go without an answer`(_ wire: Wire) async throws {
        var limits = limits
        limits.idleDeadline = .milliseconds(100)
        limits.pongDeadline = .milliseconds(100)
        try await Scene.run(wire, limits: limits) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(RawPeer.upgrade("/record"))
            #expect(await peer.receiveAllEvents() == ["ping"])
            var accepted = scene.accepted.makeAsyncIterator()
            let server = try #require(await accepted.next())
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            #expect(await events.next() == .closed("failed idleTimedOut"))
        }
    }

    @Test(arguments: Wire.allCases)
    func `who answers is kept`(_ wire: Wire) async throws {
        var limits = limits
        limits.idleDeadline = .milliseconds(60)
        limits.pongDeadline = .seconds(1)
        try await Scene.run(wire, limits: limits) { scene in
            // Our own client answers pings by itself.
            let client = await scene.client(scene.target("/record"))
            var events = client.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            for _ in 0..<2_500 { await scene.clientLoop.pass() }
            await client.close(.normal)
            #expect(await events.next() == .closed("local 1000"))
        }
    }

    @Test(arguments: Wire.allCases)
    func `who takes nothing of what waits for it is cut off`(_ wire: Wire) async throws {
        var limits = limits
        limits.writeProgressDeadline = .milliseconds(150)
        limits.queuedBytesMax = 64 * 1024 * 1024
        try await Scene.run(wire, limits: limits) { scene in
            let peer = try await scene.rawPeer()
            let server = try await scene.openAndStopReading(peer)
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            await server.act { $0.send(.binary, [UInt8](repeating: 1, count: 32 * 1024 * 1024)) }
            #expect(await events.next() == .closed("failed writeTimedOut"))
            await peer.close()
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `who does not answer a close is not waited for`(_ wire: Wire) async throws {
        try await Scene.run(wire, limits: limits) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(RawPeer.upgrade("/record"))
            var accepted = scene.accepted.makeAsyncIterator()
            let server = try #require(await accepted.next())
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            await server.close(.goingAway)
            #expect(await events.next() == .closed("local 1001"))
            #expect(await peer.receiveAllEvents() == ["close 1001"])
            await scene.allEnded()
        }
    }
}
