// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkHTTP
package import TidemarkSockets
package import TidemarkTLS
package import TidemarkWebSocket

/// Opens connections to servers.
package enum TransportClient {
    /// The server to connect to, and the request to send.
    package struct Target: Sendable {
        /// The DNS name or numeric address for which the server's certificate must be valid.
        package var host: String
        package var port: UInt16
        /// Path and query, as in the URL. It must be valid by ``RequestTarget/isOriginForm(_:)``.
        package var path: String
        /// Nil for no TLS (`ws://`). Then the host must be this machine: other addresses are not connected to.
        package var tls: TLSContext?
        /// In order of preference. If there are any, the server must choose one.
        package var subprotocols: [String]
        /// Nil to offer no compression.
        package var deflate: DeflateSettings?
        /// Further fields of the request, such as User-Agent.
        package var fields: HeaderFields

        package init(
            host: String, port: UInt16, path: String = "/", tls: TLSContext?, subprotocols: [String] = [],
            deflate: DeflateSettings? = nil, fields: HeaderFields = HeaderFields()
        ) {
            self.host = host
            self.port = port
            self.path = path
            self.tls = tls
            self.subprotocols = subprotocols
            self.deflate = deflate
            self.fields = fields
        }

        /// The Host field.
        var authority: String { HTTPURL.authority(host, port, isSecured: tls != nil) }
    }

    /// Begins to connect. Loop-confined. All failures are reported by ``MessageHandler/closed(_:_:)``, never before
    /// this returns.
    ///
    /// - Parameters:
    ///   - clockWithSleep: shows that the machine slept; nil for the loop's clock.
    ///   - lookUp: finds the host's addresses.
    @discardableResult
    package static func connect(
        on loop: EventLoop, to target: Target, limits: TransportLimits = TransportLimits(),
        clockWithSleep: (@Sendable () -> Duration)? = nil, lookUp: HostLookUp = Resolver.resolve(host:port:completion:),
        handler: any MessageHandler
    ) -> MessageConnection {
        precondition(loop.isCurrent)
        let handshake = ClientHandshake(
            host: target.authority, path: target.path, nonce: SecureRandom.bytes(16),
            subprotocols: target.subprotocols, deflate: target.deflate, fields: target.fields)
        let group = ConnectionGroup(loop: loop, limits: limits, clockWithSleep: clockWithSleep)
        let opening = Opening(.client(ResponseHeadParser(limits: limits.head), handshake, target))
        let connection = MessageConnection(group: group, role: .client, phase: .connecting, opening: opening)
        connection.handler = handler
        group.add(connection)
        lookUp(target.host, target.port) { result in
            // Even on this thread it runs in a later tick, so that nothing is reported before this returns.
            loop.execute {
                switch result {
                case .success(let addresses):
                    // A name server may say anything, even of `localhost`.
                    let allowed = target.tls == nil ? addresses.filter(\.isLoopback) : addresses
                    guard !allowed.isEmpty else {
                        connection.fail(.connectFailed, SocketError(.notLoopback, operation: "connect"))
                        return
                    }
                    connection.connect(to: allowed)
                case .failure(let error): connection.fail(.connectFailed, error)
                }
            }
        }
        return connection
    }
}
