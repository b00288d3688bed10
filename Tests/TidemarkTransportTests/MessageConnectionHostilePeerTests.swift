// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkTestSupport
internal import TidemarkTransport
internal import TidemarkWebSocket

@testable internal import TidemarkTLS

/// I-6: bad input costs the sender only. Each test ends by asking whether others are still served.
@Suite(.timeLimit(.minutes(10))) struct MessageConnectionHostilePeerTests {
    /// A whole conversation of a client, as plaintext.
    private var conversation: [UInt8] {
        RawPeer.upgrade() + RawPeer.frame(.text, Array("h\u{e9}".utf8), isFinal: false) + RawPeer.frame(.ping, [1])
            + RawPeer.frame(.continuation, Array("llo".utf8))
            + RawPeer.frame(.binary, [UInt8](repeating: 5, count: 130))
            + RawPeer.frame(.close, [3, 0xE8])
    }

    /// Bytes of a conversation on the wire: with TLS the hello and its companions come first.
    private func positions(_ wire: Wire) -> [Int] {
        switch wire {
        case .plain: Array(0...conversation.count)
        case .tls: Array(stride(from: 0, through: 1_200, by: 7))
        }
    }

    @Test(arguments: Wire.allCases)
    func `a conversation cut at any byte ends that connection and nothing else`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            for position in positions(wire) {
                let peer = try await scene.rawPeer(.cut(position))
                await peer.send(conversation)
                await peer.shutDown()
                await peer.receiveAll()
                await peer.close()
            }
            await scene.allEnded()
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `a conversation with any byte corrupted ends that connection and nothing else`(_ wire: Wire) async throws {
        var limits = TransportLimits.patient
        // A corrupted length waits for bytes that never come. A busy machine serves who behaves in that time.
        limits.handshakeDeadline = .seconds(2)
        limits.messageGrace = .seconds(2)
        limits.idleDeadline = .seconds(2)
        limits.pongDeadline = .seconds(1)
        limits.closeDeadline = .seconds(1)
        try await Scene.run(wire, limits: limits) { scene in
            await withTaskGroup(of: Void.self) { group in
                for position in positions(wire) {
                    group.addTask {
                        guard let peer = try? await scene.rawPeer(.flip(position)) else { return }
                        await peer.send(conversation)
                        await peer.receiveAll()
                        await peer.close()
                    }
                }
            }
            await scene.allEnded()
            try await scene.expectService()
        }
    }

    @Test func `what is no TLS is refused on a TLS port, random bytes everywhere`() async throws {
        for wire in Wire.allCases {
            try await Scene.run(wire) { scene in
                var random = SeededRandom()
                for index in 0..<50 {
                    let peer = try await scene.rawPeer(isEncrypted: false)
                    await peer.send(index == 0 ? conversation : random.bytes(count: 300))
                    await peer.shutDown()
                    await peer.receiveAll()
                    await peer.close()
                }
                await scene.allEnded()
                try await scene.expectService()
            }
        }
    }

    struct Crime: Sendable, CustomTestStringConvertible {
        let name: String
        let frames: [UInt8]
        let events: [String]

        // Not its frames, which may be a million.
        var testDescription: String { name }
    }

    static let crimes: [Crime] = [
        Crime(name: "unmasked", frames: [0x81, 0x01, 0x41], events: ["close 1002"]),
        Crime(name: "reserved bit", frames: [0xA1], events: ["close 1002"]),
        Crime(name: "reserved opcode", frames: [0x83], events: ["close 1002"]),
        Crime(name: "continuation of nothing", frames: RawPeer.frame(.continuation), events: ["close 1002"]),
        Crime(name: "fragmented ping", frames: RawPeer.frame(.ping, isFinal: false), events: ["close 1002"]),
        Crime(name: "close of one byte", frames: RawPeer.frame(.close, [3]), events: ["close 1002"]),
        Crime(name: "reserved close code", frames: RawPeer.frame(.close, [3, 0xED]), events: ["close 1002"]),
        Crime(name: "bad UTF-8", frames: RawPeer.frame(.text, [0xC0, 0xAF]), events: ["close 1007"]),
        Crime(
            name: "bad UTF-8 after a good message",
            frames: RawPeer.frame(.text, [0x41]) + RawPeer.frame(.text, [0xFF]), events: ["text A", "close 1007"]),
        Crime(
            name: "frame over the limit", frames: [0x82, 0xFF, 0, 0, 0, 0, 0x7F, 0, 0, 0], events: ["close 1009"]),
        Crime(
            name: "flood of empty fragments",
            frames: RawPeer.frame(.text, isFinal: false)
                + Array(repeatElement(RawPeer.frame(.continuation, isFinal: false), count: 100_000).joined()),
            events: ["close 1008"]),
        Crime(
            name: "compressed without agreement", frames: RawPeer.frame(.text, [0], isCompressed: true),
            events: ["close 1002"]),
    ]

    @Test(arguments: Wire.allCases, crimes)
    func `RFC 6455 7_4: who breaks the rules is told which`(_ wire: Wire, _ crime: Crime) async throws {
        try await Scene.run(wire) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(RawPeer.upgrade() + crime.frames)
            #expect(await peer.receiveAllEvents() == crime.events, "\(crime.name)")
            await peer.close()
            await scene.allEnded()
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `I-7: a deflate bomb is refused while it inflates`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            let deflater = try #require(Deflater(role: .client, parameters: DeflateParameters(), level: 9))
            let zeroes = [UInt8](repeating: 0, count: 100_000_000)
            let bomb = try #require(zeroes.withUnsafeBytes { deflater.compress($0) })
            let peer = try await scene.rawPeer()
            await peer.send(
                RawPeer.upgrade(deflate: true) + RawPeer.frame(.binary, bomb, isCompressed: true))
            #expect(await peer.receiveAllEvents() == ["close 1009"])
            await peer.close()
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `I-7: a hundred thousand tiny fragments are one message`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            let peer = try await scene.rawPeer()
            var bytes = RawPeer.upgrade() + RawPeer.frame(.binary, [0], isFinal: false)
            let fragment = RawPeer.frame(.continuation, [1], isFinal: false)
            bytes += Array(repeatElement(fragment, count: 99_998).joined()) + RawPeer.frame(.continuation, [2])
            await peer.send(bytes + RawPeer.frame(.close, [3, 0xE8]))
            #expect(await peer.receiveAllEvents() == ["binary 100000", "close 1000"])
            await peer.close()
        }
    }

    @Test(arguments: Wire.allCases)
    func `I-7: a peer that does not read is cut off when its queue is full`(_ wire: Wire) async throws {
        var limits = TransportLimits.patient
        limits.queuedBytesMax = 4 * 1024 * 1024
        try await Scene.run(wire, limits: limits) { scene in
            let peer = try await scene.rawPeer()
            let server = try await scene.openAndStopReading(peer)
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            let payload = [UInt8](repeating: 1, count: 100_000)
            // More than the kernel and the queue can hold together.
            await server.act { connection in
                for _ in 0..<500 { connection.send(.binary, payload) }
                #expect(connection.queuedByteCount <= 4 * 1024 * 1024)
            }
            #expect(await events.next() == .closed("failed queueOverflow"))
            await peer.close()
            await scene.allEnded()
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `RFC 6455 5_5_3: who pings and does not read is answered for the newest ping`(_ wire: Wire) async throws {
        var limits = TransportLimits.patient
        limits.queuedBytesMax = 1024 * 1024
        try await Scene.run(wire, limits: limits) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(RawPeer.upgrade())
            await peer.receive { $0.count > 100 }
            await peer.pauseReading()
            // More than the kernel and the queue can hold together.
            let many = Array(
                repeatElement(RawPeer.frame(.ping, [UInt8](repeating: 1, count: 125)), count: 10_000).joined())
            for _ in 0..<14 { await peer.send(many) }
            await peer.send(RawPeer.frame(.ping, Array("newest".utf8)))
            await peer.sentAll()
            await peer.resumeReading()
            let newest = [0x8A, 6] + Array("newest".utf8)
            let received = await peer.receive { $0.suffix(8) == newest[...] }
            await peer.close()
            let pongs = RawPeer.events(received)
            #expect(pongs.allSatisfy { $0.hasPrefix("pong ") })
            #expect(pongs.count < 140_000)
            #expect(pongs.last == "pong 6")
            try await scene.expectService()
        }
    }

    @Test func `I-7: who makes TLS answer and does not read is cut off`() async throws {
        var limits = TransportLimits.roomy
        // Whatever waits, one more answer is too much.
        limits.encryptedBytesMax = 1
        try await Scene.run(.tls, limits: limits) { scene in
            let peer = try await RawPeer.connect(
                to: scene.address, on: scene.clientLoop, tls: TestContexts.shared.clientOfTLS12, .none)
            let server = try await scene.openAndStopReading(peer)
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            // More than the kernel holds.
            await server.act { $0.send(.binary, [UInt8](repeating: 1, count: 32 * 1024 * 1024)) }
            await server.waitUntilBlocked()
            await peer.act { BadTLS.renegotiate($0.ssl) }
            #expect(await events.next() == .closed("failed queueOverflow"))
            await peer.close()
            await scene.allEnded()
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `I-7: connections beyond the limit are closed at once, until others have gone`(_ wire: Wire) async throws {
        var limits = TransportLimits.patient
        limits.connectionsMax = 2
        try await Scene.run(wire, limits: limits) { scene in
            let one = try await scene.rawPeer()
            let two = try await scene.rawPeer()
            for peer in [one, two] {
                await peer.send(RawPeer.upgrade())
                await peer.receive { $0.count > 100 }
            }
            let three = try await scene.rawPeer()
            #expect(await three.receiveAll() == [])
            await one.close()
            while scene.server.connectionCount == 2 { await scene.serverLoop.pass() }
            let four = try await scene.rawPeer()
            await four.send(RawPeer.upgrade())
            #expect(await four.receive { $0.count > 100 }.starts(with: "HTTP/1.1 101 ".utf8))
            for peer in [two, four] { await peer.close() }
            await scene.allEnded()
        }
    }

    @Test func `a crowd of TLS handshakes is served, a few a tick`() async throws {
        try await Scene.run(.tls) { scene in
            var peers: [RawPeer] = []
            for _ in 0..<100 { peers.append(try await scene.rawPeer()) }
            for peer in peers { await peer.send(RawPeer.upgrade() + RawPeer.frame(.close, [3, 0xE8])) }
            for peer in peers {
                #expect(await peer.receiveAllEvents() == ["close 1000"])
                await peer.close()
            }
            await scene.allEnded()
        }
    }
}
