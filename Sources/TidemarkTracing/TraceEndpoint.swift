// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTransport

/// Where traces are sent: the URL of a collector that takes OTLP over HTTP.
package struct TraceEndpoint: Sendable, Equatable {
    /// The reason why a URL is not that of a collector.
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
        guard let parts = HTTPURL(url, portDefault: { _ in Self.portDefault }) else { throw .malformed }
        (host, port, isSecured) = (parts.host, parts.port, parts.isSecured)
        path = ["", "/"].contains(parts.path) ? Self.tracesPath : parts.path
        if !isSecured, let address = SocketAddress(numericHost: host, port: port), !address.isLoopback {
            throw .plainBeyondLoopback
        }
    }
}
