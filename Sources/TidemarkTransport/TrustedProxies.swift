// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
package import TidemarkSockets

/// The proxies that a listener believes when they say who their client is.
package struct TrustedProxies: Sendable {
    /// How a proxy says it.
    package enum Way: Sendable {
        /// By the PROXY protocol, before TLS. Each connection from a proxy must begin with it.
        case header
        /// By `X-Forwarded-For`, in a request without TLS.
        case field
    }

    private let networks: [AddressNetwork]
    private let way: Way

    /// - Parameter networks: nobody else is believed.
    package init(_ networks: [AddressNetwork] = [], by way: Way = .header) {
        self.networks = networks
        self.way = way
    }

    /// Whether a connection from this peer must begin with a proxy's header.
    func sendsHeader(_ peer: SocketAddress) -> Bool { way == .header && has(peer) }

    /// Whether it is one of the proxies.
    func has(_ peer: SocketAddress) -> Bool { networks.contains { $0.contains(peer) } }

    /// The sender of a request.
    enum Sender: Equatable {
        /// The connected peer.
        case peer
        case client(SocketAddress)
        /// A proxy names nobody who could be a client.
        case unreadable
    }

    /// - Parameter peer: the connected peer.
    func sender(of fields: HeaderFields, from peer: SocketAddress) -> Sender {
        guard way == .field, has(peer) else { return .peer }
        // Each proxy adds the address of its peer at the end. The text before it came from the client, who may write
        // what it likes.
        guard let line = fields.values("X-Forwarded-For").last else { return .peer }
        let last = line.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        return Self.address(HeaderFields.trimmed(last)).map { .client($0) } ?? .unreadable
    }

    /// `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]`, and both forms with a port.
    private static func address(_ text: String) -> SocketAddress? {
        if let address = SocketAddress(numericHost: text, port: 0) { return address }
        if text.hasPrefix("["), text.hasSuffix("]") {
            let host = String(text.dropFirst().dropLast())
            return host.utf8.contains(UInt8(ascii: ":")) ? SocketAddress(numericHost: host, port: 0) : nil
        }
        return try? SocketAddress(parsing: text)
    }
}
