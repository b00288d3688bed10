// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkWebSocket

@Suite struct DeflateNegotiationTests {
    /// What a server with `settings` answers to an offer; nil if it declines.
    private func answer(_ offer: String, _ settings: DeflateSettings = DeflateSettings()) -> String? {
        let head = RequestHead(
            method: "GET", target: "/",
            fields: HeaderFields([
                ("Host", "h"), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Extensions", offer),
            ]))
        guard case .accepted(let acceptance) = ServerHandshake.answer(head, .init(deflate: settings)) else {
            return "refused"
        }
        let text = acceptance.response.fields.onlyValue("Sec-WebSocket-Extensions")
        #expect((text == nil) == (acceptance.deflate == nil))
        return text
    }

    @Test(arguments: [
        ("permessage-deflate", "permessage-deflate"),
        ("PerMessage-Deflate", "permessage-deflate"),
        ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
        (
            "permessage-deflate; client_max_window_bits=10",
            "permessage-deflate; client_max_window_bits=10"
        ),
        ("permessage-deflate; client_max_window_bits=\"9\"", "permessage-deflate; client_max_window_bits=9"),
        (
            "permessage-deflate; server_max_window_bits=15",
            "permessage-deflate; server_max_window_bits=15"
        ),
        ("permessage-deflate; server_max_window_bits=8", "permessage-deflate; server_max_window_bits=8"),
        ("permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"),
        ("permessage-deflate; client_no_context_takeover", "permessage-deflate; client_no_context_takeover"),
        (
            "x-other, permessage-deflate; nonsense, permessage-deflate; server_no_context_takeover",
            "permessage-deflate; server_no_context_takeover"
        ),
        (
            "permessage-deflate; server_max_window_bits=9, permessage-deflate",
            "permessage-deflate; server_max_window_bits=9"
        ),
    ])
    func `RFC 7692 7_1: an offer that can be met is met`(_ offer: String, _ expected: String) {
        #expect(answer(offer) == expected)
    }

    @Test(arguments: [
        "x-webkit-deflate-frame", "permessage-deflate; nonsense", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=010", "permessage-deflate; client_max_window_bits=x",
        "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; client_no_context_takeover=true",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; client_max_window_bits; client_max_window_bits=9",
    ])
    func `RFC 7692 7_1: an offer with a wrong parameter is declined`(_ offer: String) {
        #expect(answer(offer) == nil)
    }

    @Test func `a server's own wishes go into its answer, the client's window only if that was offered`() {
        var settings = DeflateSettings()
        settings.sendWindowBits = 11
        settings.receiveWindowBits = 12
        settings.keepsSendContext = false
        settings.keepsReceiveContext = false
        let own =
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=11"
        #expect(answer("permessage-deflate", settings) == own)
        #expect(
            answer("permessage-deflate; client_max_window_bits", settings) == own + "; client_max_window_bits=12")
        #expect(
            answer("permessage-deflate; client_max_window_bits=9", settings) == own + "; client_max_window_bits=9")
    }

    /// What a client with `settings` makes of an answer; nil if it fails the connection.
    private func confirm(_ answer: String, _ settings: DeflateSettings = DeflateSettings()) -> DeflateParameters? {
        let client = ClientHandshake(
            host: "h", path: "/", nonce: Array("the sample nonce".utf8), deflate: settings)
        let head = ResponseHead(
            status: .switchingProtocols,
            fields: HeaderFields([
                ("Upgrade", "websocket"), ("Connection", "Upgrade"),
                ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), ("Sec-WebSocket-Extensions", answer),
            ]))
        return try? client.confirm(head).deflate
    }

    @Test func `RFC 7692 7_1: a client takes what it asked for and fails on anything else`() {
        #expect(confirm("permessage-deflate") == DeflateParameters())
        #expect(confirm("permessage-deflate; client_max_window_bits=9")?.clientWindowBits == 9)
        #expect(confirm("permessage-deflate; server_max_window_bits=9")?.serverWindowBits == 9)
        #expect(confirm("permessage-deflate; server_no_context_takeover")?.serverKeepsContext == false)
        #expect(confirm("permessage-deflate; client_no_context_takeover")?.clientKeepsContext == false)
        #expect(confirm("permessage-deflate; client_max_window_bits") == nil)
        #expect(confirm("permessage-deflate; server_max_window_bits") == nil)
        #expect(confirm("permessage-deflate; x") == nil)
        #expect(confirm("permessage-deflate; server_max_window_bits=16") == nil)
        var settings = DeflateSettings()
        settings.keepsReceiveContext = false
        settings.receiveWindowBits = 10
        #expect(confirm("permessage-deflate", settings) == nil)
        #expect(confirm("permessage-deflate; server_no_context_takeover", settings) == nil)
        #expect(confirm("permessage-deflate; server_no_context_takeover; server_max_window_bits=11", settings) == nil)
        #expect(
            confirm("permessage-deflate; server_no_context_takeover; server_max_window_bits=10", settings)?
                .serverWindowBits == 10)
    }
}
