// SPDX-License-Identifier: Apache-2.0

/// Carries messages between a device and a server: a WebSocket (``SocketTransport``), or memory in tests and simulations.
package protocol CloudTransport: Sendable {
    /// Where it leads, for whoever reads an error: without secrets. Nil: nowhere that has a name.
    var serverName: String? { get }

    /// Begins to connect. The observer hears `channelOpened` once or never, then messages, then `channelClosed` exactly
    /// once, also if the channel never opened; never before this function has returned.
    func open(observer: any CloudChannelObserver) -> any CloudChannel
}

extension CloudTransport {
    package var serverName: String? { nil }
}

/// One attempt at a connection, and the connection if it succeeds.
package protocol CloudChannel: AnyObject, Sendable {
    /// Queues a message; does nothing once closed. Never calls the observer before it returns.
    func send(_ message: [UInt8])
    /// Ends the channel; the observer hears `channelClosed`, but not before this function has returned.
    func close()
}

/// Hears what happens on a channel: it opens, receives messages and closes.
package protocol CloudChannelObserver: AnyObject, Sendable {
    func channelOpened(_ channel: any CloudChannel)
    func channelReceived(_ channel: any CloudChannel, _ message: [UInt8])
    func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing)
}

/// Why a channel ended.
package enum ChannelClosing: Sendable, Equatable {
    /// No route, refused, cut, timed out: worth trying again.
    case network(ConnectionFault)
    /// The server's certificate or name cannot be trusted: somebody must change the configuration.
    case untrusted(String)
    /// The server speaks another version of the protocol: somebody must update the app or the server.
    case incompatible(String)
    /// The server closed with this WebSocket close code.
    case server(code: UInt16, reason: String)
    /// We closed it.
    case local
}
