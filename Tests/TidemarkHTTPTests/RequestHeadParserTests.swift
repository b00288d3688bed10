// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

@Suite struct RequestHeadParserTests {
    @Test func `RFC 9112: a request's parts are what was sent`() throws {
        let text = "GET /a/b?c=%20d HTTP/1.1\r\nHost: example.org:8443\r\nX-Empty:\r\nx-Two: \t 1  2 \t\r\n\r\n"
        let expected = RequestHead(
            method: "GET", target: "/a/b?c=%20d",
            fields: HeaderFields([("Host", "example.org:8443"), ("X-Empty", ""), ("x-Two", "1  2")]))
        for verdict in HeadInput.requests(text) { #expect(verdict == .head(expected, text.utf8.count)) }
        for verdict in HeadInput.requests(text + "GET / junk\n\u{0}") {
            #expect(verdict == .head(expected, text.utf8.count))
        }
        #expect(expected.path == "/a/b")
        #expect(expected.fields.values("HOST") == ["example.org:8443"])
    }

    /// Start line and fields (each line gets its CR LF, and the head its empty line) and what is to come of them.
    struct Case: Sendable, CustomTestStringConvertible {
        let lines: [String]
        let error: HTTPError.Code?
        let name: String

        init(_ name: String, _ lines: String..., error: HTTPError.Code? = nil) {
            self.lines = lines
            self.error = error
            self.name = name
        }

        var testDescription: String { name }
        var text: String { lines.map { $0 + "\r\n" }.joined() + "\r\n" }
    }

    static let host = "Host: h"

    static let accepted: [Case] = [
        Case("plain", "GET / HTTP/1.1", host),
        Case("one empty line before", "", "GET / HTTP/1.1", host),
        Case("HTTP/1.0 needs no Host", "GET / HTTP/1.0"),
        Case("a later minor version", "GET / HTTP/1.9", host),
        Case("unknown method", "BREW / HTTP/1.1", host),
        Case("absolute form", "GET http://example.org/x?y HTTP/1.1", host),
        Case("absolute form without path", "GET https://example.org HTTP/1.1", host),
        Case("asterisk form", "OPTIONS * HTTP/1.1", host),
        Case("authority form", "CONNECT h:443 HTTP/1.1", host),
        Case("IPv6 host", "GET / HTTP/1.1", "Host: [::1]:8080"),
        Case("IPv6 host of all groups", "GET / HTTP/1.1", "Host: [1:22:333:4444:a:B:0:0]"),
        Case("IPv6 host of none", "GET / HTTP/1.1", "Host: [::]"),
        Case("IPv6 host with a gap at its end", "GET / HTTP/1.1", "Host: [1:2:3:4:5:6:7::]"),
        Case("IPv6 host with a gap in it", "GET / HTTP/1.1", "Host: [fe80::1:2]"),
        Case("IPv6 host that ends in IPv4", "GET / HTTP/1.1", "Host: [::ffff:192.0.2.255]"),
        Case("IPv6 host of six groups and IPv4", "GET / HTTP/1.1", "Host: [1:2:3:4:5:6:0.0.0.0]"),
        Case("host with empty port", "GET / HTTP/1.1", "Host: h:"),
        Case("percent-encoded host", "GET / HTTP/1.1", "Host: a%41b"),
        Case("every character of a path", "GET /-._~!$&'()*+,;=:@%aF/?/?: HTTP/1.1", host),
        Case("every character of a name", "GET / HTTP/1.1", host, "!#$%&'*+-.^_`|~aZ09: x"),
        Case("value beyond ASCII", "GET / HTTP/1.1", host, "X: \u{e9}\tb"),
        Case("length 0", "POST / HTTP/1.1", host, "Content-Length: 0"),
        Case("length", "POST / HTTP/1.1", host, "Content-Length: 18446744073709551615"),
        Case("chunked", "POST / HTTP/1.1", host, "Transfer-Encoding: CHUNKED"),
    ]

    static let refused: [Case] = [
        Case("two empty lines before", "", "", "GET / HTTP/1.1", host, error: .malformedRequestLine),
        Case("no target", "GET HTTP/1.1", host, error: .malformedRequestLine),
        Case("HTTP/0.9", "GET /", error: .malformedRequestLine),
        Case("only a method", "GET", error: .malformedRequestLine),
        Case("leading space", " GET / HTTP/1.1", host, error: .malformedRequestLine),
        Case("two spaces first", "GET  / HTTP/1.1", host, error: .invalidTarget),
        Case("two spaces last", "GET /  HTTP/1.1", host, error: .invalidTarget),
        Case("space at the end", "GET / HTTP/1.1 ", host, error: .malformedRequestLine),
        Case("tab as separator", "GET\t/\tHTTP/1.1", host, error: .malformedRequestLine),
        Case("space in the target", "GET /a b HTTP/1.1", host, error: .invalidTarget),
        Case("no method token", "G(T / HTTP/1.1", host, error: .malformedRequestLine),
        Case("version in lower case", "GET / http/1.1", host, error: .malformedRequestLine),
        Case("version with two digits", "GET / HTTP/1.10", host, error: .malformedRequestLine),
        Case("version without minor", "GET / HTTP/1", host, error: .malformedRequestLine),
        Case("HTTP/2.0", "GET / HTTP/2.0", host, error: .unsupportedVersion),
        Case("HTTP/0.9 spelled out", "GET / HTTP/0.9", host, error: .unsupportedVersion),
        Case("relative target", "GET a HTTP/1.1", host, error: .invalidTarget),
        Case("fragment", "GET /a#b HTTP/1.1", host, error: .invalidTarget),
        Case("backslash", "GET /a\\b HTTP/1.1", host, error: .invalidTarget),
        Case("quotes", "GET /\"a\" HTTP/1.1", host, error: .invalidTarget),
        Case("half a percent triplet", "GET /%4 HTTP/1.1", host, error: .invalidTarget),
        Case("no hex digits", "GET /%zz HTTP/1.1", host, error: .invalidTarget),
        Case("target beyond ASCII", "GET /\u{e9} HTTP/1.1", host, error: .invalidTarget),
        Case("asterisk with GET", "GET * HTTP/1.1", host, error: .invalidTarget),
        Case("CONNECT without port", "CONNECT h HTTP/1.1", host, error: .invalidTarget),
        Case("CONNECT to a path", "CONNECT / HTTP/1.1", host, error: .invalidTarget),
        Case("another scheme", "GET ftp://h/ HTTP/1.1", host, error: .invalidTarget),
        Case("scheme without host", "GET http:///x HTTP/1.1", host, error: .invalidTarget),
        Case("user in the authority", "GET http://u@h/ HTTP/1.1", host, error: .invalidTarget),
        Case("no Host", "GET / HTTP/1.1", error: .missingHost),
        Case("two Hosts", "GET / HTTP/1.1", host, host, error: .invalidHost),
        Case("two Hosts in HTTP/1.0", "GET / HTTP/1.0", host, host, error: .invalidHost),
        Case("empty Host", "GET / HTTP/1.1", "Host:", error: .invalidHost),
        Case("Host with a path", "GET / HTTP/1.1", "Host: h/x", error: .invalidHost),
        Case("Host with a user", "GET / HTTP/1.1", "Host: u@h", error: .invalidHost),
        Case("list of Hosts", "GET / HTTP/1.1", "Host: a b", error: .invalidHost),
        Case("port no number", "GET / HTTP/1.1", "Host: h:8x", error: .invalidHost),
        Case("port too great", "GET / HTTP/1.1", "Host: h:65536", error: .invalidHost),
        Case("two ports", "GET / HTTP/1.1", "Host: h:1:2", error: .invalidHost),
        Case("open bracket", "GET / HTTP/1.1", "Host: [::1", error: .invalidHost),
        Case("something after the bracket", "GET / HTTP/1.1", "Host: [::1]x", error: .invalidHost),
        Case("IPv6 host of seven groups", "GET / HTTP/1.1", "Host: [1:2:3:4:5:6:7]", error: .invalidHost),
        Case("IPv6 host of nine groups", "GET / HTTP/1.1", "Host: [1:2:3:4:5:6:7:8:9]", error: .invalidHost),
        Case("IPv6 host of eight groups and a gap", "GET / HTTP/1.1", "Host: [1:2:3:4::5:6:7:8]", error: .invalidHost),
        Case("IPv6 host with two gaps", "GET / HTTP/1.1", "Host: [1::2::3]", error: .invalidHost),
        Case("IPv6 host of colons", "GET / HTTP/1.1", "Host: [:::]", error: .invalidHost),
        Case("IPv6 host with half a gap", "GET / HTTP/1.1", "Host: [:1:2:3:4:5:6:7]", error: .invalidHost),
        Case("IPv6 host with a long group", "GET / HTTP/1.1", "Host: [12345::1]", error: .invalidHost),
        Case("IPv6 host with a letter beyond f", "GET / HTTP/1.1", "Host: [::g]", error: .invalidHost),
        Case("IPv6 host that begins with IPv4", "GET / HTTP/1.1", "Host: [192.0.2.1::]", error: .invalidHost),
        Case("IPv6 host with bad IPv4", "GET / HTTP/1.1", "Host: [::192.0.2.256]", error: .invalidHost),
        Case("IPv6 host with IPv4 of zeroes before", "GET / HTTP/1.1", "Host: [::192.0.2.01]", error: .invalidHost),
        Case("IPv4 in brackets", "GET / HTTP/1.1", "Host: [192.0.2.1]", error: .invalidHost),
        Case("only a port", "GET / HTTP/1.1", "Host: :80", error: .invalidHost),
        Case("space before the colon", "GET / HTTP/1.1", "Host : h", error: .malformedField),
        Case("no colon", "GET / HTTP/1.1", host, "nonsense", error: .malformedField),
        Case("no name", "GET / HTTP/1.1", host, ": x", error: .malformedField),
        Case("name beyond ASCII", "GET / HTTP/1.1", host, "\u{e9}: x", error: .malformedField),
        Case("folded field", "GET / HTTP/1.1", host, "X: a", " b", error: .foldedField),
        Case("folded by a tab", "GET / HTTP/1.1", host, "\tb: c", error: .foldedField),
        Case("space before the first field", "GET / HTTP/1.1", " Host: h", error: .foldedField),
        Case("NUL in a value", "GET / HTTP/1.1", host, "X: a\u{0}b", error: .badCharacter),
        Case("DEL in a value", "GET / HTTP/1.1", host, "X: \u{7F}", error: .badCharacter),
        Case("a TLS hello", "\u{16}\u{3}\u{1}", error: .badCharacter),
        Case(
            "length and coding", "POST / HTTP/1.1", host, "Content-Length: 3", "Transfer-Encoding: chunked",
            error: .ambiguousBody),
        Case(
            "two equal lengths", "POST / HTTP/1.1", host, "Content-Length: 3", "Content-Length: 3",
            error: .ambiguousBody),
        Case("list of lengths", "POST / HTTP/1.1", host, "Content-Length: 3, 3", error: .ambiguousBody),
        Case("negative length", "POST / HTTP/1.1", host, "Content-Length: -1", error: .ambiguousBody),
        Case("signed length", "POST / HTTP/1.1", host, "Content-Length: +1", error: .ambiguousBody),
        Case("hexadecimal length", "POST / HTTP/1.1", host, "Content-Length: 0x1", error: .ambiguousBody),
        Case("empty length", "POST / HTTP/1.1", host, "Content-Length:", error: .ambiguousBody),
        Case(
            "length past 64 bits", "POST / HTTP/1.1", host, "Content-Length: 18446744073709551616",
            error: .ambiguousBody),
        Case("coding in HTTP/1.0", "POST / HTTP/1.0", "Transfer-Encoding: chunked", error: .ambiguousBody),
        Case("coding not last", "POST / HTTP/1.1", host, "Transfer-Encoding: chunked, gzip", error: .ambiguousBody),
        Case("other coding", "POST / HTTP/1.1", host, "Transfer-Encoding: gzip", error: .unsupportedTransferCoding),
        Case(
            "two codings", "POST / HTTP/1.1", host, "Transfer-Encoding: gzip, chunked",
            error: .unsupportedTransferCoding),
        Case(
            "chunked twice", "POST / HTTP/1.1", host, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked",
            error: .unsupportedTransferCoding),
        Case("empty coding", "POST / HTTP/1.1", host, "Transfer-Encoding:", error: .ambiguousBody),
        Case("malformed coding", "POST / HTTP/1.1", host, "Transfer-Encoding: x chunked", error: .ambiguousBody),
    ]

    @Test(arguments: accepted)
    func `RFC 9112: what the grammar allows is read, in any split`(_ example: Case) {
        for verdict in HeadInput.requests(example.text) {
            guard case .head(let head, let count) = verdict else {
                Issue.record("\(example.name): \(verdict)")
                return
            }
            #expect(count == example.text.utf8.count)
            #expect(example.lines.contains { $0.hasPrefix(head.method + " " + head.target) })
        }
    }

    @Test(arguments: refused)
    func `RFC 9112: what two servers might read differently is refused, in any split`(_ example: Case) throws {
        let error = try #require(example.error)
        for verdict in HeadInput.requests(example.text) { #expect(verdict == .error(error), "\(example.name)") }
    }

    @Test(arguments: ["GET / HTTP/1.1\n", "GET / HTTP/1.1\rX", "GET / HTTP/1.1\r\nHost: h\n", "\n", "\r\r\n"])
    func `RFC 9112 2.2: a bare CR or LF is refused`(_ text: String) {
        for verdict in HeadInput.requests(text) { #expect(verdict == .error(.bareLineBreak)) }
    }

    @Test func `I-7: a head beyond its limits is refused before it is complete`() {
        var limits = HeadLimits()
        limits.startLineBytesMax = 40
        limits.headBytesMax = 100
        limits.fieldCountMax = 3
        let fits = "GET /" + String(repeating: "a", count: 24) + " HTTP/1.1\r\n"
        #expect(fits.utf8.count == 40)
        for verdict in HeadInput.requests(fits + "Host: h\r\n\r\n", limits: limits) {
            guard case .head = verdict else {
                Issue.record("\(verdict)")
                return
            }
        }
        for verdict in HeadInput.requests("GET /" + String(repeating: "a", count: 36), limits: limits) {
            #expect(verdict == .error(.targetTooLong))
        }
        let long = "GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: 73)
        for verdict in HeadInput.requests(long, limits: limits) { #expect(verdict == .error(.headTooLarge)) }
        let many = "GET / HTTP/1.1\r\nHost: h\r\na: b\r\nc: d\r\ne: f\r\n"
        for verdict in HeadInput.requests(many, limits: limits) { #expect(verdict == .error(.tooManyFields)) }
    }

    @Test func `I-6: no corruption of any byte breaks the parser`() {
        let bytes = Array("GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n".utf8)
        for position in bytes.indices {
            for value in UInt8.min...UInt8.max {
                var changed = bytes
                changed[position] = value
                var parser = RequestHeadParser()
                _ = try? changed.withUnsafeBytes { try parser.parse($0) }
            }
        }
    }

    @Test(arguments: [
        (HTTPError.Code.invalidHost, 400), (.targetTooLong, 414), (.tooManyFields, 431), (.headTooLarge, 431),
        (.unsupportedVersion, 505), (.unsupportedTransferCoding, 501), (.bareLineBreak, 400),
        (.malformedChunk, 400), (.bodyTooLarge, 413), (.unknownExpectation, 417),
    ])
    func `RFC 9110 15: each error has its status`(_ code: HTTPError.Code, _ status: Int) {
        #expect(HTTPError(code).status.code == status)
    }

    @Test func `RFC 9112 6.3: the body is known from the fields`() throws {
        let bodies: [(String, RequestHead.Body)] = [
            ("X: y", .none), ("Content-Length: 0", .none), ("Content-Length: 7", .length(7)),
            ("Transfer-Encoding: chunked", .chunked),
        ]
        for (field, body) in bodies {
            let text = "POST / HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n"
            guard case .head(let head, _) = HeadInput.requests(text)[0] else {
                Issue.record("\(field)")
                return
            }
            #expect(head.body == body)
        }
    }

    @Test func `RFC 9112 3.2: the path of every form of target`() {
        let paths = [
            ("/a?b/c", "GET", "/a"), ("/", "GET", "/"), ("http://h/a?b", "GET", "/a"), ("http://h", "GET", "/"),
            ("HTTPS://h?b", "GET", "/"), ("*", "OPTIONS", "*"), ("h:1", "CONNECT", ""),
        ]
        for (target, method, path) in paths {
            #expect(RequestHead(method: method, target: target, fields: HeaderFields()).path == path)
        }
    }

    @Test func `a printed request is read back the same`() {
        let head = RequestHead(
            method: "GET", target: "/x?y", fields: HeaderFields([("Host", "h:1"), ("X", "a, b"), ("X", "")]))
        let bytes = head.serialized()
        #expect(HeadInput.requests(String(decoding: bytes, as: UTF8.self))[0] == .head(head, bytes.count))
    }
}
