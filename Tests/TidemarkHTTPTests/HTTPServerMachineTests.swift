// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

@Suite struct HTTPServerMachineTests {
    /// What a client sends before it ends its stream, and what comes of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let said: String

        init(_ name: String, _ text: String, _ said: String) {
            (self.name, self.text, self.said) = (name, text, said)
        }

        var testDescription: String { name }
    }

    private static func get(_ path: String, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
    }

    private static func post(_ fields: String, _ body: String) -> String {
        "POST / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\(body)"
    }

    private static let chunked = "Transfer-Encoding: chunked"

    static let served: [Case] = [
        Case("nothing", "", "end"),
        Case("one request", get("/a"), "GET /a [] end"),
        Case("pipelined", get("/a") + get("/b") + get("/c"), "GET /a [] GET /b [] GET /c [] end"),
        Case("a line break between requests", get("/a") + "\r\n" + get("/b"), "GET /a [] GET /b [] end"),
        Case("a body by its length", post("Content-Length: 3", "abc") + get("/b"), "POST / [abc] GET /b [] end"),
        Case(
            "a body that looks like a request", post("Content-Length: 4", "GET ") + get("/b"),
            "POST / [GET ] GET /b [] end"),
        Case("an empty body", post("Content-Length: 0", "") + get("/b"), "POST / [] GET /b [] end"),
        Case("chunks", post(chunked, "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n") + get("/b"), "POST / [abcd] GET /b [] end"),
        Case("no chunk", post(chunked, "0\r\n\r\n") + get("/b"), "POST / [] GET /b [] end"),
        Case("zeroes before a size", post(chunked, "0003\r\nabc\r\n000\r\n\r\n"), "POST / [abc] end"),
        Case(
            "extensions of chunks", post(chunked, "A;x=\"y\";z\r\n0123456789\r\n0;last\r\n\r\n"),
            "POST / [0123456789] end"),
        Case(
            "trailer fields", post(chunked, "1\r\na\r\n0\r\nX: y\r\nZ:\r\n\r\n") + get("/b"), "POST / [a] GET /b [] end"
        ),
        Case(
            "the longest body", post("Content-Length: 64", String(repeating: "a", count: 64)),
            "POST / [\(String(repeating: "a", count: 64))] end"),
        Case("the client wants to close", get("/a", "Connection: x, Close\r\n") + get("/b"), "GET /a [] closes"),
        Case("HTTP/1.0", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get("/b"), "GET /a [] closes"),
        Case("the stream ends in a head", get("/a") + "GET /b HTTP/1.1\r\nHo", "GET /a [] end"),
        Case("the stream ends in a body", post("Content-Length: 3", "ab"), "POST / end"),
        Case("the stream ends in a chunk", post(chunked, "3\r\nab"), "POST / end"),
        Case("the stream ends before the last chunk", post(chunked, "2\r\nab\r\n"), "POST / end"),
        Case("leave to send the body", post("Content-Length: 1\r\nExpect: 100-Continue", "a"), "POST / [a] end"),
    ]

    @Test(arguments: served)
    func `R-800: requests are taken one after another, however their bytes are split`(_ example: Case) {
        #expect(MachineRun.everySplit(example.text) == [example.said])
    }

    static let refused: [Case] = [
        Case("both lengths", post("Content-Length: 3\r\n\(chunked)", "0\r\n\r\n"), "ambiguousBody closes"),
        Case("both, the other way round", post("\(chunked)\r\nContent-Length: 3", "0\r\n\r\n"), "ambiguousBody closes"),
        Case("two lengths", post("Content-Length: 3\r\nContent-Length: 3", "abc"), "ambiguousBody closes"),
        Case("a list of lengths", post("Content-Length: 3, 3", "abc"), "ambiguousBody closes"),
        Case("a signed length", post("Content-Length: +3", "abc"), "ambiguousBody closes"),
        Case("a negative length", post("Content-Length: -1", ""), "ambiguousBody closes"),
        Case("a hexadecimal length", post("Content-Length: 0x3", "abc"), "ambiguousBody closes"),
        Case("no length", post("Content-Length:", ""), "ambiguousBody closes"),
        Case("a length beyond 64 bits", post("Content-Length: 18446744073709551616", ""), "ambiguousBody closes"),
        Case(
            "a coding that hides the length", post("Transfer-Encoding: chunked, identity", ""), "ambiguousBody closes"),
        Case("a coding with a vertical tab", post("Transfer-Encoding: \u{b}chunked", ""), "badCharacter closes"),
        Case("another coding", post("Transfer-Encoding: gzip", ""), "unsupportedTransferCoding closes"),
        Case("chunks in HTTP/1.0", "POST / HTTP/1.0\r\n\(chunked)\r\n\r\n0\r\n\r\n", "ambiguousBody closes"),
        Case("a space before the colon", post("Content-Length : 3", "abc"), "malformedField closes"),
        Case("a folded field", post("X: y\r\n Content-Length: 3", "abc"), "foldedField closes"),
        Case("a bare line feed in the head", "GET / HTTP/1.1\nHost: h\r\n\r\n", "bareLineBreak closes"),
        Case("junk after a body", post("Content-Length: 1", "abc\r\n\r\n"), "POST / [a] malformedRequestLine closes"),
        Case("no size", post(chunked, "\r\nabc"), "POST / malformedChunk closes"),
        Case("a size that is no number", post(chunked, "g\r\n"), "POST / malformedChunk closes"),
        Case("a size with a prefix", post(chunked, "0x3\r\nabc\r\n"), "POST / malformedChunk closes"),
        Case("a signed size", post(chunked, "+3\r\nabc\r\n"), "POST / malformedChunk closes"),
        Case("a space after a size", post(chunked, "3 \r\nabc\r\n"), "POST / malformedChunk closes"),
        Case("a space before a size", post(chunked, " 3\r\nabc\r\n"), "POST / malformedChunk closes"),
        Case("a size of 17 digits", post(chunked, "00000000000000003\r\nabc\r\n"), "POST / malformedChunk closes"),
        Case("a size that wraps around", post(chunked, "10000000000000003\r\nabc\r\n"), "POST / malformedChunk closes"),
        Case("a bare line feed after a size", post(chunked, "3\nabc\r\n"), "POST / malformedChunk closes"),
        Case(
            "a bare line feed in an extension", post(chunked, "3;a\nabc\r\n0\r\n\r\n"), "POST / malformedChunk closes"),
        Case("a bare return in an extension", post(chunked, "3;a\rb\r\nabc\r\n"), "POST / bareLineBreak closes"),
        Case("a chunk that is longer than its size", post(chunked, "3\r\nabcd\r\n"), "POST / malformedChunk closes"),
        Case("a bare line feed after a chunk", post(chunked, "3\r\nabc\n0\r\n\r\n"), "POST / malformedChunk closes"),
        Case("a bare return after a chunk", post(chunked, "3\r\nabc\rX"), "POST / bareLineBreak closes"),
        Case("a folded trailer", post(chunked, "0\r\nX: y\r\n z\r\n\r\n"), "POST / malformedChunk closes"),
        Case("a trailer without a colon", post(chunked, "0\r\nGET / HTTP/1.1\r\n\r\n"), "POST / malformedChunk closes"),
        Case(
            "a bare line feed in a trailer", post(chunked, "0\r\nX: y\nGET: x\r\n\r\n"), "POST / malformedChunk closes"),
        Case("a body that is too long", post("Content-Length: 65", ""), "POST / bodyTooLarge closes"),
        Case("the longest length", post("Content-Length: 18446744073709551615", "a"), "POST / bodyTooLarge closes"),
        Case(
            "a chunk that is too long", post(chunked, "41\r\n" + String(repeating: "a", count: 65)),
            "POST / bodyTooLarge closes"),
        Case(
            "chunks that are too long together",
            post(chunked, String(repeating: "20\r\n\(String(repeating: "a", count: 32))\r\n", count: 3)),
            "POST / bodyTooLarge closes"),
        Case("another expectation", get("/", "Expect: 200-ok\r\n"), "unknownExpectation closes"),
        Case(
            "two expectations", get("/", "Expect: 100-continue\r\nExpect: 100-continue\r\n"),
            "unknownExpectation closes"),
    ]

    @Test(arguments: refused)
    func `R-801: where a request ends is never in doubt, and after a doubt nothing is read`(_ example: Case) {
        // What follows would be a request of its own. It is never taken for one.
        #expect(MachineRun.everySplit(example.text + Self.get("/smuggled")) == [example.said])
    }

    @Test func `R-801: nothing of a long size line or trailer section is kept, and both have an end`() {
        let endless = [
            "1;" + String(repeating: "x", count: 9_000), "0\r\nX: " + String(repeating: "y", count: 9_000),
            "0\r\n" + String(repeating: "X: y\r\n", count: 2_000),
            "1;x" + String(repeating: "y", count: 8_180) + "\r\na\r\n1;" + String(repeating: "y", count: 40),
        ]
        for body in endless {
            var run = MachineRun()
            run.receive(Self.post(Self.chunked, body).utf8)
            #expect(run.said == ["POST /", "malformedChunk", "closes"], "\(body.prefix(12))")
        }
        // The smallest chunks are allowed.
        var run = MachineRun(bodyBytesMax: 10_000)
        run.receive(Self.post(Self.chunked, String(repeating: "1\r\na\r\n", count: 10_000) + "0\r\n\r\n").utf8)
        #expect(run.said.last == "[\(String(repeating: "a", count: 10_000))]")
    }

    @Test func `R-800: a connection has so many requests, and the last answer says so`() {
        let text = (0..<4).map { Self.get("/\($0)") }.joined()
        #expect(MachineRun.everySplit(text, requestsMax: 3) == ["GET /0 [] GET /1 [] GET /2 [] closes"])
    }

    @Test func `R-802: a client that waits gets leave to send its body once, if it is taken`() {
        let leave = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        let expecting = "Content-Length: 3\r\nExpect: 100-continue"
        var waiting = MachineRun()
        waiting.receive(Self.post(expecting, "").utf8)
        #expect(waiting.sent == leave)
        waiting.receive("ab".utf8)
        waiting.receive("c".utf8)
        #expect(waiting.sent == leave && waiting.said == ["POST /", "[abc]"])
        var chunks = MachineRun()
        chunks.receive(Self.post("\(Self.chunked)\r\nExpect: 100-continue", "").utf8)
        #expect(chunks.sent == leave)

        var hasSent = MachineRun()
        hasSent.receive(Self.post(expecting, "a").utf8)
        #expect(hasSent.sent.isEmpty)
        var tooLong = MachineRun(bodyBytesMax: 2)
        tooLong.receive(Self.post(expecting, "").utf8)
        #expect(tooLong.sent.isEmpty && tooLong.said == ["POST /", "bodyTooLarge", "closes"])
    }

    @Test func `R-802: who is refused before the body is read is answered, and the connection ends`() {
        var machine = HTTPServerMachine(requestsMax: 10)
        Self.receive(Self.post("Content-Length: 30", "GET /smuggled HTTP/1.1\r\n\r\n"), in: &machine)
        guard case .request? = machine.next() else {
            Issue.record("no request")
            return
        }
        let head = Self.text(machine.beginAnswer(ResponseHead(status: .forbidden), length: 0))
        #expect(head.hasPrefix("HTTP/1.1 403 ") && head.contains("Connection: close\r\n"))
        #expect(machine.next() == nil && !machine.wantsInput)
        #expect(machine.endAnswer() == .closes([]))
        #expect(machine.next() == nil && machine.awaits == .nothing)
    }

    // MARK: Answers

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func receive(_ text: String, in machine: inout HTTPServerMachine) {
        Array(text.utf8).withUnsafeBytes { machine.received($0) }
    }

    /// A machine whose request waits for its answer.
    private static func asked(_ text: String) -> HTTPServerMachine {
        var machine = HTTPServerMachine(requestsMax: 10)
        receive(text, in: &machine)
        guard case .request? = machine.next() else { return machine }
        machine.takeBody(bytesMax: 0)
        #expect(machine.next() == .bodyEnd)
        return machine
    }

    @Test(
        arguments: [
            (
                "GET / HTTP/1.1\r\nHost: h\r\n\r\n", nil, "Transfer-Encoding: chunked", "3\r\nabc\r\n1\r\nd\r\n",
                "0\r\n\r\n", false
            ),
            ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 4, "Content-Length: 4", "abcd", "", false),
            ("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 4, "Connection: close", "abcd", "", true),
            ("GET / HTTP/1.0\r\n\r\n", nil, "Connection: close", "abcd", "", true),
            ("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", 4, "Content-Length: 4", "", "", false),
            ("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", nil, "Transfer-Encoding: chunked", "", "", false),
        ] as [(String, Int?, String, String, String, Bool)])
    func `R-803: an answer says where it ends, in the way that its client understands`(
        _ request: String, _ length: Int?, _ field: String, _ body: String, _ end: String, _ closes: Bool
    ) {
        var machine = Self.asked(request)
        #expect(machine.awaits == .answer)
        let head = Self.text(machine.beginAnswer(ResponseHead(status: .ok), length: length))
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.contains("\(field)\r\n"), "\(head)")
        let sent = machine.answerBytes(Array("abc".utf8)) + machine.answerBytes([]) + machine.answerBytes([0x64])
        #expect(Self.text(sent) == body)
        let last = Array(end.utf8)
        #expect(machine.endAnswer() == (closes ? .closes(last) : .goesOn(last)))
        #expect(machine.awaits == (closes ? .nothing : .request))
    }

    @Test func `R-803: what has no content gets no length`() {
        for status in [HTTPStatus.noContent, .notModified] {
            var machine = Self.asked(Self.get("/"))
            let head = Self.text(machine.beginAnswer(ResponseHead(status: status), length: 0))
            #expect(!head.contains("Content-Length") && !head.contains("Transfer-Encoding"), "\(head)")
            #expect(machine.answerBytes([1]).isEmpty && machine.endAnswer() == .goesOn([]))
        }
    }

    @Test(arguments: [[2], [1, 1, 2], []])
    func `R-803: an answer that is shorter or longer than it said is broken`(_ pieces: [Int]) {
        var machine = Self.asked(Self.get("/"))
        _ = machine.beginAnswer(ResponseHead(status: .ok), length: 3)
        var sentCount = 0
        for count in pieces { sentCount += machine.answerBytes([UInt8](repeating: 1, count: count)).count }
        #expect(sentCount <= 3)
        #expect(machine.endAnswer() == .broken)
        #expect(machine.next() == nil)
    }

    @Test func `R-800: a client that sends far ahead is not read`() {
        var machine = Self.asked(Self.get("/"))
        #expect(machine.wantsInput)
        Self.receive(String(repeating: "a", count: HeadLimits().headBytesMax), in: &machine)
        #expect(!machine.wantsInput)
    }

    @Test
    func `R-804: a request that takes too long is answered, a HEAD without a body, and a later one is not awaited`() {
        var machine = HTTPServerMachine(requestsMax: 10)
        #expect(machine.awaits == .head)
        Self.receive("HEAD / HT", in: &machine)
        #expect(machine.next() == nil)
        machine.stopReading()
        _ = machine.beginAnswer(ResponseHead(status: .requestTimeout), length: 3)
        #expect(machine.answerBytes([1, 2, 3]).isEmpty && machine.endAnswer() == .closes([]))

        var later = Self.asked(Self.get("/"))
        _ = later.beginAnswer(ResponseHead(status: .ok), length: 0)
        #expect(later.endAnswer() == .goesOn([]) && later.awaits == .request)
        Self.receive("G", in: &later)
        #expect(later.next() == nil && later.awaits == .head)
    }
}
