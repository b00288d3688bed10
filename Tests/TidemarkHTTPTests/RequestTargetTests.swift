// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP

@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("::", true), ("::1", true), ("1:2:3:4:5:6:7:8", true), ("1:2:3:4:5:6:7::", true), ("::2:3:4:5:6:7:8", true),
        ("1::8", true), ("FE80::aBcD", true), ("::ffff:192.0.2.1", true), ("1:2:3:4:5:6:192.0.2.1", true),
        ("", false), (":", false), (":::", false), ("1:2:3:4:5:6:7", false), ("1:2:3:4:5:6:7:8:9", false),
        ("1:2:3:4::5:6:7:8", false), ("1::2::3", false), ("12345::", false), ("g::", false), (":1::", false),
        ("1:2:3:4:5:6:7:192.0.2.1", false), ("192.0.2.1", false), ("192.0.2.1::", false), ("::192.0.2", false),
        ("::192.0.2.256", false), ("::192.0.2.01", false), ("::192.0.2.+1", false), ("::1%25eth0", false),
        ("1:\u{301}:2", false),
    ])
    func `RFC 3986 3.2.2: an address of version 6 has eight groups, or two colons for some of them`(
        _ address: String, _ isValid: Bool
    ) {
        #expect(RequestTarget.isAuthority("[\(address)]") == isValid)
        #expect(RequestTarget.isAuthority("[\(address)]:443", requiresPort: true) == isValid)
    }

    @Test(arguments: [
        ("h", true), ("h:", true), ("h:0", true), ("h:65535", true), ("192.0.2.1:80", true), ("a%2Fb", true),
        ("", false), (":80", false), ("h:65536", false), ("h:000080", false), ("h:-1", false), ("h:8 0", false),
        ("h:1:2", false), ("u@h", false), ("h/", false), ("a%2", false), ("größe", false), ("[::1", false),
        ("[::1]1", false), ("[::1]:x", false),
    ])
    func `RFC 9110 4.2: an authority has a host, and a port of 16 bits`(_ text: String, _ isValid: Bool) {
        #expect(RequestTarget.isAuthority(text) == isValid)
    }

    @Test func `RFC 9112 3.2.3: the target of CONNECT has a port`() {
        #expect(RequestTarget.isValid("h:1", method: "CONNECT"))
        for text in ["h", "h:", "/", "*", "http://h:1"] {
            #expect(!RequestTarget.isValid(text, method: "CONNECT"), "\(text)")
        }
    }

    @Test func `RFC 9112 3.2.1: a path begins with a slash, and has no fragment`() {
        for text in ["/", "//", "/a/b?c=/?:@", "/%C3%A9", "/?"] {
            #expect(RequestTarget.isOriginForm(text), "\(text)")
        }
        for text in ["", "a", "?a", "*", "/a#b", "/%", "/%2", "/%zz", "/a b", "/é", "/\u{0}", "/a\r\n"] {
            #expect(!RequestTarget.isOriginForm(text), "\(text)")
        }
    }
}
