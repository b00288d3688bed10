// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkWebSocket

/// The state of a connection until it is open.
final class Opening {
    enum Side {
        case server(RequestHeadParser, accept: (RequestHead, SocketAddress) -> AcceptDecision)
        case client(ResponseHeadParser, ClientHandshake, TransportClient.Target)
    }

    var side: Side
    /// The part of the head that has arrived.
    var received: [UInt8] = []
    /// The proxies that connect to a server's listener.
    var proxies = TrustedProxies()
    /// The header of a proxy, until all of it has arrived.
    var proxyHeader = ProxyHeaderParser()
    /// A client's addresses that have not been tried.
    var addresses = AddressTurns()
    /// The turn for which a server's connection waits before its next step of the TLS handshake; nil if it does not
    /// wait.
    var awaitedTurn: AddressBlock?

    /// Whether the request is a HEAD, whatever else is wrong with it: no response to it has a body (RFC 9110 §9.3.2).
    var isHead: Bool {
        received.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }.starts(with: "HEAD ".utf8)
    }

    init(_ side: Side) {
        self.side = side
    }
}
