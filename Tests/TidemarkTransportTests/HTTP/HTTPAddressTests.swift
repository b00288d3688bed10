// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTransport

@Suite struct HTTPAddressTests {
    @Test(arguments: [
        ("https://a.example", "a.example", 443, true, "/", "https://a.example/"),
        ("HTTPS://a.example:8443/x?y=1", "a.example", 8_443, true, "/x?y=1", "https://a.example:8443/x?y=1"),
        ("http://127.0.0.1", "127.0.0.1", 80, false, "/", "http://127.0.0.1/"),
        ("http://localhost:9/k", "localhost", 9, false, "/k", "http://localhost:9/k"),
        ("http://[::1]:9/k", "::1", 9, false, "/k", "http://[::1]:9/k"),
        ("https://[2001:db8::1]", "2001:db8::1", 443, true, "/", "https://[2001:db8::1]/"),
    ])
    func `R-922: a URL is read`(
        _ url: String, _ host: String, _ port: UInt16, _ isSecured: Bool, _ path: String, _ text: String
    ) throws {
        let address = try HTTPAddress(url)
        #expect(address.host == host && address.port == port && address.isSecured == isSecured)
        #expect(address.path == path && address.description == text)
    }

    @Test(arguments: [
        "", "a.example", "ftp://a.example", "https://", "https:///x", "https://a b", "https://a.example:0",
        "https://a.example:x", "https://a.example:65536", "https://a:b@c", "https://a.example?x=1",
        "https://a.example/a b", "https://a.example/\r\nX: y", "https://a.example/#x", "https://[::1", "https://::1",
        "https://a.example/" + String(repeating: "x", count: 2_048),
    ])
    func `R-922: what is no such URL is refused`(_ url: String) {
        #expect(throws: HTTPAddress.Problem.malformed) { try HTTPAddress(url) }
    }

    @Test(arguments: ["http://a.example", "http://10.0.0.1/x", "http://127.evil.example", "http://[2001:db8::1]"])
    func `R-740: without TLS only this machine is asked`(_ url: String) {
        #expect(throws: HTTPAddress.Problem.plainBeyondLoopback) { try HTTPAddress(url) }
    }
}
