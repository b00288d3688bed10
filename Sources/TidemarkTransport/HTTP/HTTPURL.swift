// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets

/// The parts of an `http` or `https` URL without user, password and fragment.
package struct HTTPURL: Sendable, Hashable {
    /// With TLS.
    package let isSecured: Bool
    /// A DNS name or a numeric address, without brackets.
    package let host: String
    /// Not 0.
    package let port: UInt16
    /// Path and query; empty if the URL has neither.
    package let path: String

    /// Nil if the text is not such a URL.
    ///
    /// - Parameter portDefault: the port of a URL without one, with TLS or without.
    package init?(_ text: String, portDefault: (_ isSecured: Bool) -> UInt16) {
        let schemes = [("http://", false), ("https://", true)]
        guard let (scheme, isSecured) = schemes.first(where: { text.lowercased().hasPrefix($0.0) }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        let authority = String(rest.prefix { $0 != "/" && $0 != "?" })
        let path = String(rest.dropFirst(authority.count))
        guard RequestTarget.isAuthority(authority), path.isEmpty || RequestTarget.isOriginForm(path) else { return nil }
        let hasPort = authority.hasPrefix("[") ? authority.contains("]:") : authority.contains(":")
        let place = hasPort ? authority : "\(authority):\(portDefault(isSecured))"
        guard let (host, port) = try? SocketAddress.split(place), port > 0 else { return nil }
        self.isSecured = isSecured
        self.host = host
        self.port = port
        self.path = path
    }

    /// Host and port, as in the Host field. The scheme's default port is left out (RFC 9110 §7.2).
    static func authority(_ host: String, _ port: UInt16, isSecured: Bool) -> String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == portDefault(isSecured: isSecured) ? host : "\(host):\(port)"
    }

    static func portDefault(isSecured: Bool) -> UInt16 { isSecured ? 443 : 80 }
}
