// SPDX-License-Identifier: Apache-2.0

/// A request without its body (RFC 9112 §3).
package struct RequestHead: Equatable, Sendable {
    /// How the body that follows is delimited (RFC 9112 §6.3).
    package enum Body: Equatable, Sendable {
        case none
        case length(UInt64)
        case chunked
    }

    /// A token; case-sensitive.
    package var method: String
    /// As it arrived, for example `/path?query`, `http://host/path`, `*`.
    package var target: String
    package var version: HTTPVersion
    package var fields: HeaderFields
    /// How the body is delimited, according to the fields; never ambiguous.
    package var body: Body

    package init(
        method: String, target: String, version: HTTPVersion = .http11, fields: HeaderFields, body: Body = .none
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.body = body
    }

    /// The target's path without its query, percent-encoding kept; `*` for the asterisk form, empty for CONNECT.
    package var path: String {
        var rest = Substring(target)
        if !target.utf8.starts(with: "/".utf8), let scheme = RequestTarget.afterScheme(target) {
            guard let slash = scheme.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
            rest = scheme[slash...]
            if rest.first == "?" { return "/" }
        } else if method == "CONNECT" {
            return ""
        }
        return String(rest.prefix { $0 != "?" })
    }

    /// The head as bytes, with the empty line that ends it. Method and target must be valid; otherwise it is our own
    /// mistake. Check a target from outside with ``RequestTarget/isOriginForm(_:)`` first.
    package func serialized() -> [UInt8] {
        precondition(Characters.isToken(method), "not a method")
        precondition(RequestTarget.isValid(target, method: method), "not a request target")
        var text = "\(method) \(target) \(version.text)\r\n"
        fields.print(into: &text)
        return Array(text.utf8)
    }
}

extension HeaderFields {
    /// The lines and the empty line that ends a head.
    func print(into text: inout String) {
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        text += "\r\n"
    }
}
