// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkSockets

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8443", "127.0.0.1:8443", true), ("0.0.0.0:0", "0.0.0.0:0", false),
        ("[::1]:0", "[::1]:0", true), ("[::]:65535", "[::]:65535", false),
        ("[2001:DB8:0:0:0:0:0:1]:80", "[2001:db8::1]:80", false), ("127.255.255.255:1", "127.255.255.255:1", true),
        ("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", true), ("[::ffff:10.0.0.1]:1", "[::ffff:10.0.0.1]:1", false),
        ("128.0.0.1:1", "128.0.0.1:1", false), ("[::2]:1", "[::2]:1", false),
    ])
    func `an address in digits is read, printed and known as loopback or not`(
        text: String, printed: String, isLoopback: Bool
    ) throws {
        let address = try SocketAddress(parsing: text)
        #expect(address.description == printed)
        #expect(address.isLoopback == isLoopback)
        #expect(try SocketAddress(parsing: printed) == address)
    }

    @Test(arguments: [
        "", ":", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1: 1",
        "127.0.0.1:1x", "::1:80", "[::1]", "[::1]80", "[::1:80", "::1]:80", "[127.0.0.1]:80", "[]:80", "localhost:80",
        "127.0.0:80", "127.0.0.01:80", "256.0.0.1:80", "[::g]:80", "127.0.0.1\u{0}:80", "127.0.0.1:٣",
    ])
    func `what is no address in digits is refused`(text: String) {
        let error = #expect(throws: SocketError.self) { try SocketAddress(parsing: text) }
        #expect(error?.code == .addressInvalid)
    }

    @Test func `a name is split from its port and left alone`() throws {
        let (host, port) = try SocketAddress.split("example.org:443")
        #expect(host == "example.org")
        #expect(port == 443)
    }

    @Test func `a Unix path has its limits`() throws {
        #expect(try SocketAddress.unix("/tmp/a").description == "unix:/tmp/a")
        #expect(try SocketAddress.unix("/tmp/a").isLoopback)
        _ = try SocketAddress.unix(String(repeating: "a", count: SocketAddress.unixPathBytesMax))
        for path in ["", "a\u{0}b", String(repeating: "a", count: SocketAddress.unixPathBytesMax + 1)] {
            #expect(throws: SocketError.self) { try SocketAddress.unix(path) }
        }
    }

    private func resolved(host: String, port: UInt16) async throws(SocketError) -> [SocketAddress] {
        let result = await withCheckedContinuation { continuation in
            Resolver.resolve(host: host, port: port) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    @Test func `names are looked up off the loop, digits at once`() async throws {
        let address = try await resolved(host: "localhost", port: 7)
        #expect(!address.isEmpty)
        #expect(address.allSatisfy { $0.isLoopback && $0.port == 7 })
        #expect(
            try await resolved(host: "::1", port: 7) == [
                try #require(SocketAddress(numericHost: "::1", port: 7))
            ])
        for host in ["", "a\u{0}b", "no such host.invalid"] {
            await #expect(throws: SocketError.self) { try await resolved(host: host, port: 7) }
        }
    }
}
