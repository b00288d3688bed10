// SPDX-License-Identifier: Apache-2.0

/// Carries messages between a device and a server: over a WebSocket (``SocketTransport``), or in memory for tests and
/// simulations.
package protocol CloudTransport: Sendable {
    /// The server's name for error texts, without secrets; nil if it has none.
    var serverName: String? { get }

    /// Begins to connect. The observer is called with `channelOpened` once or never, then with messages, then with
    /// `channelClosed` exactly once, even if the channel never opened. It is never called before this function has
    /// returned.
    func open(observer: any CloudChannelObserver) -> any CloudChannel
}

extension CloudTransport {
    package var serverName: String? { nil }
}

/// An attempt to connect, and the connection if it succeeds.
package protocol CloudChannel: AnyObject, Sendable {
    /// Queues a message; does nothing once closed. Never calls the observer before it returns.
    func send(_ message: [UInt8])
    /// Closes the channel. The observer is called with `channelClosed`, but not before this function has returned.
    func close()
}

/// Hears what happens on a channel: it opens, receives messages and closes.
package protocol CloudChannelObserver: AnyObject, Sendable {
    func channelOpened(_ channel: any CloudChannel)
    func channelReceived(_ channel: any CloudChannel, _ message: [UInt8])
    /// Bytes of a long message have moved, in either direction, as on a slow network.
    func channelProgressed(_ channel: any CloudChannel)
    func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing)
}

/// Why a channel ended.
package enum ChannelClosing: Sendable, Equatable {
    /// No route, refused, cut or timed out: another attempt may succeed.
    case network(ConnectionFault)
    /// The server's certificate or name is not trusted. Somebody must change the configuration.
    case untrusted(String)
    /// The server speaks another version of the protocol. Somebody must update the app or the server.
    case incompatible(String)
    /// The server closed with this WebSocket close code.
    case server(code: UInt16, reason: String)
    /// This side closed it.
    case local
}
