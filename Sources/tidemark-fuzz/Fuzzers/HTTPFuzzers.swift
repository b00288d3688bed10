// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP

extension Fuzzer {
    /// All that a client sends on a connection: every split of the bytes gives the same requests, bodies and refusals.
    static let httpRequests = Fuzzer(name: "http-requests", seeds: { HTTPSeeds.connections }) { input throws(Finding) in
        var whole = HTTPClientTalk()
        whole.receive(input[...])
        whole.end()
        var split = HTTPClientTalk()
        var random = FuzzRandom(input)
        for piece in random.split(input) { split.receive(piece) }
        split.end()
        try Finding.unless(whole.said == split.said, "whole \(whole.said), split \(split.said)")
        try Finding.unless(whole.hasEnded, "no end: \(whole.said)")
        return whole.requestCount > 0
    }

    /// All that a server sends to a client: every split of the bytes gives the same response or refusal.
    static let httpResponses = Fuzzer(name: "http-responses", seeds: { HTTPSeeds.responses }) {
        input throws(Finding) in
        var whole = HTTPServerTalk()
        whole.receive(input[...])
        whole.end()
        var split = HTTPServerTalk()
        var random = FuzzRandom(input)
        for piece in random.split(input) { split.receive(piece) }
        split.end()
        try Finding.unless(whole.said == split.said, "whole \(whole.said), split \(split.said)")
        return whole.isResponse
    }

    /// Cookies of a request: what is read can be set again, and is then read as the same.
    static let cookies = Fuzzer(name: "cookies", seeds: { HTTPSeeds.cookies }) { input throws(Finding) in
        let text = String(decoding: input, as: UTF8.self)
        guard HeaderFields.isValidValue(text) else { return false }
        let cookies = Cookies(HeaderFields([("Cookie", text)]))
        try Finding.unless(cookies.count <= input.count / 2 + 1, "\(cookies.count) cookies")
        guard let value = cookies.onlyValue("a") else { return cookies.count > 0 }
        guard var cookie = SetCookie(name: "a", value: value) else { throw Finding("cannot be set: \(value)") }
        cookie.maxAge = .seconds(value.utf8.count)
        cookie.isForTLSOnly = value.isEmpty
        cookie.isHiddenFromScripts = value.isEmpty
        cookie.sameSite = .lax
        let pair = String(cookie.text.prefix { $0 != ";" })
        let again = Cookies(HeaderFields([("Cookie", pair)])).onlyValue("a")
        try Finding.unless(again == value, "\(value) is read as \(String(describing: again))")
        return true
    }
}

/// A client that has asked for something, and what it hears.
private struct HTTPServerTalk {
    private(set) var said = ""
    private(set) var isResponse = false
    private var reader = ResponseReader(bodyBytesMax: 64)

    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        guard said.isEmpty else { return }
        let result: Result<WholeResponse?, HTTPError> = bytes.withUnsafeBytes { bytes in
            do throws(HTTPError) { return .success(try reader.receive(bytes)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let response): note(response)
        case .failure(let error): said = error.code.rawValue
        }
    }

    mutating func end() {
        guard said.isEmpty else { return }
        note(reader.end())
        if said.isEmpty { said = "incomplete" }
    }

    private mutating func note(_ response: WholeResponse?) {
        guard let response else { return }
        isResponse = true
        said = "\(response.head.status.code) \(response.body)"
    }
}

/// A server that answers each request at once, and what it hears.
private struct HTTPClientTalk {
    private(set) var said: [String] = []
    private(set) var hasEnded = false
    private(set) var requestCount = 0
    private var machine = HTTPServerMachine(requestsMax: 4)
    private var body: [UInt8] = []

    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        guard !hasEnded else { return }
        bytes.withUnsafeBytes { machine.received($0) }
        turn()
    }

    mutating func end() {
        machine.peerEnded()
        turn()
    }

    private mutating func turn() {
        while !hasEnded, let step = machine.next() {
            switch step {
            case .request(let head):
                said.append("\(head.method) \(head.target)")
                machine.takeBody(bytesMax: 64)
            case .send: break
            case .body(let bytes): body += bytes
            case .bodyEnd:
                said.append("\(body)")
                requestCount += 1
                answer(.ok, length: requestCount % 2 == 0 ? nil : body.count)
            case .refuse(let error):
                said.append(error.code.rawValue)
                body = []
                answer(error.status, length: 0)
            case .end: hasEnded = true
            }
        }
    }

    private mutating func answer(_ status: HTTPStatus, length: Int?) {
        _ = machine.beginAnswer(ResponseHead(status: status), length: length)
        _ = machine.answerBytes(body)
        body = []
        if case .closes = machine.endAnswer() { hasEnded = true }
    }
}

private enum HTTPSeeds {
    static let connections = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcHEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na\r\nGET / HTTP/1.0\r\n\r\n",
    ].map { Array($0.utf8) }

    static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 1\r\nConnection: close\r\n\r\nbusy",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    ].map { Array($0.utf8) }

    static let cookies = ["a=b", "c=d; a=\"1\"; x=y=z", "a=1;a=1; b"].map { Array($0.utf8) }
}
