// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct ShareURLsTests {
    @Test(
        arguments: [
            ("wss://sync.example.org", "https://sync.example.org/share/L"),
            ("wss://sync.example.org:8443/path?a=b#c", "https://sync.example.org:8443/share/L"),
            ("wss://user:secret@sync.example.org", "https://sync.example.org/share/L"),
            ("ws://127.0.0.1:8080", "http://127.0.0.1:8080/share/L"), ("wss://[::1]:1", "https://[::1]:1/share/L"),
            ("nonsense", "https://tidemark.invalid/share/L"), (nil, "https://tidemark.invalid/share/L"),
        ] as [(String?, String)])
    func `R-306: a share's URL names the configured server, and no secret but its own`(
        server: String?, expected: String
    ) {
        let urls = ShareURLs(of: server.flatMap { URL(string: $0) })
        #expect(urls.url(of: "L")?.absoluteString == expected)
        #expect(urls.url(of: "") == nil)
    }

    @Test(
        arguments: [
            ("https://a.example/share/L-_1", "L-_1"), ("https://a.example/L", "L"),
            ("https://a.example/share/L?x#y", "L"),
            ("https://a.example", nil), ("https://a.example/", nil),
        ] as [(String, String?)])
    func `R-306, R-332: of a URL nothing is read but what follows its last slash`(text: String, link: String?) throws {
        #expect(ShareURLs.link(in: try #require(URL(string: text))) == link)
    }

    @Test func `R-306: what was made is read`() throws {
        let url = try #require(ShareURLs.unknown.url(of: "abc-_DEF0123456789abcd"))
        #expect(ShareURLs.link(in: url) == "abc-_DEF0123456789abcd")
    }
}
