// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkServer

@Suite struct NoticeBusSettingsTests {
    @Test func `R-874: a bus has one or several servers, and what its subjects begin with`() throws {
        let one = try NoticeBusSettings("nats://127.0.0.1")
        #expect(one.places == [.init(host: "127.0.0.1", port: 4_222)] && !one.isSecured && one.prefix == "tidemark")
        let several = try NoticeBusSettings("TLS://a.example:4223/prod.notes , tls://b.example/prod.notes")
        #expect(several.places == [.init(host: "a.example", port: 4_223), .init(host: "b.example", port: 4_222)])
        #expect(several.isSecured && several.prefix == "prod.notes")
        #expect(try NoticeBusSettings("nats://[::1]:5/").places == [.init(host: "::1", port: 5)])
        #expect(try !NoticeBusSettings("nats://localhost:4222").isSecured)
    }

    @Test(arguments: [
        ("", NoticeBusSettings.Problem.malformed("")), ("127.0.0.1:4222", .malformed("127.0.0.1:4222")),
        ("nats://", .malformed("nats://")), ("nats://a:0", .malformed("nats://a:0")),
        ("redis://a", .schemeUnknown("redis")), ("http://a", .schemeUnknown("http")),
        ("tls://user:secret@a", .hasSecret), ("tls://token@a", .hasSecret),
        ("nats://10.0.0.7:4222", .plainBeyondLoopback("10.0.0.7")), ("tls://a,nats://127.0.0.1", .different),
        ("tls://a/x,tls://b/y", .different), ("tls://a/x.*", .malformed("tls://a/x.*")),
        ("tls://a/x%20y", .malformed("tls://a/x%20y")), ("tls://a/x..y", .malformed("tls://a/x..y")),
        ("tls://a/x?y", .malformed("tls://a/x?y")), ("tls://a,", .malformed("")),
    ])
    func `R-874: other texts are refused, and said why`(text: String, problem: NoticeBusSettings.Problem) {
        #expect(throws: problem) { try NoticeBusSettings(text) }
    }

    @Test func `R-874, I-7: a list has at most sixteen servers, and a prefix at most 64 bytes`() {
        let list = Array(repeating: "tls://a", count: 17).joined(separator: ",")
        #expect(throws: NoticeBusSettings.Problem.malformed(list)) { try NoticeBusSettings(list) }
        let long = "tls://a/" + String(repeating: "x", count: 65)
        #expect(throws: NoticeBusSettings.Problem.malformed(long)) { try NoticeBusSettings(long) }
    }
}
