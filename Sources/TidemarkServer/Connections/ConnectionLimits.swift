// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkTransport
internal import TidemarkWebSocket

/// The limits of connections, beside ``Limits``, as operators see them.
package struct ConnectionLimits: Sendable, Equatable {
    /// Connections of the server, as far as its process has descriptors for them.
    package let connectionsMax: Int
    /// The most connections of one account among these.
    package let connectionsPerAccountMax: Int
    /// The most connections without a credential among these.
    package let anonymousConnectionsMax: Int
    /// The same of one address. Nil: no bound.
    package let anonymousConnectionsPerAddressMax: Int?
    /// How long one of them may ask for nothing.
    package let anonymousIdleSeconds: Int
    /// Connections that have not said who they are.
    package let newcomersMax: Int
    /// The same of one address.
    package let newcomersPerAddressMax: Int
    /// How long it may take until a client has said who it is.
    package let helloSeconds: Int
    /// Bytes of one message.
    package let messageBytesMax: Int
    /// Memory of all requests under way.
    package let requestBytesUnderWayMax: Int

    /// Those of a server without options, with TLS.
    package static func standard(within limits: Limits) -> ConnectionLimits {
        ServerConfiguration(addresses: [], certificate: nil, databaseURL: "", limits: limits)
            .connectionLimits(isPlain: false)
    }
}

extension ServerConfiguration {
    /// The owners' shares of the connections.
    ///
    /// - Parameters:
    ///   - connectionsMax: how many there are.
    ///   - isPlain: without TLS all connections have the address of a proxy, unless ``proxies`` say who their clients are.
    func placeLimits(of connectionsMax: Int, isPlain: Bool) -> PlaceLimits {
        PlaceLimits(
            connectionsMax: connectionsMax, anonymousMax: anonymousConnectionsMax,
            anonymousPerAddressMax: anonymousPerAddress(isPlain: isPlain))
    }

    /// Connections of one account to the server. The account leaves most of them to others.
    var sessionsPerAccountMax: Int { connectionsPerAccountMax ?? max(64, transport.connectionsMax / 8) }

    /// The limits as operators see them.
    ///
    /// - Parameter isPlain: as for ``placeLimits(of:isPlain:)``.
    package func connectionLimits(isPlain: Bool) -> ConnectionLimits {
        let places = transport.places ?? placeLimits(of: transport.connectionsMax, isPlain: isPlain)
        return ConnectionLimits(
            connectionsMax: transport.connectionsMax, connectionsPerAccountMax: sessionsPerAccountMax,
            anonymousConnectionsMax: places.anonymousMax,
            anonymousConnectionsPerAddressMax: anonymousPerAddress(isPlain: isPlain),
            anonymousIdleSeconds: Int(anonymousIdleTimeout.components.seconds), newcomersMax: places.newcomersMax,
            newcomersPerAddressMax: places.newcomersPerAddressMax,
            helloSeconds: Int(helloTimeout.components.seconds),
            messageBytesMax: transport.message.messageBytesMax, requestBytesUnderWayMax: requestBytesUnderWayMax)
    }

    private func anonymousPerAddress(isPlain: Bool) -> Int? {
        isPlain && proxies.isEmpty ? nil : anonymousConnectionsPerAddressMax
    }
}
