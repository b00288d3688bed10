// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkServer
import TidemarkSockets
import TidemarkTestSupport

/// How far the trust in proxies reaches, at a whole server with TLS. All peers here are on loopback.
@Suite struct ProxyReachTests {
    /// It says that the client is 192.0.2.7.
    private static let header: [UInt8] =
        [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
        + [192, 0, 2, 7, 127, 0, 0, 1, 0x12, 0x34, 0x01, 0xBB]

    private static func trusting(_ network: String) throws -> (inout ServerConfiguration) -> Void {
        let network = try #require(AddressNetwork(parsing: network))
        return { $0.proxies = [network] }
    }

    /// Whether somebody with a credential gets in.
    private func enters(_ world: LiveWorld, _ server: Server, preface: [UInt8]) async throws -> Bool {
        let peer = try await RawPeer.connect(
            to: server.addresses[0], on: world.loop, tls: world.tls, .none, preface: preface, sending: world.entrance())
        let isIn = !RawPeer.messages(in: await peer.receive { !RawPeer.messages(in: $0).isEmpty }).isEmpty
        await peer.close()
        return isIn
    }

    @Test(arguments: ["192.0.2.0/24", "127.0.0.2", "::1"])
    func `R-944: a peer outside of the networks that sends a proxy's header is refused, and one without gets in`(
        _ network: String
    ) async throws {
        try await withLiveWorld { world in
            try await world.withServer(Self.trusting(network)) { (server: Server) async throws in
                #expect(try await !enters(world, server, preface: Self.header))
                #expect(try await enters(world, server, preface: []))
            }
        }
    }

    @Test(arguments: ["127.0.0.0/8", "127.0.0.1"])
    func `R-944: a peer in the networks that sends no header is refused, and one with a header gets in`(
        _ network: String
    ) async throws {
        try await withLiveWorld { world in
            try await world.withServer(Self.trusting(network)) { (server: Server) async throws in
                #expect(try await !enters(world, server, preface: []))
                #expect(try await enters(world, server, preface: Self.header))
                // Twice: the second one is no part of TLS.
                #expect(try await !enters(world, server, preface: Self.header + Self.header))
            }
        }
    }
}
