// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets

/// An `https` URL to which this server sends requests, or an `http` URL of this machine.
package struct HTTPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a URL is not such an address.
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
        guard url.utf8.count <= Self.bytesMax, let parts = HTTPURL(url, portDefault: HTTPURL.portDefault) else {
            throw .malformed
        }
        (host, port, isSecured) = (parts.host, parts.port, parts.isSecured)
        path = parts.path.isEmpty ? "/" : parts.path
        // NB: the address to which `localhost` leads is checked once it is known (``HTTPClient``).
        let isHere = SocketAddress(numericHost: host, port: port)?.isLoopback ?? (host.lowercased() == "localhost")
        if !isSecured, !isHere { throw .plainBeyondLoopback }
    }

    /// The URL, with its port if that is not the scheme's.
    package var description: String {
        "\(isSecured ? "https" : "http")://\(HTTPURL.authority(host, port, isSecured: isSecured))\(path)"
    }
}
