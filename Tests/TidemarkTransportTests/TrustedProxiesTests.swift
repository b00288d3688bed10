// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkHTTP
import TidemarkScheduling
import TidemarkSockets
import TidemarkTLS
import TidemarkTestSupport
import TidemarkWebSocket

@testable import TidemarkTransport

/// Who a server takes for its client behind a proxy.
@Suite struct TrustedProxiesTests {
    private static func address(_ host: String) throws -> SocketAddress {
        try #require(SocketAddress(numericHost: host, port: 0))
    }

    private static func networks(_ texts: String...) throws -> [AddressNetwork] {
        try texts.map { try #require(AddressNetwork(parsing: $0)) }
    }

    /// The header of a connection that a proxy passes on from an IPv4 address.
    private static func header(_ source: [UInt8], port: UInt16 = 4_660) -> [UInt8] {
        [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
            + source + [127, 0, 0, 1, UInt8(port >> 8), UInt8(port & 255), 0x01, 0xBB]
    }

    private static let ownHeader: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x20, 0x00, 0, 0,
    ]

    // MARK: X-Forwarded-For

    private static let forwarded: [([String], String)] = [
        (["192.0.2.7"], "192.0.2.7:0"), (["10.9.9.9, 192.0.2.7"], "192.0.2.7:0"), (["2001:db8::7"], "[2001:db8::7]:0"),
        (["spoofed", "203.0.113.5,192.0.2.7 \t"], "192.0.2.7:0"), (["192.0.2.7:5555"], "192.0.2.7:5555"),
        (["[2001:db8::7]"], "[2001:db8::7]:0"), (["x, [2001:db8::7]:443"], "[2001:db8::7]:443"), ([], "peer"),
        ([""], "unreadable"), (["192.0.2.7,"], "unreadable"), (["unknown"], "unreadable"),
        (["192.0.2.7, unix:"], "unreadable"), (["192.0.2.7;10.0.0.1"], "unreadable"), (["[192.0.2.7]"], "unreadable"),
        (["192.0.2.7", ""], "unreadable"),
    ]

    @Test(arguments: forwarded)
    func `R-945: behind a proxy the last address of X-Forwarded-For is the client's`(
        values: [String], expected: String
    ) throws {
        let proxies = TrustedProxies(try Self.networks("10.0.0.0/8"), by: .field)
        let fields = HeaderFields(values.map { ("x-forwarded-for", $0) })
        func text(_ sender: TrustedProxies.Sender) -> String {
            switch sender {
            case .peer: "peer"
            case .client(let address): address.description
            case .unreadable: "unreadable"
            }
        }
        #expect(text(proxies.sender(of: fields, from: try Self.address("10.1.2.3"))) == expected)
        // Nobody else is believed.
        #expect(proxies.sender(of: fields, from: try Self.address("11.1.2.3")) == .peer)
        let byHeader = TrustedProxies(try Self.networks("10.0.0.0/8"), by: .header)
        #expect(byHeader.sender(of: fields, from: try Self.address("10.1.2.3")) == .peer)
        #expect(TrustedProxies().sender(of: fields, from: try Self.address("10.1.2.3")) == .peer)
    }

    @Test func `R-944: only a proxy begins with a header, and only where it is asked for`() throws {
        let networks = try Self.networks("10.0.0.0/8", "2001:db8::/32")
        for (host, isProxy) in [
            ("10.0.0.1", true), ("::ffff:10.0.0.1", true), ("2001:db8::1", true), ("11.0.0.1", false), ("::1", false),
        ] {
            let peer = try Self.address(host)
            #expect(TrustedProxies(networks).sendsHeader(peer) == isProxy, "\(host)")
            #expect(!TrustedProxies(networks, by: .field).sendsHeader(peer))
            #expect(!TrustedProxies().sendsHeader(peer))
        }
    }

    // MARK: Connections

    /// A server that answers each request with the address of its client, as it knows it.
    private func withServer(
        _ proxies: TrustedProxies, tls: TLSContext? = nil, limits: TransportLimits = .patient,
        _ body: (SocketAddress, EventLoop) async throws -> Void
    ) async throws {
        let (serverLoop, clientLoop) = (try EventLoop(name: "server"), try EventLoop(name: "client"))
        defer { for loop in [serverLoop, clientLoop] { loop.stop() } }
        var configuration = TransportServer.Configuration(addresses: [.loopback(port: 0)], tls: tls, limits: limits)
        configuration.proxies = proxies
        let server = try await TransportServer.start(on: [serverLoop], configuration) { head, address in
            head.path == "/echo" ? .webSocket(.init(), Echo()) : .response(.text(.ok, "from \(address) at last"))
        }
        try await running {
            try await body(server.localAddresses[0], clientLoop)
        } finally: {
            await server.stop()
        }
    }

    private static let request = Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)

    @Test(arguments: [Wire.plain, .tls])
    func `R-944: the client of a proxy is who the proxy says, however its header is cut`(wire: Wire) async throws {
        let proxies = TrustedProxies(try Self.networks("127.0.0.0/8"))
        let tls = wire == .tls
        try await withServer(proxies, tls: tls ? TestContexts.shared.server : nil) { address, loop in
            let header = Self.header([192, 0, 2, 7])
            // All together with what follows.
            let whole = try await RawPeer.connect(
                to: address, on: loop, tls: tls ? TestContexts.shared.client : nil, .none, preface: header,
                sending: Self.request)
            #expect(await whole.receiveAllText().contains("from 192.0.2.7:4660 at last"))
            // The proxy itself, as for a health check.
            let own = try await RawPeer.connect(
                to: address, on: loop, tls: tls ? TestContexts.shared.client : nil, .none, preface: Self.ownHeader,
                sending: Self.request)
            #expect(await own.receiveAllText().contains("from 127.0.0.1:"))
            guard !tls else { return }
            for cut in 1..<header.count {
                let peer = try await RawPeer.connect(to: address, on: loop, tls: nil, .none)
                await peer.send(Array(header[..<cut]))
                await peer.sentAll()
                await peer.send(Array(header[cut...]) + Self.request)
                #expect(await peer.receiveAllText().contains("from 192.0.2.7:4660 at last"), "cut at \(cut)")
            }
        }
    }

    @Test func `R-944: a proxy without a header is cut off, and so is one that ends within it`() async throws {
        let proxies = TrustedProxies(try Self.networks("127.0.0.1"))
        try await withServer(proxies) { address, loop in
            let header = Self.header([192, 0, 2, 7])
            for bytes in [
                Self.request, Array("PROXY TCP4 192.0.2.7 127.0.0.1 4660 443\r\n".utf8) + Self.request,
                Array(header.prefix(12)) + [0x21, 0x11, 0xFF, 0xFF] + Self.request,
            ] {
                let peer = try await RawPeer.connect(to: address, on: loop, tls: nil, .none, sending: bytes)
                #expect(await peer.receiveAll().isEmpty)
            }
            for count in 0..<header.count {
                let peer = try await RawPeer.connect(
                    to: address, on: loop, tls: nil, .none, sending: Array(header[..<count]))
                await peer.shutDown()
                #expect(await peer.receiveAll().isEmpty)
            }
        }
    }

    @Test func `R-944: a peer that is no proxy is not believed`() async throws {
        let proxies = TrustedProxies(try Self.networks("192.0.2.0/24"))
        try await withServer(proxies) { address, loop in
            let peer = try await RawPeer.connect(to: address, on: loop, tls: nil, .none, sending: Self.request)
            #expect(await peer.receiveAllText().contains("from 127.0.0.1:"))
            let liar = try await RawPeer.connect(
                to: address, on: loop, tls: nil, .none, sending: Self.header([192, 0, 2, 7]) + Self.request)
            #expect(await liar.receiveAllText().hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test func `R-944: a header that does not come within the time for the handshake ends the connection`() async throws
    {
        var limits = TransportLimits.patient
        limits.handshakeDeadline = .milliseconds(200)
        let proxies = TrustedProxies(try Self.networks("127.0.0.1"))
        try await withServer(proxies, limits: limits) { address, loop in
            let silent = try await RawPeer.connect(to: address, on: loop, tls: nil, .none)
            let slow = try await RawPeer.connect(
                to: address, on: loop, tls: nil, .none, sending: Array(Self.header([192, 0, 2, 7]).prefix(20)))
            #expect(await silent.receiveAll().isEmpty)
            #expect(await slow.receiveAll().isEmpty)
        }
    }

    @Test func `R-945: a request of a proxy that names nobody is refused with what to do`() async throws {
        let proxies = TrustedProxies(try Self.networks("127.0.0.1"), by: .field)
        try await withServer(proxies) { address, loop in
            for (value, answer) in [
                ("X-Forwarded-For: 203.0.113.5, 192.0.2.7\r\n", "from 192.0.2.7:0 at last"),
                ("X-Forwarded-For: unknown\r\n", "The last address of X-Forwarded-For cannot be read"),
                ("", "from 127.0.0.1:"),
            ] {
                let request = Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\(value)\r\n".utf8)
                let peer = try await RawPeer.connect(to: address, on: loop, tls: nil, .none, sending: request)
                #expect(await peer.receiveAllText().contains(answer), "\(value)")
            }
        }
    }

    // MARK: Places

    @Test(arguments: [TrustedProxies.Way.header, .field])
    func `R-944, R-945: clients of one proxy have places by their own addresses`(way: TrustedProxies.Way) async throws {
        let proxies = TrustedProxies(try Self.networks("127.0.0.1"), by: way)
        var limits = TransportLimits.patient
        var places = PlaceLimits(connectionsMax: 64)
        places.patience = .seconds(600)
        limits.places = places
        // One more than one address may have, of newcomers that say nothing more.
        let count = places.newcomersPerAddressMax
        try await withServer(proxies, limits: limits) { address, loop in
            var peers: [RawPeer] = []
            for (last, expected) in [UInt8](repeating: 7, count: count).map({ ($0, "101") }) + [(7, "429"), (8, "101")]
            {
                let field = way == .field ? "X-Forwarded-For: 192.0.2.\(last)\r\n" : ""
                let upgrade = RawPeer.upgrade().dropLast(2) + Array("\(field)\r\n".utf8)
                let peer = try await RawPeer.connect(
                    to: address, on: loop, tls: nil, .none,
                    preface: way == .header ? Self.header([192, 0, 2, last]) : [], sending: Array(upgrade))
                // It stays, with its place.
                peers.append(peer)
                let start = await peer.receive { $0.count >= 12 }.prefix(12)
                #expect(String(decoding: start, as: UTF8.self) == "HTTP/1.1 \(expected)", "\(last), \(peers.count)")
            }
        }
    }
}
