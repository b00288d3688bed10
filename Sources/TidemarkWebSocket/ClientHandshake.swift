// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkHTTP

/// A client's half of the opening handshake (RFC 6455 §4.1).
package struct ClientHandshake: Sendable {
    /// The parameters that both sides agreed on.
    package struct Acceptance: Equatable, Sendable {
        package let subprotocol: String?
        package let deflate: DeflateParameters?
    }

    private let key: String
    private let subprotocols: [String]
    private let deflate: DeflateSettings?
    /// The request to send.
    package let request: RequestHead

    /// - Parameters:
    ///   - host: For the Host field, with the port unless it is the scheme's default.
    ///   - path: In origin form. Check it with ``RequestTarget/isOriginForm(_:)`` if it comes from outside.
    ///   - nonce: 16 random bytes.
    ///   - subprotocols: In order of preference. If there are any, the server must choose one.
    package init(
        host: String, path: String, nonce: [UInt8], subprotocols: [String] = [], deflate: DeflateSettings? = nil,
        fields extra: HeaderFields = HeaderFields()
    ) {
        precondition(nonce.count == 16, "the key is 16 bytes")
        key = Base64.encode(nonce)
        self.subprotocols = subprotocols
        self.deflate = deflate
        var fields = HeaderFields([
            ("Host", host), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", key),
            ("Sec-WebSocket-Version", "13"),
        ])
        if !subprotocols.isEmpty {
            fields.append(name: "Sec-WebSocket-Protocol", value: subprotocols.joined(separator: ", "))
        }
        if let deflate {
            fields.append(name: "Sec-WebSocket-Extensions", value: DeflateNegotiation.offer(deflate).text)
        }
        for field in extra.fields { fields.append(name: field.name, value: field.value) }
        request = RequestHead(method: "GET", target: path, fields: fields)
    }

    /// Checks the server's response.
    package func confirm(_ head: ResponseHead) throws(WebSocketError) -> Acceptance {
        guard head.status.code == 101 else {
            // A server that wants another subprotocol says which (ServerHandshake).
            let isSubprotocol = !subprotocols.isEmpty && head.fields.contains("Sec-WebSocket-Protocol")
            throw WebSocketError(isSubprotocol ? .subprotocol : .notUpgraded, status: head.status.code)
        }
        guard head.version >= .http11, let upgrade = head.fields.onlyValue("Upgrade"),
            HeaderFields.isSame(upgrade, "websocket"), head.fields.hasToken("Connection", "upgrade"),
            head.fields.onlyValue("Sec-WebSocket-Accept") == HandshakeKey.accept(key)
        else { throw WebSocketError(.invalidUpgrade) }
        return Acceptance(subprotocol: try subprotocol(head), deflate: try deflate(head))
    }

    private func subprotocol(_ head: ResponseHead) throws(WebSocketError) -> String? {
        let chosen = head.fields.values("Sec-WebSocket-Protocol")
        if chosen.isEmpty, subprotocols.isEmpty { return nil }
        guard chosen.count == 1, subprotocols.contains(chosen[0]) else { throw WebSocketError(.subprotocol) }
        return chosen[0]
    }

    private func deflate(_ head: ResponseHead) throws(WebSocketError) -> DeflateParameters? {
        guard let answers = ExtensionOffer.parse(head.fields.values("Sec-WebSocket-Extensions")) else {
            throw WebSocketError(.extension)
        }
        guard let answer = answers.first else { return nil }
        guard answers.count == 1, let deflate else { throw WebSocketError(.extension) }
        return try DeflateNegotiation.confirm(answer, deflate)
    }
}
