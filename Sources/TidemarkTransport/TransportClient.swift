// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkHTTP
package import TidemarkSockets
package import TidemarkTLS
package import TidemarkWebSocket

/// Opens connections to servers.
package enum TransportClient {
    /// Where to, and what to say there.
    package struct Target: Sendable {
        /// A name or an address in digits, which the server's certificate must be for.
        package var host: String
        package var port: UInt16
        /// Path and query, as in the URL. Must be valid by ``RequestTarget/isOriginForm(_:)``.
        package var path: String
        /// Nil: without TLS (`ws://`).
        package var tls: TLSContext?
        /// In order of preference; if there are any, the server must choose one.
        package var subprotocols: [String]
        /// Nil: compression is not offered.
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

        /// The Host field: the port is left out when it is the scheme's own (RFC 9110 §7.2).
        var authority: String {
            let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            return port == (tls == nil ? 80 : 443) ? host : "\(host):\(port)"
        }
    }

    /// Begins to connect. Loop-confined. Whatever goes wrong is told by ``MessageHandler/closed(_:_:)``, never before this
    /// returns.
    ///
    /// - Parameter clockWithSleep: tells that the machine slept; nil: the loop's. Another one for tests.
    @discardableResult
    package static func connect(
        on loop: EventLoop, to target: Target, limits: TransportLimits = TransportLimits(),
        clockWithSleep: (@Sendable () -> Duration)? = nil, handler: any MessageHandler
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
        Resolver.resolve(host: target.host, port: target.port) { result in
            // Also from this thread in a later tick, so that nothing is told before this returns.
            loop.execute {
                switch result {
                case .success(let addresses): connection.connect(to: addresses)
                case .failure(let error): connection.fail(.connectFailed, error)
                }
            }
        }
        return connection
    }
}
