// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkWebSocket

extension Fuzzer {
    /// The opening handshake: any header fields, as a request to a server and as a response to a client. Our client
    /// must accept what our server answers to it, whatever the settings of both.
    static let handshake = Fuzzer(name: "handshake", seeds: { Handshakes.seeds }) { input throws(Finding) in
        var script = FuzzInput(input)
        let client = Handshakes.settings(&script)
        let server = Handshakes.settings(&script)
        try Handshakes.checkAgreement(client, server)
        var fields: [(name: String, value: String)] = []
        while !script.isAtEnd, fields.count < 8 {
            let names = [
                "Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol", "Upgrade", "Connection", "Sec-WebSocket-Key",
            ]
            let name = names[Int(script.byte()) % names.count]
            let value = script.text()
            if HeaderFields.isValidValue(value) { fields.append((name, value)) }
        }
        let isAccepted = try Handshakes.askServer(fields, server)
        let isConfirmed = try Handshakes.answerClient(fields, client)
        return isAccepted || isConfirmed
    }
}

private enum Handshakes {
    static let nonce = Array("the sample nonce".utf8)
    /// A server's answer to ``nonce``, computed by the server itself.
    static let fixed: [(name: String, value: String)] = [
        ("Host", "a"), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
    ]

    static func settings(_ script: inout FuzzInput) -> DeflateSettings? {
        let flags = script.byte()
        let windows = script.byte()
        guard flags & 1 == 1 else { return nil }
        var settings = DeflateSettings()
        settings.sendWindowBits = 9 + Int(windows & 0xF) % 7
        settings.receiveWindowBits = 9 + Int(windows >> 4) % 7
        settings.keepsSendContext = flags & 2 == 0
        settings.keepsReceiveContext = flags & 4 == 0
        return settings
    }

    static func client(_ deflate: DeflateSettings?) -> ClientHandshake {
        ClientHandshake(host: "a", path: "/", nonce: nonce, subprotocols: ["v1", "v2"], deflate: deflate)
    }

    static func offer(_ deflate: DeflateSettings?) -> ServerHandshake.Offer {
        ServerHandshake.Offer(subprotocols: ["v2", "v3"], requiresSubprotocol: false, deflate: deflate)
    }

    static func checkAgreement(_ clients: DeflateSettings?, _ servers: DeflateSettings?) throws(Finding) {
        let client = client(clients)
        guard case .accepted(let acceptance) = ServerHandshake.answer(client.request, offer(servers)) else {
            throw Finding("our server refuses our client: \(client.request)")
        }
        let confirmed: ClientHandshake.Acceptance
        do throws(WebSocketError) {
            confirmed = try client.confirm(acceptance.response)
        } catch {
            throw Finding("our client refuses our server: \(error), \(acceptance.response)")
        }
        try Finding.unless(
            confirmed.deflate == acceptance.deflate && confirmed.subprotocol == acceptance.subprotocol,
            "agreed on \(confirmed) and \(acceptance)")
    }

    static func askServer(
        _ fields: [(name: String, value: String)], _ deflate: DeflateSettings?
    ) throws(Finding) -> Bool {
        var all = fixed
        if !fields.contains(where: { $0.name == "Sec-WebSocket-Key" }) {
            all.append(("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="))
        }
        let head = RequestHead(method: "GET", target: "/", fields: HeaderFields(all + fields))
        switch ServerHandshake.answer(head, offer(deflate)) {
        case .refused(let response):
            try Finding.unless(response.status.code >= 400, "refused with \(response.status)")
            _ = response.serialized()
            return false
        case .accepted(let acceptance):
            _ = acceptance.response.serialized()
            try check(acceptance.deflate)
            try Finding.unless(deflate != nil || acceptance.deflate == nil, "compression that nobody wanted")
            return true
        }
    }

    static func answerClient(
        _ fields: [(name: String, value: String)], _ deflate: DeflateSettings?
    ) throws(Finding) -> Bool {
        let client = client(deflate)
        guard case .accepted(let genuine) = ServerHandshake.answer(client.request, offer(nil)) else { return false }
        var head = genuine.response
        var all: [(name: String, value: String)] = []
        for name in ["Upgrade", "Connection", "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol"]
        where !fields.contains(where: { $0.name == name }) {
            for value in head.fields.values(name) { all.append((name, value)) }
        }
        head.fields = HeaderFields(all + fields)
        guard let acceptance = try? client.confirm(head) else { return false }
        try check(acceptance.deflate)
        try Finding.unless(deflate != nil || acceptance.deflate == nil, "compression that nobody offered")
        return true
    }

    private static func check(_ parameters: DeflateParameters?) throws(Finding) {
        guard let parameters else { return }
        for bits in [parameters.serverWindowBits, parameters.clientWindowBits] {
            try Finding.unless((8...15).contains(bits), "a window of \(bits) bits")
        }
        for role in [WebSocketRole.server, .client] {
            let deflater = Deflater(role: role, parameters: parameters, level: 1)
            _ = deflater?.compress(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    static let seeds: [[UInt8]] = [
        [0, 0, 0, 0],
        FuzzScript().adding([1, 0x66, 1, 0x66, 0]).text("permessage-deflate; client_max_window_bits").bytes,
        FuzzScript().adding([7, 0x31, 7, 0x13, 0]).text("permessage-deflate; server_max_window_bits=\"10\"").bytes,
        FuzzScript().adding([1, 0x66, 0, 0, 0])
            .text("permessage-deflate; server_no_context_takeover; client_no_context_takeover").bytes,
        FuzzScript().adding([0, 0, 1, 0x66, 0]).text("x-a; b=c, permessage-deflate; client_max_window_bits=8, y")
            .adding([1]).text("v3, v2").bytes,
        FuzzScript().adding([0, 0, 0, 0, 2]).text("h2c, websocket").adding([3]).text("keep-alive").bytes,
        FuzzScript().adding([0, 0, 0, 0, 1]).text("v1").bytes,
    ]
}
