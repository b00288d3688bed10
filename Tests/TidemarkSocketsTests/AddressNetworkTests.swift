// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkSockets

@Suite struct AddressNetworkTests {
    @Test(arguments: [
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["9.255.255.255", "11.0.0.0", "a00::"]),
        ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6", "::c000:207"]),
        ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
        ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4"], ["::1"]),
        ("2001:db8::/33", ["2001:db8::", "2001:db8:7fff::1"], ["2001:db8:8000::", "32.1.13.184"]),
        ("::1", ["::1"], ["::", "::2", "127.0.0.1", "::ffff:0.0.0.1"]),
        ("::/0", ["::", "ffff::"], ["0.0.0.0", "::ffff:0.0.0.0"]),
    ])
    func `R-944: a network has the addresses that begin as it does, and no others`(
        text: String, inside: [String], outside: [String]
    ) throws {
        let network = try #require(AddressNetwork(parsing: text))
        #expect(network.description == text)
        for host in inside {
            #expect(network.contains(try #require(SocketAddress(numericHost: host, port: 9))), "\(host)")
        }
        for host in outside {
            #expect(!network.contains(try #require(SocketAddress(numericHost: host, port: 9))), "\(host)")
        }
        #expect(!network.contains(try .unix("/run/proxy")))
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/0008",
        "10.0.0.1/8", "10.0.0.0/08x", "10.0.0.0/٨", "10.0.0/8", " 10.0.0.0/8", "10.0.0.0/8 ", "proxy", "proxy/8",
        "2001:db8::1/32", "::/129", "[::1]", "[::1]/128", "::ffff:10.0.0.0/104", "10.0.0.0:80", "10.0.0.0/8\u{0}",
    ])
    func `R-944: what is no network, or probably another one than was meant, is refused`(text: String) {
        #expect(AddressNetwork(parsing: text) == nil)
    }

    @Test func `each length of a prefix divides the addresses at its bit`() throws {
        for length in 1...32 {
            let top: UInt32 = length == 32 ? .max : ~(UInt32.max >> UInt32(length))
            func host(_ number: UInt32) -> String {
                "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
            }
            let network = try #require(AddressNetwork(parsing: "\(host(top))/\(length)"))
            let (first, before) = (host(top), host(top &- 1))
            #expect(network.contains(try #require(SocketAddress(numericHost: first, port: 1))), "\(length)")
            #expect(network.contains(try #require(SocketAddress(numericHost: "255.255.255.255", port: 1))), "\(length)")
            #expect(!network.contains(try #require(SocketAddress(numericHost: before, port: 1))), "\(length)")
        }
    }
}
