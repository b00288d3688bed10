// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets

/// Where traces are sent: the URL of a collector that takes OTLP over HTTP.
package struct TraceEndpoint: Sendable, Equatable {
    /// Why a URL is none of a collector.
    package enum Problem: Error {
        case malformed
        /// It is not on this machine, and has no TLS.
        case plainBeyondLoopback
    }

    package let host: String
    package let port: UInt16
    /// With TLS.
    package let isSecured: Bool
    /// The path to which spans are sent.
    package let path: String

    /// OTLP's port for HTTP.
    private static let portDefault: UInt16 = 4_318
    private static let tracesPath = "/v1/traces"

    /// - Parameter url: `http://127.0.0.1:4318` or `https://host`. With a path it is the whole URL; otherwise OTLP's own
    ///   path is appended. The port is 4318 without another one.
    package init(_ url: String) throws(Problem) {
        let schemes = [("http://", false), ("https://", true)]
        guard let (scheme, isSecured) = schemes.first(where: { url.lowercased().hasPrefix($0.0) }) else {
            throw .malformed
        }
        let rest = url.dropFirst(scheme.count)
        let authority = String(rest.prefix { $0 != "/" && $0 != "?" })
        let path = String(rest.dropFirst(authority.count))
        guard RequestTarget.isAuthority(authority), !path.hasPrefix("?"),
            path.isEmpty || RequestTarget.isOriginForm(path)
        else { throw .malformed }
        if let (host, port) = try? SocketAddress.split(authority), port > 0 {
            (self.host, self.port) = (host, port)
        } else {
            let isBare = !authority.contains(":") || authority.hasSuffix("]")
            guard isBare else { throw .malformed }
            (host, port) = (
                authority.hasPrefix("[") ? String(authority.dropFirst().dropLast()) : authority, Self.portDefault
            )
        }
        self.isSecured = isSecured
        self.path = path.isEmpty || path == "/" ? Self.tracesPath : path
        if !isSecured, let address = SocketAddress(numericHost: host, port: port), !address.isLoopback {
            throw .plainBeyondLoopback
        }
    }
}
