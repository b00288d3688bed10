// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTracing

@Suite struct TraceEndpointTests {
    @Test(
        arguments: [
            ("http://127.0.0.1:4318", "127.0.0.1", 4_318, false, "/v1/traces"),
            ("http://localhost", "localhost", 4_318, false, "/v1/traces"),
            ("http://[::1]/", "::1", 4_318, false, "/v1/traces"),
            ("HTTPS://collector.example.org:443", "collector.example.org", 443, true, "/v1/traces"),
            (
                "https://[2001:db8::1]:4318/otlp/v1/traces?tenant=a", "2001:db8::1", 4_318, true,
                "/otlp/v1/traces?tenant=a"
            ),
            ("https://10.0.0.1/x", "10.0.0.1", 4_318, true, "/x"),
        ] as [(String, String, UInt16, Bool, String)])
    func `R-908: a collector is named by its URL`(
        _ url: String, _ host: String, _ port: UInt16, _ isSecured: Bool, _ path: String
    ) throws {
        let endpoint = try TraceEndpoint(url)
        #expect(endpoint.host == host && endpoint.port == port)
        #expect(endpoint.isSecured == isSecured && endpoint.path == path)
    }

    @Test(arguments: [
        "", "127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://", "http:///v1/traces", "http://a@127.0.0.1",
        "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://127.0.0.1:", "http://::1", "http://127.0.0.1?x",
        "http://127.0.0.1/a b", "http://127.0.0.1/a#b", "http://127.0.0.1\r\nX: y",
    ])
    func `R-908: what is no URL of a collector is refused`(_ url: String) {
        #expect(throws: TraceEndpoint.Problem.malformed) { try TraceEndpoint(url) }
    }

    @Test(arguments: ["http://10.0.0.1:4318", "http://[2001:db8::1]", "http://0.0.0.0"])
    func `R-908: without TLS the collector is on this machine`(_ url: String) {
        #expect(throws: TraceEndpoint.Problem.plainBeyondLoopback) { try TraceEndpoint(url) }
    }
}
