// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkWebSocket

@Suite struct ClientHandshakeTests {
    private let nonce = Array("the sample nonce".utf8)

    private func response(
        _ changes: [String: String?] = [:], adding added: [(name: String, value: String)] = [],
        status: HTTPStatus = .switchingProtocols
    ) -> ResponseHead {
        let usual = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        ]
        var fields = HeaderFields()
        for (name, value) in usual {
            if let value = changes[name] ?? value { fields.append(name: name, value: value) }
        }
        for (name, value) in added { fields.append(name: name, value: value) }
        return ResponseHead(status: status, fields: fields)
    }

    private func verdict(
        _ head: ResponseHead, subprotocols: [String] = [], deflate: DeflateSettings? = nil
    ) -> WebSocketError.Code? {
        let handshake = ClientHandshake(
            host: "h", path: "/", nonce: nonce, subprotocols: subprotocols, deflate: deflate)
        do throws(WebSocketError) {
            _ = try handshake.confirm(head)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `R-014: who speaks none of the server's subprotocols is told which there are`() throws {
        let strict = ServerHandshake.Offer(subprotocols: ["one", "two"], requiresSubprotocol: true)
        let old = ClientHandshake(host: "h", path: "/", nonce: nonce, subprotocols: ["zero"])
        guard case .refused(let response) = ServerHandshake.answer(old.request, strict) else {
            Issue.record("accepted")
            return
        }
        #expect(response.fields.tokens("Sec-WebSocket-Protocol") == ["one", "two"])
        let error = #expect(throws: WebSocketError.self) { try old.confirm(response) }
        #expect(error == WebSocketError(.subprotocol, status: 400))
        #expect(verdict(response) == .notUpgraded, "who wants none is refused for something else")
        #expect(verdict(ResponseHead(status: .badRequest), subprotocols: ["zero"]) == .notUpgraded)
    }

    @Test func `RFC 6455 4_1: a client accepts nothing but the answer to its request`() {
        #expect(verdict(response()) == nil)
        #expect(verdict(response(["Upgrade": "WebSocket", "Connection": "x, upgrade"])) == nil)
        #expect(verdict(response(status: .ok)) == .notUpgraded)
        #expect(verdict(response(status: HTTPStatus(401, "Unauthorized"))) == .notUpgraded)
        #expect(verdict(response(["Upgrade": nil])) == .invalidUpgrade)
        #expect(verdict(response(["Upgrade": "h2c"])) == .invalidUpgrade)
        #expect(verdict(response(["Connection": nil])) == .invalidUpgrade)
        #expect(verdict(response(["Sec-WebSocket-Accept": nil])) == .invalidUpgrade)
        #expect(verdict(response(["Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo"])) == .invalidUpgrade)
        #expect(
            verdict(response(adding: [("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")])) == .invalidUpgrade)
        let chosen = [(name: "Sec-WebSocket-Protocol", value: "one")]
        #expect(verdict(response(adding: chosen)) == .subprotocol)
        #expect(verdict(response(adding: chosen), subprotocols: ["two", "one"]) == nil)
        #expect(verdict(response(adding: chosen), subprotocols: ["two"]) == .subprotocol)
        #expect(verdict(response(), subprotocols: ["two"]) == .subprotocol)
        let deflate = [(name: "Sec-WebSocket-Extensions", value: "permessage-deflate")]
        #expect(verdict(response(adding: deflate)) == .extension)
        #expect(verdict(response(adding: deflate), deflate: DeflateSettings()) == nil)
        #expect(verdict(response(adding: deflate + deflate), deflate: DeflateSettings()) == .extension)
        #expect(
            verdict(response(adding: [("Sec-WebSocket-Extensions", "other")]), deflate: DeflateSettings())
                == .extension)
    }

    @Test func `both halves of the handshake agree`() throws {
        var settings = DeflateSettings()
        settings.keepsReceiveContext = false
        settings.sendWindowBits = 10
        let client = ClientHandshake(
            host: "h:1", path: "/x", nonce: nonce, subprotocols: ["a", "b"], deflate: settings,
            fields: HeaderFields([("User-Agent", "test")]))
        var parser = RequestHeadParser()
        let bytes = client.request.serialized()
        guard case .complete(let head, _) = try bytes.withUnsafeBytes({ try parser.parse($0) }) else {
            Issue.record("incomplete")
            return
        }
        let offer = ServerHandshake.Offer(subprotocols: ["b"], deflate: DeflateSettings())
        guard case .accepted(let server) = ServerHandshake.answer(head, offer) else {
            Issue.record("refused")
            return
        }
        let agreed = try client.confirm(server.response)
        #expect(agreed.subprotocol == "b")
        #expect(agreed.deflate == server.deflate)
        #expect(agreed.deflate?.serverKeepsContext == false)
        #expect(agreed.deflate?.clientWindowBits == 10)
    }
}
