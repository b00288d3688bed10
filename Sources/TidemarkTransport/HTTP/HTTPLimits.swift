// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP

/// Every bound of an ``HTTPServer`` and its connections (I-7), as ``TransportLimits`` has those of messages. How long a
/// body may be, the handler says for each request.
package struct HTTPLimits: Sendable {
    /// The time for the TLS handshake. Longer: the connection ends.
    package var handshakeDeadline = Duration.seconds(10)
    /// From the connection, or from the first byte of a later head, to the head's end. Longer: 408.
    package var headDeadline = Duration.seconds(10)
    /// The time for a request's body. Longer: 408.
    package var bodyDeadline = Duration.seconds(60)
    /// How long a connection waits for its next request. Longer: it ends without an answer.
    package var idleDeadline = Duration.seconds(60)
    /// How long a peer may take no bytes of the output that waits for it. Fewer bytes a second than the next value count as none. Longer:
    /// the connection is reset.
    package var writeProgressDeadline = Duration.seconds(30)
    package var sentBytesPerSecondMin = 256
    /// The time for the end of the peer's stream, once everything has been sent. A server that stops gives as much to
    /// answers under way.
    package var closeDeadline = Duration.seconds(5)
    package var head = HeadLimits()
    /// Requests of one connection. The last answer says that it ends.
    package var requestsMax = 1_000
    /// While more than this waits to be sent, no further request is taken and no stream goes on.
    package var queuedBytesLow = 262_144
    /// Encrypted bytes that TLS itself may add to what waits. Beyond: the connection is reset.
    package var encryptedBytesMax = 262_144
    /// Connections on all loops. For the next one, another one gives way: the one that has waited longest for a request. If there is none,
    /// it is the one that has been longest in a head or a handshake. If all are being answered, the next one is accepted and closed at
    /// once.
    package var connectionsMax = 1_000

    package init() {}
}

/// The bounds of a request of an ``HTTPClient``.
package struct HTTPClientLimits: Sendable {
    /// From the call to the whole response, with looking up the name, TCP and TLS. Longer: the connection ends.
    package var deadline = Duration.seconds(10)
    /// How long TCP tries an address of the host while there are others. It has at most its part of the deadline. Longer: the
    /// next one is tried. In three seconds two attempts of the kernel have failed.
    package var addressDeadline = Duration.seconds(3)
    /// Limits of the response's head.
    package var head = HeadLimits()
    /// Bytes of a response's body. The rest of a longer one is not read, and the connection ends.
    package var bodyBytesMax = 65_536

    package init() {}
}
