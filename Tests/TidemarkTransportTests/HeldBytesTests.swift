// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWebSocket

@testable import TidemarkTransport

/// Messages that arrive in part, and never as a whole.
@Suite struct HeldBytesTests {
    @Test func `R-722: whoever holds most of unfinished messages gives way, and nobody before there is too much`() {
        var random = SeededRandom()
        for _ in 0..<100 {
            var messages = HeldBytes(bytesMax: 1_000)
            var held: [UInt64: Int] = [:]
            for _ in 0..<200 {
                let owner = UInt64.random(in: 0..<5, using: &random)
                let change = Int.random(in: -(held[owner] ?? 0)...200, using: &random)
                held[owner, default: 0] += change
                let total = held.values.reduce(0, +)
                let victim = messages.change(owner, by: change)
                #expect((victim != nil) == (total > 1_000), "seed \(random.seed)")
                guard let victim else { continue }
                #expect(held[victim] == held.values.max(), "seed \(random.seed)")
                held[victim, default: 0] -= 150
                _ = messages.change(victim, by: -150)
            }
            #expect(messages.total == held.values.reduce(0, +))
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-722: of connections with long unfinished messages the longest ends, and others go on`(_ wire: Wire)
        async throws
    {
        var limits = TransportLimits.patient
        limits.unfinishedBytesMax = 1_000_000
        try await Scene.run(wire, limits: limits) { scene in
            func start(_ count: Int) async throws -> RawPeer {
                let peer = try await scene.rawPeer()
                await peer.send(RawPeer.upgrade())
                await peer.receive { $0.starts(with: "HTTP/1.1 101 ".utf8) }
                await peer.send(RawPeer.frame(.binary, [UInt8](repeating: 1, count: count), isFinal: false))
                return peer
            }
            let small = try await start(200_000)
            let large = try await start(700_000)
            let next = try await start(300_000)
            #expect(await large.receiveAllEvents().last == "close 1013")
            for peer in [small, next] {
                await peer.send(RawPeer.frame(.continuation, [1]) + RawPeer.frame(.close, [3, 0xE8]))
                #expect(await peer.receiveAllEvents().last == "close 1000")
            }
            for peer in [small, large, next] { await peer.close() }
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-722: of peers that do not take what was sent, the one with most is cut off, and others go on`(_ wire: Wire)
        async throws
    {
        var limits = TransportLimits.patient
        limits.queuedBytesMax = 64 * 1024 * 1024
        limits.unsentBytesMax = 48 * 1024 * 1024
        try await Scene.run(wire, limits: limits) { scene in
            var servers: [Recorder] = []
            var peers: [RawPeer] = []
            // More than the kernel holds.
            for megabytes in [20, 40] {
                let peer = try await scene.rawPeer()
                let server = try await scene.openAndStopReading(peer)
                await server.act { connection in
                    for _ in 0..<megabytes { connection.send(.binary, [UInt8](repeating: 1, count: 1_048_576)) }
                }
                servers.append(server)
                peers.append(peer)
            }
            for (server, end) in zip(servers, ["message", "closed"]) {
                var events = server.events.makeAsyncIterator()
                #expect(await events.next() == .opened)
                if end == "closed" { #expect(await events.next() == .closed("failed queueOverflow")) }
            }
            await peers[0].resumeReading()
            await peers[0].send(RawPeer.frame(.close, [3, 0xE8]))
            #expect(await peers[0].receiveAllEvents().last == "close 1000")
            for peer in peers { await peer.close() }
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-722: a message that the peer has taken in part counts as a whole, because its memory does`(_ wire: Wire)
        async throws
    {
        var limits = TransportLimits.patient
        limits.queuedBytesMax = 64 * 1024 * 1024
        limits.unsentBytesMax = 42 * 1024 * 1024
        try await Scene.run(wire, limits: limits) { scene in
            var accepted = scene.accepted.makeAsyncIterator()
            var servers: [Recorder] = []
            var peers: [RawPeer] = []
            for (megabytes, byteCount) in [(40, 16 * 1_048_576), (16, 1_000)] {
                let peer = try await scene.rawPeer()
                await peer.send(RawPeer.upgrade("/record"))
                await peer.receive { $0.count > 100 }
                let server = try #require(await accepted.next())
                await peer.pauseReading(after: byteCount)
                await server.act { $0.send(.binary, [UInt8](repeating: 1, count: megabytes * 1_048_576)) }
                await peer.receive { $0.count >= byteCount }
                servers.append(server)
                peers.append(peer)
            }
            var events = servers[0].events.makeAsyncIterator()
            #expect(await events.next() == .opened)
            #expect(await events.next() == .closed("failed queueOverflow"))
            await peers[1].resumeReading()
            await peers[1].send(RawPeer.frame(.close, [3, 0xE8]))
            #expect(await peers[1].receiveAllEvents().last == "close 1000")
            for peer in peers { await peer.close() }
            await scene.allEnded()
        }
    }
}
