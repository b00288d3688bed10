// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP

/// A server's half of the opening handshake (RFC 6455 §4.2).
package enum ServerHandshake {
    /// The protocols that a server speaks.
    package struct Offer: Sendable {
        /// The subprotocols that the server knows. The client's order decides among them.
        package var subprotocols: [String]
        /// Whether to refuse a client that offers none of them.
        package var requiresSubprotocol: Bool
        /// Nil: messages are never compressed.
        package var deflate: DeflateSettings?

        package init(
            subprotocols: [String] = [], requiresSubprotocol: Bool = false, deflate: DeflateSettings? = nil
        ) {
            self.subprotocols = subprotocols
            self.requiresSubprotocol = requiresSubprotocol
            self.deflate = deflate
        }
    }

    /// The parameters that both sides agreed on.
    package struct Acceptance: Sendable {
        package let response: ResponseHead
        package let subprotocol: String?
        /// Nil without compression.
        package let deflate: DeflateParameters?
    }

    /// Whether the handshake succeeds. Either way there is a response to send.
    package enum Outcome: Sendable {
        case accepted(Acceptance)
        /// Send this response and close.
        case refused(ResponseHead)
    }

    /// Whether the request asks for a WebSocket. If not, it is ordinary HTTP. An Upgrade field in HTTP/1.0 is to be
    /// ignored (RFC 9110 §7.8).
    private static func isUpgrade(_ head: RequestHead) -> Bool {
        head.version >= .http11 && head.fields.hasToken("Connection", "upgrade")
            && (upgradeProtocols(head)?.contains { HeaderFields.isSame($0, "websocket") } ?? false)
    }

    /// The response to a request for a resource that speaks WebSocket only (RFC 9110 §15.5.22).
    package static func upgradeRequired() -> ResponseHead {
        ResponseHead(
            status: .upgradeRequired,
            fields: HeaderFields([
                ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
            ]))
    }

    /// Checks a request and makes the response.
    package static func answer(_ head: RequestHead, _ offer: Offer) -> Outcome {
        guard head.method == "GET" else {
            return refuse(.methodNotAllowed, HeaderFields([("Allow", "GET")]))
        }
        guard isUpgrade(head) else { return .refused(upgradeRequired()) }
        // RFC 9112 §9.3: "close" announces that nothing follows, which contradicts an upgrade.
        guard head.body == .none, !head.fields.hasToken("Connection", "close") else { return refuse(.badRequest) }
        let versions = head.fields.values("Sec-WebSocket-Version")
        guard versions.count == 1 else { return refuse(.badRequest) }
        guard versions[0] == "13" else { return .refused(upgradeRequired()) }
        guard let key = head.fields.onlyValue("Sec-WebSocket-Key"), HandshakeKey.isValid(key),
            let subprotocols = subprotocols(head),
            let extensions = ExtensionOffer.parse(head.fields.values("Sec-WebSocket-Extensions"))
        else { return refuse(.badRequest) }
        let subprotocol = subprotocols.first { offer.subprotocols.contains($0) }
        guard subprotocol != nil || !offer.requiresSubprotocol else {
            // with the subprotocols of this server, so that the client knows why it was refused.
            let spoken = offer.subprotocols.joined(separator: ", ")
            return refuse(.badRequest, HeaderFields([("Sec-WebSocket-Protocol", spoken)]))
        }
        let deflate = offer.deflate.flatMap { DeflateNegotiation.accept(extensions, $0) }
        var fields = HeaderFields([
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", HandshakeKey.accept(key)),
        ])
        if let subprotocol { fields.append(name: "Sec-WebSocket-Protocol", value: subprotocol) }
        if let deflate { fields.append(name: "Sec-WebSocket-Extensions", value: deflate.answer.text) }
        return .accepted(
            Acceptance(
                response: ResponseHead(status: .switchingProtocols, fields: fields), subprotocol: subprotocol,
                deflate: deflate?.0))
    }

    private static func refuse(_ status: HTTPStatus, _ fields: HeaderFields = HeaderFields()) -> Outcome {
        .refused(ResponseHead(status: status, fields: fields))
    }

    /// The protocols of the Upgrade field, `name[/version]`; nil if malformed.
    private static func upgradeProtocols(_ head: RequestHead) -> [String]? {
        var names: [String] = []
        for value in head.fields.values("Upgrade") {
            for element in value.split(separator: ",") {
                let name = HeaderFields.trimmed(element)
                // RFC 9110 §5.6.1.2: empty elements of a list are ignored.
                if name.isEmpty { continue }
                let sides = name.split(separator: "/", omittingEmptySubsequences: false)
                guard sides.count <= 2, sides.allSatisfy({ Characters.isToken(String($0)) }) else { return nil }
                names.append(name)
            }
        }
        return names
    }

    /// The client's subprotocols in order; nil if malformed, or if one occurs twice (RFC 6455 §4.1, item 10).
    private static func subprotocols(_ head: RequestHead) -> [String]? {
        guard head.fields.contains("Sec-WebSocket-Protocol") else { return [] }
        guard let tokens = head.fields.tokens("Sec-WebSocket-Protocol"), !tokens.isEmpty,
            Set(tokens).count == tokens.count
        else { return nil }
        return tokens
    }
}
