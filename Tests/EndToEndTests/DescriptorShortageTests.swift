// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkSockets
import TidemarkTestSupport
import TidemarkWebSocket
import TidemarkWire

/// A server process that has no descriptors left (EMFILE), or begins with a limit that is lower than it must be.
@Suite(.timeLimit(.minutes(10))) struct DescriptorShortageTests {
    private static let crowdCount = 40

    private static func entrance(_ site: Site) throws -> [UInt8] {
        let hello: [UInt8] = WireClientEnvelope.hello(site).encoded
        return RawPeer.upgrade("/", subprotocol: "tidemark.v1") + RawPeer.frame(.binary, hello)
    }

    /// Whether Hello was answered; false: the server ended the connection.
    private static func isServed(_ peer: RawPeer) async -> Bool {
        let received = await peer.receive { RawPeer.messages(in: $0).count == 1 }
        return RawPeer.messages(in: received).count == 1
    }

    @Test func `I-7: without descriptors who has a connection is served, and others as soon as some have gone`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let loop = try EventLoop(name: "crowd")
            defer { loop.stop() }
            let address = SocketAddress.loopback(port: UInt16(place.site.port))
            let entrance = try Self.entrance(place.site)
            func enter() async throws -> RawPeer {
                try await RawPeer.connect(to: address, on: loop, tls: nil, .none, sending: entrance)
            }
            let member = try await enter()
            #expect(await Self.isServed(member))
            try place.server.limitDescriptors(toFree: 8)

            var crowd: [RawPeer] = []
            for _ in 0..<Self.crowdCount { crowd.append(try await enter()) }
            var served: [RawPeer] = []
            for peer in crowd {
                if await Self.isServed(peer) { served.append(peer) }
            }
            #expect((1..<Self.crowdCount).contains(served.count))
            #expect(place.server.output.contains("accepting pauses"))
            let request = RawPeer.frame(.binary, WireClientEnvelope.zones(id: 2).encoded)
            for peer in served + [member] {
                await peer.send(request)
                let received = await peer.receive { RawPeer.messages(in: $0).count == 2 }
                let answer = try #require(RawPeer.messages(in: received).last)
                #expect(try WireServerEnvelope(reading: answer).id == 2)
            }

            for peer in crowd { await peer.close() }
            try await eventually("somebody new is served") {
                let peer = try await enter()
                defer { crowd.append(peer) }
                return await Self.isServed(peer)
            }
            for peer in crowd + [member] { await peer.close() }
        }
    }

    /// The server itself needs some thirty before it listens.
    private static let descriptors = (soft: 48, hard: 4_096)

    @Test func `R-721: a server that begins with a low limit of open files raises it, and serves more than that`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"], descriptors: Self.descriptors) { place in
            let room = try #require(
                place.server.output.firstMatch(of: /room for connections connections=(\d+) descriptors=(\d+)/))
            let connectionsMax = try #require(Int(room.1))
            #expect(Int(room.2) == Self.descriptors.hard)
            #expect(connectionsMax > Self.descriptors.soft)
            let loop = try EventLoop(name: "crowd")
            defer { loop.stop() }
            let address = SocketAddress.loopback(port: UInt16(place.site.port))
            let entrance = try Self.entrance(place.site)
            var crowd: [RawPeer] = []
            for _ in 0..<Self.descriptors.soft + 16 {
                crowd.append(try await RawPeer.connect(to: address, on: loop, tls: nil, .none, sending: entrance))
            }
            for peer in crowd { #expect(await Self.isServed(peer)) }
            for peer in crowd { await peer.close() }
            #expect(!place.server.output.contains("accepting pauses"))
        }
    }
}
