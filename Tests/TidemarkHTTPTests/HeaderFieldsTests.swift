// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

@Suite struct HeaderFieldsTests {
    @Test func `RFC 9110 5.6.1: lists of tokens may be spread over lines and hold empty elements`() {
        let fields = HeaderFields([("A", "x, ,Y\t,"), ("a", "z"), ("B", "two words"), ("C", "")])
        #expect(fields.tokens("A") == ["x", "Y", "z"])
        #expect(fields.tokens("B") == nil)
        #expect(fields.tokens("C") == [])
        #expect(fields.tokens("D") == [])
        #expect(fields.hasToken("a", "y"))
        #expect(!fields.hasToken("a", "w"))
        #expect(!fields.hasToken("B", "two"))
    }

    @Test func `RFC 9110 5.1: names compare without regard to case`() {
        let fields = HeaderFields([("Host", "a"), ("hOST", "b"), ("X", "c")])
        #expect(fields.values("HOST") == ["a", "b"])
        #expect(fields.onlyValue("host") == nil)
        #expect(fields.onlyValue("x") == "c")
        #expect(!fields.contains("Y"))
    }

    @Test func `a line break is no part of a value`() {
        #expect(HeaderFields.isValidValue("a\tb \u{e9}"))
        #expect(!HeaderFields.isValidValue("a\r\nB: c"))
        #expect(!HeaderFields.isValidValue("\u{0}"))
    }
}
