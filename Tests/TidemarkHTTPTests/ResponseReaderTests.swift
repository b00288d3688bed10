// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

@Suite struct ResponseReaderTests {
    private enum Verdict: Equatable {
        case response(Int, String, keepsConnection: Bool)
        case error(HTTPError.Code)
        case incomplete
    }

    /// What a reader makes of a text that comes in pieces of that size.
    private func read(
        _ text: String, inPiecesOf size: Int, thenEnds: Bool = false, bodyBytesMax: Int = 100
    ) -> Verdict {
        var reader = ResponseReader(bodyBytesMax: bodyBytesMax)
        let bytes = Array(text.utf8)
        do {
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                if let response = try piece.withUnsafeBytes({ try reader.receive($0) }) { return verdict(response) }
            }
        } catch {
            return .error((error as? HTTPError)?.code ?? .badCharacter)
        }
        return thenEnds ? reader.end().map(verdict) ?? .incomplete : .incomplete
    }

    private func verdict(_ response: WholeResponse) -> Verdict {
        .response(
            response.head.status.code, String(decoding: response.body, as: UTF8.self),
            keepsConnection: response.keepsConnection)
    }

    private func expect(_ text: String, _ verdict: Verdict, thenEnds: Bool = false) {
        for size in [1, 2, 7, 1_000] {
            #expect(read(text, inPiecesOf: size, thenEnds: thenEnds) == verdict, "\(text) in pieces of \(size)")
        }
    }

    @Test func `R-907: a response is complete by its length, by its last chunk or by the end of the stream`() {
        expect("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", .response(200, "ok", keepsConnection: true))
        expect("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .response(200, "", keepsConnection: true))
        expect("HTTP/1.1 204 No Content\r\n\r\n", .response(204, "", keepsConnection: true))
        expect(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2;a=b\r\nok\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n",
            .response(200, "ok!", keepsConnection: true))
        expect("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\nbusy", .incomplete)
        expect(
            "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\nbusy", .response(503, "busy", keepsConnection: false),
            thenEnds: true)
        expect("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", .incomplete, thenEnds: true)
        expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", .incomplete, thenEnds: true)
        expect("HTTP/1.1 200 OK\r\nContent-", .incomplete, thenEnds: true)
    }

    @Test func `R-907: a connection is kept only if both sides agree where the response ends`() {
        let ends: [(String, String)] = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", "ok"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x, Close\r\n\r\nok", "ok"),
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"),
        ]
        for (text, body) in ends { expect(text, .response(200, body, keepsConnection: false)) }
        // More than the response, at once.
        let more = read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1", inPiecesOf: 1_000)
        #expect(more == .response(200, "ok", keepsConnection: false))
        expect("HTTP/1.1 101 Switching Protocols\r\n\r\n", .response(101, "", keepsConnection: false))
    }

    @Test func `R-907: interim responses are passed over, but not without end`() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\n"
        let last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        expect(interim + last, .response(200, "ok", keepsConnection: true))
        expect(String(repeating: interim, count: 8) + last, .response(200, "ok", keepsConnection: true))
        expect(String(repeating: interim, count: 9) + last, .error(.malformedStatusLine))
    }

    @Test(arguments: [
        ("Content-Length: 2\r\nContent-Length: 2", HTTPError.Code.ambiguousBody),
        ("Content-Length: 2, 2", .ambiguousBody),
        ("Content-Length: +2", .ambiguousBody),
        ("Content-Length: ", .ambiguousBody),
        ("Content-Length: 2\r\nTransfer-Encoding: chunked", .ambiguousBody),
        ("Transfer-Encoding: gzip, chunked", .unsupportedTransferCoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .unsupportedTransferCoding),
    ])
    func `I-7, R-907: a body whose end is in doubt is refused`(
        _ fields: String, _ code: HTTPError.Code
    ) {
        expect("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok", .error(code))
    }

    @Test func `I-7, R-907: of a body that is too long the beginning is read, and the connection ends`() throws {
        let (long, part) = (String(repeating: "x", count: 101), String(repeating: "x", count: 100))
        let cut = Verdict.response(200, part, keepsConnection: false)
        for length in ["101", "9223372036854775807", "99999999999999999999"] {
            expect("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n" + part, cut)
        }
        expect("HTTP/1.1 200 OK\r\n\r\n" + long, cut)
        expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + long, cut)
        expect("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + part, .response(200, part, keepsConnection: true))
        for (fields, body, isCut) in [
            ("Content-Length: 101\r\n", long, true), ("", long, true), ("Content-Length: 100\r\n", part, false),
        ] {
            var reader = ResponseReader(bodyBytesMax: 100)
            let response = try Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\(body)".utf8).withUnsafeBytes {
                try reader.receive($0)
            }
            #expect(response?.isCut == isCut, "\(fields)")
        }
        expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx", .error(.malformedChunk))
    }
}
