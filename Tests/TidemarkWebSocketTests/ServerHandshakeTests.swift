// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkWebSocket

@Suite struct ServerHandshakeTests {
    /// The request of RFC 6455 §1.3, with fields changed (nil takes one out) and added.
    private func request(
        _ changes: [String: String?] = [:], adding added: [(name: String, value: String)] = [],
        method: String = "GET", version: HTTPVersion = .http11, body: RequestHead.Body = .none
    ) -> RequestHead {
        let usual = [
            ("Host", "server.example.com"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"),
        ]
        var fields = HeaderFields()
        for (name, value) in usual {
            if let value = changes[name] ?? value { fields.append(name: name, value: value) }
        }
        for (name, value) in added { fields.append(name: name, value: value) }
        return RequestHead(method: method, target: "/chat", version: version, fields: fields, body: body)
    }

    private func status(_ head: RequestHead, _ offer: ServerHandshake.Offer = ServerHandshake.Offer()) -> Int {
        switch ServerHandshake.answer(head, offer) {
        case .accepted(let acceptance): acceptance.response.status.code
        case .refused(let response): response.status.code
        }
    }

    private func accepted(
        _ head: RequestHead, _ offer: ServerHandshake.Offer = ServerHandshake.Offer()
    ) throws -> ServerHandshake.Acceptance {
        guard case .accepted(let acceptance) = ServerHandshake.answer(head, offer) else {
            throw WebSocketError(.notUpgraded)
        }
        return acceptance
    }

    @Test func `RFC 6455 1_3: the answer of the standard's example`() throws {
        let response = try accepted(request()).response
        #expect(response.status.code == 101)
        #expect(response.fields.onlyValue("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(response.fields.onlyValue("Upgrade") == "websocket")
        #expect(response.fields.onlyValue("Connection") == "Upgrade")
        #expect(!response.fields.contains("Sec-WebSocket-Protocol"))
        #expect(!response.fields.contains("Sec-WebSocket-Extensions"))
    }

    @Test func `RFC 6455 4_2_1: each requirement of a request, one by one`() {
        #expect(status(request(["Upgrade": "WebSocket"])) == 101)
        #expect(status(request(["Upgrade": "h2c, websocket"])) == 101)
        #expect(status(request(["Upgrade": ", ,websocket, "])) == 101, "RFC 9110 5.6.1.2")
        #expect(status(request(["Connection": "keep-alive, UPGRADE"])) == 101)
        #expect(status(request(adding: [("Content-Length", "0")])) == 101)
        #expect(status(request(method: "POST")) == 405)
        #expect(status(request(method: "HEAD")) == 405)
        #expect(status(request(version: HTTPVersion(major: 1, minor: 0))) == 426)
        #expect(status(request(["Upgrade": nil])) == 426)
        #expect(status(request(["Upgrade": "h2c"])) == 426)
        #expect(status(request(["Connection": nil])) == 426)
        #expect(status(request(["Connection": "keep-alive"])) == 426)
        #expect(status(request(["Connection": "Upgrade, close"])) == 400)
        #expect(status(request(body: .length(1))) == 400)
        #expect(status(request(body: .chunked)) == 400)
        #expect(status(request(["Sec-WebSocket-Version": nil])) == 400)
        #expect(status(request(["Sec-WebSocket-Version": "8"])) == 426)
        #expect(status(request(["Sec-WebSocket-Version": "013"])) == 426)
        #expect(status(request(adding: [("Sec-WebSocket-Version", "13")])) == 400)
        for key: String? in [
            nil, "", "x", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZR==",
            "dGhlIHNhbXBsZSBub25jZSE=", "dGhlIHNhbXBsZSBub25j!Q==", "dGhlIHNhbXBsZSBub25jZQ== ,",
        ] {
            #expect(status(request(["Sec-WebSocket-Key": key])) == 400, "\(key ?? "none")")
        }
        #expect(status(request(adding: [("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Protocol", "")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Protocol", "a b")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Protocol", "a, a")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Extensions", "a;")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Extensions", "a; b=")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Extensions", "a b")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Extensions", "a; b=\"c d\"")])) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Extensions", "a; b=\"c\", d; e")])) == 101)
    }

    @Test func `RFC 9110 15_5_22: 426 says which protocol and version are wanted`() throws {
        guard case .refused(let response) = ServerHandshake.answer(request(["Sec-WebSocket-Version": "7"]), .init())
        else {
            Issue.record("accepted")
            return
        }
        #expect(response.fields.onlyValue("Upgrade") == "websocket")
        #expect(response.fields.hasToken("Connection", "upgrade"))
        #expect(response.fields.onlyValue("Sec-WebSocket-Version") == "13")
    }

    @Test func `RFC 6455 4_2_2: the first of the client's subprotocols that the server knows is chosen`() throws {
        let offer = ServerHandshake.Offer(subprotocols: ["one", "two"])
        let lines = [("Sec-WebSocket-Protocol", "three, two"), ("Sec-WebSocket-Protocol", "one")]
        let chosen = try accepted(request(adding: lines), offer)
        #expect(chosen.subprotocol == "two")
        #expect(chosen.response.fields.onlyValue("Sec-WebSocket-Protocol") == "two")
        #expect(try accepted(request(adding: [("Sec-WebSocket-Protocol", "ONE")]), offer).subprotocol == nil)
        #expect(try accepted(request(), offer).subprotocol == nil)
        let strict = ServerHandshake.Offer(subprotocols: ["one"], requiresSubprotocol: true)
        #expect(status(request(), strict) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Protocol", "two")]), strict) == 400)
        #expect(status(request(adding: [("Sec-WebSocket-Protocol", "two, one")]), strict) == 101)
    }
}
