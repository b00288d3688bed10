// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP
package import TidemarkWebSocket

/// Every bound of a connection (I-7) and of a server, in one place. The defaults are a server's for devices on the
/// internet.
package struct TransportLimits: Sendable {
    /// From the accepted (or begun) TCP connection to the end of the WebSocket handshake: TLS and head together. Ten
    /// seconds are several round trips on the worst mobile network. Then: 408 if a head was awaited, and the end.
    package var handshakeDeadline = Duration.seconds(10)
    /// Silence after which a peer is asked whether it is there (ping). Below the 60 seconds or so after which
    /// middleboxes forget an idle connection.
    package var idleDeadline = Duration.seconds(30)
    /// How long the answer to that may take; anything received counts. Then: the end, with nobody to tell.
    package var pongDeadline = Duration.seconds(20)
    /// How much later than planned a client looks at its connections when it takes that for a sleep, of the machine or of
    /// the process. Then it asks its server at once whether it is there: the connection may be long dead, with nobody to
    /// say so.
    package var sleepMin = Duration.seconds(5)
    /// How long the answer to that may take; then the end, so that a laptop that woke up is connected anew within seconds.
    package var wakeDeadline = Duration.seconds(3)
    /// How long a peer may accept not a single byte of what waits for it. Then: the end by reset, which frees the
    /// kernel's memory too.
    package var writeProgressDeadline = Duration.seconds(30)
    /// How long an incomplete message may take before its rate is looked at, and the bytes a second that it must have
    /// from then on: a peer that sends a byte now and then holds memory for nothing.
    package var messageGrace = Duration.seconds(30)
    package var messageBytesPerSecondMin = 256
    /// For the peer's part of the closing handshake, and again for its end of the stream. Then: the end.
    package var closeDeadline = Duration.seconds(5)

    /// Bounds of request and response heads.
    package var head = HeadLimits()
    /// Bounds of frames and messages that come in.
    package var message = MessageLimits()

    /// Bytes that may wait to be sent to one peer. A message that would exceed it ends the connection: whoever sends
    /// much looks at ``MessageConnection/queuedByteCount`` and waits for ``MessageHandler/drained(_:)``.
    package var queuedBytesMax = 16 * 1024 * 1024
    /// Once more than this has waited, falling back to it is told by ``MessageHandler/drained(_:)``.
    package var queuedBytesLow = 256 * 1024

    /// Encrypted bytes that may wait to be sent to one peer when TLS itself adds to them. Messages make some 64 KiB of them,
    /// and wait as they are beyond; so more are TLS's answers to a peer that asks for another handshake again and again
    /// and does not read that there will be none. Then: the end by reset.
    package var encryptedBytesMax = 262_144

    /// Connections of one server on all its loops, open or not. At some 20 KB each this is the memory they may take; the
    /// next one is accepted and closed at once.
    package var connectionsMax = 20_000
    /// Steps of TLS handshakes that one tick of a loop performs; the rest wait for the next. One costs the server up to
    /// 0.4 ms, so a flood of them holds up everybody else by a few milliseconds a tick, not by seconds.
    package var handshakeStepsPerTickMax = 8

    package init() {}
}
