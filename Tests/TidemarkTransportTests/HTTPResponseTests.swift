// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkTestSupport
internal import TidemarkWebSocket

@testable internal import TidemarkTransport

@Suite(.timeLimit(.minutes(10))) struct HTTPResponseTests {
    struct Case: Sendable {
        let request: String
        let status: Int
        var contains: [String] = []
        var body: String?
    }

    private static let upgrade = """
        Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Version: 13\r\n
        """

    static let cases: [Case] = [
        Case(request: "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n", status: 200, body: "ok\n"),
        Case(request: "GET /healthz HTTP/1.0\r\n\r\n", status: 200, body: "ok\n"),
        Case(
            request: "HEAD /healthz HTTP/1.1\r\nHost: h\r\n\r\n", status: 200, contains: ["Content-Length: 3"], body: ""
        ),
        Case(request: "GET /healthz?x=y HTTP/1.1\r\nHost: h\r\n\r\n", status: 200),
        Case(request: "GET http://h/healthz HTTP/1.1\r\nHost: h\r\n\r\n", status: 200),
        Case(request: "GET / HTTP/1.0\r\n\r\n", status: 404),
        Case(request: "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n", status: 404, body: "Not Found\n"),
        Case(request: "HEAD /nothing HTTP/1.1\r\nHost: h\r\n\r\n", status: 404, body: ""),
        Case(
            request: "POST /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", status: 405,
            contains: ["Allow: GET, HEAD"]),
        Case(request: "BREW /healthz HTTP/1.1\r\nHost: h\r\n\r\n", status: 501),
        Case(request: "POST /echo HTTP/1.1\r\nHost: h\r\n\r\n", status: 405, contains: ["Allow: GET"]),
        Case(
            request: "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n", status: 426,
            contains: ["Upgrade: websocket", "Connection: Upgrade, close", "Sec-WebSocket-Version: 13"]),
        Case(
            request: """
                GET /echo HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 12\r\n\r\n
                """, status: 426, contains: ["Sec-WebSocket-Version: 13"]),
        Case(request: "GET /healthz HTTP/1.1\r\n\r\n", status: 400),
        // RFC 9110 §9.3.2: no answer to a HEAD has a body.
        Case(request: "HEAD /healthz HTTP/1.1\r\n\r\n", status: 400, contains: ["Content-Length: 12"], body: ""),
        Case(request: "\r\nHEAD /healthz HTTP/1.1\r\nX : y\r\n\r\n", status: 400, body: ""),
        Case(request: "HEADS /healthz HTTP/1.1\r\n\r\n", status: 400, body: "Bad Request\n"),
        Case(request: "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", status: 400),
        Case(request: "GET /healthz HTTP/1.1\nHost: a\n\n", status: 400),
        Case(request: "GET /healthz HTTP/3.0\r\nHost: a\r\n\r\n", status: 505),
        Case(request: "GET /healthz HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", status: 400),
        Case(
            request: """
                POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n\
                0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: h\r\n\r\n
                """, status: 400),
        Case(request: "GET /healthz HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", status: 400),
        Case(request: "GET /healthz HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n", status: 400),
        Case(request: "GET /healthz HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", status: 400),
        Case(
            request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", status: 400),
        Case(request: "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", status: 501),
        Case(request: "get /healthz HTTP/1.1\r\nHost: h\r\n\r\n", status: 501),
        Case(request: "GET /healthz\r\n\r\n", status: 400),
        Case(request: "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", status: 405),
        // What begins a connection of HTTP/2 (RFC 9113 §3.4).
        Case(request: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
        Case(request: "GET /echo HTTP/1.0\r\nHost: h\r\n\(upgrade)\r\n", status: 426),
        Case(request: "POST /echo HTTP/1.1\r\nHost: h\r\n\(upgrade)\r\n", status: 405),
        Case(request: "GET /echo HTTP/1.1\r\nHost: h\r\n\(upgrade)Content-Length: 5\r\n\r\nhello", status: 400),
        Case(request: "GET /echo HTTP/1.1\r\nHost: h\r\n\(upgrade)Connection: close\r\n\r\n", status: 400),
        Case(request: "GET /" + String(repeating: "a", count: 9_000), status: 414),
        Case(
            request: "GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: 20_000), status: 431),
    ]

    @Test(arguments: Wire.allCases, cases)
    func `RFC 9112: one answer, complete, and then the end`(_ wire: Wire, _ example: Case) async throws {
        try await Scene.run(wire) { scene in
            let peer = try await scene.rawPeer()
            // A second request behind it is never answered.
            await peer.send(Array(example.request.utf8) + Array("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
            let text = await peer.receiveAllText()
            #expect(text.hasPrefix("HTTP/1.1 \(example.status) "), "\(example.request.prefix(60))")
            #expect(text.split(separator: "HTTP/1.1 ").count == 1)
            #expect(text.contains("\r\nDate: "))
            #expect(text.contains("close\r\n"))
            #expect(text.contains("Strict-Transport-Security") == (wire == .tls))
            for part in example.contains { #expect(text.contains(part)) }
            if let body = example.body { #expect(text.hasSuffix("\r\n\r\n" + body)) }
            await peer.close()
            await scene.allEnded()
        }
    }

    @Test(arguments: Wire.allCases)
    func `a client that ends its half after the request is answered`(_ wire: Wire) async throws {
        try await Scene.run(wire) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(Array("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
            await peer.shutDown()
            #expect(await peer.receiveAllText().hasPrefix("HTTP/1.1 200 OK"))
            await scene.allEnded()
        }
    }

    @Test(arguments: [Array("GET / HTTP/1.1\r\n".utf8), RawPeer.upgrade()])
    func `RFC 8446 6_1: who ends TLS is told the same`(_ bytes: [UInt8]) async throws {
        try await Scene.run(.tls) { scene in
            let peer = try await scene.rawPeer()
            await peer.send(bytes)
            await peer.shutDown()
            await peer.receiveAll()
            #expect(await peer.hasHeardCloseNotify())
            await peer.close()
            await scene.allEnded()
        }
    }

    @Test(arguments: [
        (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_399_999, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func `RFC 9110 5_6_7: dates`(_ milliseconds: Int64, _ text: String) {
        let response = HTTPResponse(.ok)
            .serialized(omitsBody: false, isSecured: false, wallClockMilliseconds: milliseconds)
        #expect(String(decoding: response, as: UTF8.self).contains("Date: \(text)\r\n"))
    }
}
