// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets

/// An `https` URL to which this server sends requests, or an `http` URL of this machine.
package struct HTTPAddress: Sendable, Hashable, CustomStringConvertible {
    /// Why a URL is no such address.
    package enum Problem: Error {
        case malformed
        /// It has no TLS, and names another machine.
        case plainBeyondLoopback
    }

    /// A DNS name or a numeric address, without brackets.
    package let host: String
    package let port: UInt16
    /// With TLS.
    package let isSecured: Bool
    /// Path and query; at least `/`.
    package let path: String

    /// Bytes of a URL.
    private static let bytesMax = 2_048

    /// - Parameter url: without user, password and fragment. Its port is 443 or 80 without another one.
    package init(_ url: String) throws(Problem) {
        let schemes = [("http://", false), ("https://", true)]
        guard url.utf8.count <= Self.bytesMax,
            let (scheme, isSecured) = schemes.first(where: { url.lowercased().hasPrefix($0.0) })
        else { throw .malformed }
        let rest = url.dropFirst(scheme.count)
        let authority = String(rest.prefix { $0 != "/" && $0 != "?" })
        let path = String(rest.dropFirst(authority.count))
        guard RequestTarget.isAuthority(authority), path.isEmpty || RequestTarget.isOriginForm(path) else {
            throw .malformed
        }
        let hasPort = authority.hasPrefix("[") ? authority.contains("]:") : authority.contains(":")
        guard let place = try? SocketAddress.split(hasPort ? authority : "\(authority):\(isSecured ? 443 : 80)"),
            place.port > 0
        else { throw .malformed }
        (host, port) = place
        self.isSecured = isSecured
        self.path = path.isEmpty ? "/" : path
        // NB: to which address `localhost` leads is checked when it is known (``HTTPClient``).
        let isHere = SocketAddress(numericHost: host, port: port)?.isLoopback ?? (host.lowercased() == "localhost")
        if !isSecured, !isHere { throw .plainBeyondLoopback }
    }

    /// The URL, with its port if that is not the scheme's.
    package var description: String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let port = port == (isSecured ? 443 : 80) ? "" : ":\(port)"
        return "\(isSecured ? "https" : "http")://\(host)\(port)\(path)"
    }
}
