// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

@Suite struct CookiesTests {
    private func cookies(_ lines: String...) -> Cookies {
        Cookies(HeaderFields(lines.map { ("cookie", $0) }))
    }

    @Test func `R-805: cookies are read as RFC 6265 says, and what is none is left out`() {
        let read = cookies("a=1; B=\"x y\"; c=\"two\";d=;e = f; =g; h; i=j,k; l=\"m; n=o=p;  q=r  ")
        #expect(read.onlyValue("a") == "1")
        #expect(read.onlyValue("c") == "two")
        #expect(read.onlyValue("d") == "")
        #expect(read.onlyValue("n") == "o=p")
        #expect(read.onlyValue("q") == "r")
        for name in ["A", "B", "e", "", "h", "i", "l", "z"] { #expect(read.onlyValue(name) == nil, "\(name)") }
        #expect(read.count == 5)
        #expect(cookies().count == 0 && cookies("", ";;").count == 0)
    }

    @Test func `R-805: two values of one name are none`() {
        #expect(cookies("a=1; a=2").onlyValue("a") == nil)
        #expect(cookies("a=1", "a=2").onlyValue("a") == nil)
        #expect(cookies("a=1; b=2; a=1").onlyValue("a") == "1")
    }

    @Test func `R-805: a cookie is set for this host, over TLS, and out of reach of scripts and other sites`() throws {
        var cookie = try #require(SetCookie(name: "__Host-session", value: "abc"))
        #expect(cookie.text == "__Host-session=abc; Path=/; Secure; HttpOnly; SameSite=Strict")
        cookie.maxAge = .seconds(60)
        cookie.sameSite = .lax
        #expect(cookie.text == "__Host-session=abc; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax")
        var plain = try #require(SetCookie(name: "a", value: ""))
        (plain.path, plain.isForTLSOnly, plain.isHiddenFromScripts) = ("/x", false, false)
        plain.maxAge = .zero
        #expect(plain.text == "a=; Path=/x; Max-Age=0; SameSite=Strict")
    }

    @Test(arguments: [
        ("", "a"), ("a b", "c"), ("a=", "b"), ("a", "b;c"), ("a", "b c"), ("a", "\"b\""), ("a", "b\r\nc"), ("a", "é"),
    ])
    func `R-805: what would end a cookie cannot be in one`(_ name: String, _ value: String) {
        #expect(SetCookie(name: name, value: value) == nil)
    }
}
