// SPDX-License-Identifier: Apache-2.0

/// The forms of a request target (RFC 9112 §3.2) and of an authority (RFC 3986 §3.2).
package enum RequestTarget {
    /// Whether `text` is an absolute path with an optional query, as a client asks of an origin server.
    package static func isOriginForm(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && isPathAndQuery(Substring(text))
    }

    /// Whether `text` is a target that `method` may have.
    package static func isValid(_ text: String, method: String) -> Bool {
        if method == "CONNECT" { return isAuthority(text, requiresPort: true) }
        if text == "*" { return method == "OPTIONS" }
        if isOriginForm(text) { return true }
        guard let rest = afterScheme(text) else { return false }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        return isAuthority(String(authority)) && isPathAndQuery(rest.dropFirst(authority.count))
    }

    /// Whether `text` is `host` or `host:port`, as in a Host field. An empty host is refused (RFC 9110 §4.2.1), and so
    /// is user information (RFC 9110 §4.2.4).
    package static func isAuthority(_ text: String, requiresPort: Bool = false) -> Bool {
        let bytes = Array(text.utf8)
        var host = bytes[...]
        var port: ArraySlice<UInt8>?
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            host = bytes[...end]
            let rest = bytes[(end + 1)...]
            guard rest.isEmpty || rest.first == Characters.colon else { return false }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = bytes.firstIndex(of: Characters.colon) {
            host = bytes[..<colon]
            port = bytes[(colon + 1)...]
        }
        guard isHost(host) else { return false }
        guard let port else { return !requiresPort }
        return isPort(port) && !(requiresPort && port.isEmpty)
    }

    /// The part after `http://` or `https://` (in any case) of an absolute-form target.
    static func afterScheme(_ text: String) -> Substring? {
        for scheme in ["http://", "https://"] {
            let end = text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count, limitedBy: text.endIndex)
            if let end, HeaderFields.isSame(String(text[..<end]), scheme) { return text[end...] }
        }
        return nil
    }

    /// `[/path][?query]` in RFC 3986's characters; a fragment is never sent.
    private static func isPathAndQuery(_ text: Substring) -> Bool {
        Characters.isPercentEncoded(text.utf8) { byte in
            Characters.isUnreservedOrDelimiter(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
                || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "@")
        }
    }

    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        guard host.first == UInt8(ascii: "[") else {
            return !host.isEmpty && Characters.isPercentEncoded(host, isAllowed: Characters.isUnreservedOrDelimiter)
        }
        return isIPv6Address(String(decoding: host.dropFirst().dropLast(), as: UTF8.self))
    }

    /// RFC 3986 §3.2.2: eight groups of hexadecimal digits. `::` may replace one or more of them, once. An IPv4 address
    /// may replace the last two.
    private static func isIPv6Address(_ text: String) -> Bool {
        let sides = text.split(separator: "::", omittingEmptySubsequences: false)
        guard sides.count <= 2 else { return false }
        var groups = sides.filter { !$0.isEmpty }
            .flatMap { $0.split(separator: ":", omittingEmptySubsequences: false) }
        var count = groups.count
        if let last = groups.last, text.hasSuffix(last), isIPv4Address(last) {
            groups.removeLast()
            count += 1
        }
        return (sides.count == 2 ? count <= 7 : count == 8)
            && groups.allSatisfy { (1...4).contains($0.utf8.count) && $0.utf8.allSatisfy(Characters.isHexDigit) }
    }

    private static func isIPv4Address(_ text: Substring) -> Bool {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { number in UInt8(number).map { "\($0)" == number } ?? false }
    }

    private static func isPort(_ digits: ArraySlice<UInt8>) -> Bool {
        guard digits.count <= 5, digits.allSatisfy(Characters.isDigit) else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 65_535
    }
}
