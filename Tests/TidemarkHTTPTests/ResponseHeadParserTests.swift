// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

@Suite struct ResponseHeadParserTests {
    @Test(arguments: [
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 101, "Switching Protocols"),
        ("HTTP/1.1 200 \r\n\r\n", 200, ""),
        ("HTTP/1.1 200\r\n\r\n", 200, ""),
        ("HTTP/1.0 599 a  b\r\n\r\n", 599, "a  b"),
    ])
    func `RFC 9112 4: a response's parts are what was sent`(_ text: String, _ code: Int, _ reason: String) {
        for verdict in HeadInput.responses(text) {
            guard case .head(let head, let count) = verdict else {
                Issue.record("\(verdict)")
                return
            }
            #expect(count == text.utf8.count)
            #expect(head.status.code == code)
            #expect(head.status.reason == reason)
        }
    }

    @Test(arguments: [
        ("HTTP/1.1  200 OK\r\n\r\n", HTTPError.Code.malformedStatusLine),
        ("HTTP/1.1 20 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 2000\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 099 x\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 600 x\r\n\r\n", .malformedStatusLine),
        ("HTTP/2.0 200 x\r\n\r\n", .unsupportedVersion),
        ("SSH-2.0-OpenSSH\r\n", .malformedStatusLine),
        ("\r\n", .malformedStatusLine),
        ("HTTP/1.1 200 x\n", .bareLineBreak),
        ("HTTP/1.1 200 x\r\n a: b\r\n\r\n", .foldedField),
        ("HTTP/1.1 200 x\r\na : b\r\n\r\n", .malformedField),
        ("HTTP/1.1 200 \u{1}", .badCharacter),
    ])
    func `RFC 9112 4: what is no response is refused`(_ text: String, _ code: HTTPError.Code) {
        for verdict in HeadInput.responses(text) { #expect(verdict == .error(code)) }
    }

    @Test func `a printed response is read back the same`() {
        let head = ResponseHead(status: .upgradeRequired, fields: HeaderFields([("Upgrade", "websocket")]))
        let bytes = head.serialized()
        #expect(HeadInput.responses(String(decoding: bytes, as: UTF8.self))[0] == .head(head, bytes.count))
    }
}
