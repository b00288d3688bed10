// SPDX-License-Identifier: Apache-2.0

package import TidemarkWebSocket

/// Why a connection was never opened, or ended without a closing handshake.
package struct TransportError: Error, Sendable {
    /// The causes of the error, by the layer that failed.
    package enum Code: String, Sendable, CaseIterable {
        /// The host has no address, or none of them accepts connections; `underlying` is a `SocketError`.
        case connectFailed
        /// The TLS handshake failed or a record was invalid; `underlying` is a `TLSError`.
        case tlsFailed
        /// A peer that is a proxy does not begin with a proxy's header; `underlying` is a `ProxyHeaderError`.
        case proxyHeaderInvalid
        /// The peer's head is not HTTP; `underlying` is an `HTTPError`.
        case httpInvalid
        /// The server responded, but not with the requested upgrade; `underlying` is a `WebSocketError`, with the
        /// status if it was not 101.
        case upgradeRefused
        /// The peer broke the WebSocket protocol or a limit; `underlying` is a `WebSocketError`. It has been told.
        case protocolViolated
        /// The stream ended without a close frame.
        case connectionLost
        /// ``TransportLimits/handshakeDeadline``
        case handshakeTimedOut
        /// ``HTTPClientLimits/deadline``
        case requestTimedOut
        /// ``TransportLimits/pongDeadline``
        case idleTimedOut
        /// ``TransportLimits/writeProgressDeadline``
        case writeTimedOut
        /// ``TransportLimits/messageBytesPerSecondMin``
        case messageTimedOut
        /// It had to give way to another connection (``TransportLimits/places``).
        case crowdedOut
        /// ``TransportLimits/queuedBytesMax`` or ``TransportLimits/encryptedBytesMax``
        case queueOverflow
    }

    package let code: Code
    /// The error of the layer below, if that failed.
    package let underlying: (any Error)?

    package init(_ code: Code, underlying: (any Error)? = nil) {
        self.code = code
        self.underlying = underlying
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String {
        underlying.map { "\(code.rawValue): \($0)" } ?? code.rawValue
    }
}

/// How a connection ended.
package enum CloseReason: Sendable {
    /// The peer closed it, with the code and reason of its close frame.
    case peer(CloseCode?, reason: String)
    /// This side closed it, by ``MessageConnection/close(_:reason:)``.
    case local(CloseCode)
    case failed(TransportError)
}
