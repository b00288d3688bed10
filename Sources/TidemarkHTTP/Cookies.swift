// SPDX-License-Identifier: Apache-2.0

/// The cookies of a request (RFC 6265 §5.4).
///
/// A pair that RFC 6265 §4.1.1 does not allow is left out, and the others count, because other programs of the same
/// host may have set it.
package struct Cookies: Sendable {
    private let pairs: [(name: Substring, value: Substring)]

    package init(_ fields: HeaderFields) {
        pairs = fields.values("Cookie").flatMap { line in
            line.utf8.split(separator: UInt8(ascii: ";")).compactMap { Self.pair(Substring($0)) }
        }
    }

    package var count: Int { pairs.count }

    /// The value of the only cookie of that name. Names are case-sensitive.
    ///
    /// Nil also if there are two values: one of them may be another host's of the same domain, and a browser does not say
    /// which.
    package func onlyValue(_ name: String) -> String? {
        let values = pairs.filter { $0.name == name }.map(\.value)
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        return String(first)
    }

    private static func pair(_ text: Substring) -> (name: Substring, value: Substring)? {
        let text = HeaderFields.trimmed(text)
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = text[..<equals]
        var value = text[text.utf8.index(after: equals)...]
        let quote = UInt8(ascii: "\"")
        if value.utf8.count >= 2, value.utf8.first == quote, value.utf8.last == quote {
            value = value.dropFirst().dropLast()
        }
        guard Characters.isToken(String(name)), SetCookie.isValue(String(value)) else { return nil }
        return (name, value)
    }
}

/// A cookie that an answer sets: the value of one `Set-Cookie` field (RFC 6265 §4.1).
///
/// Without other settings only this host gets it, for all paths, over TLS alone, until the browser ends. Scripts do not
/// see it, and other sites' pages do not send it.
package struct SetCookie: Sendable {
    /// When pages of other sites send it.
    package enum SameSite: String, Sendable, CaseIterable {
        case strict = "Strict"
        case lax = "Lax"
    }

    package let name: String
    package let value: String
    package var path = "/"
    /// How long it lives; zero removes it. Nil: until the browser ends.
    package var maxAge: Duration?
    package var isForTLSOnly = true
    package var isHiddenFromScripts = true
    package var sameSite = SameSite.strict

    /// Nil if the name is not a token, or the value has a character that no cookie may have.
    package init?(name: String, value: String) {
        guard Characters.isToken(name), Self.isValue(value) else { return nil }
        self.name = name
        self.value = value
    }

    /// Whether all characters may be in a cookie's value: visible ASCII, except quotes, commas, semicolons and backslashes.
    fileprivate static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
            default: false
            }
        }
    }

    /// The field's value.
    ///
    /// - Precondition: the path is absolute and has no control characters and no semicolon. A name that begins with
    ///   `__Host-` promises TLS and the path `/`; browsers refuse the cookie otherwise.
    package var text: String {
        precondition(path.utf8.first == UInt8(ascii: "/") && path.utf8.allSatisfy(Self.isOfPath), "not a path")
        precondition(!name.hasPrefix("__Host-") || (isForTLSOnly && path == "/"), "no cookie of one host")
        var text = "\(name)=\(value); Path=\(path)"
        if let maxAge { text += "; Max-Age=\(max(0, maxAge.components.seconds))" }
        if isForTLSOnly { text += "; Secure" }
        if isHiddenFromScripts { text += "; HttpOnly" }
        return text + "; SameSite=\(sameSite.rawValue)"
    }

    private static func isOfPath(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: ";")
    }
}
