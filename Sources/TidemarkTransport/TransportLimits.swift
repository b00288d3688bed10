// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP
package import TidemarkWebSocket

/// Every bound of a connection (I-7) and of a server, in one place. The defaults are for a server with devices on the
/// internet.
package struct TransportLimits: Sendable {
    /// From the accepted (or started) TCP connection to the end of the WebSocket handshake: TLS and head together. Ten
    /// seconds are several round trips on the worst mobile network. Longer: 408 if a head was awaited, and the
    /// connection ends.
    package var handshakeDeadline = Duration.seconds(10)
    /// How long a client's TCP tries an address of a host while there are others. It has at most its part of
    /// ``handshakeDeadline``. Longer: the next one is tried. In three seconds two attempts of the kernel have failed.
    package var addressDeadline = Duration.seconds(3)
    /// Silence after which a peer is asked whether it is there (ping). It is below the 60 seconds or so after which
    /// middleboxes forget an idle connection.
    package var idleDeadline = Duration.seconds(30)
    /// How long the answer to that may take; anything received counts, and what the peer takes of a long message.
    /// Longer: the connection ends, with nobody to tell.
    package var pongDeadline = Duration.seconds(20)
    /// By how much a client's check must be late to count as a sleep of the machine or the process. The client then
    /// pings its server at once: the connection may have been dead for long without any sign.
    package var sleepMin = Duration.seconds(5)
    /// How long the answer to that may take. Longer: the connection ends, so that a laptop that woke up reconnects
    /// within seconds.
    package var wakeDeadline = Duration.seconds(3)
    /// How long a peer may take no bytes of the output that waits for it. Its kernel reports the bytes, and fewer than
    /// ``messageBytesPerSecondMin`` count as none. Longer: the connection is reset, which also frees the kernel's
    /// memory.
    package var writeProgressDeadline = Duration.seconds(30)
    /// How long an incomplete message may take before its rate counts. The next value is the bytes a second that it
    /// must have from then on, without control frames. A peer that sends a byte now and then occupies memory for
    /// nothing. The same holds for messages that are sent to it.
    package var messageGrace = Duration.seconds(30)
    package var messageBytesPerSecondMin = 256
    /// The time for the peer's part of the closing handshake, and again for the end of its stream. Longer: the
    /// connection ends.
    package var closeDeadline = Duration.seconds(5)

    /// Bounds of request and response heads.
    package var head = HeadLimits()
    /// Bounds of received frames and messages.
    package var message = MessageLimits()

    /// Bytes that may wait to be sent to one peer. A message that would exceed it ends the connection. Code that sends
    /// much checks ``MessageConnection/queuedByteCount`` and waits for ``MessageHandler/drained(_:)``.
    package var queuedBytesMax = 16 * 1024 * 1024
    /// If more than this has waited, ``MessageHandler/drained(_:)`` is called when no more than this still waits.
    package var queuedBytesLow = 256 * 1024

    /// Encrypted bytes that may wait to be sent to one peer when TLS itself adds to them. Messages make some 64 KiB of
    /// them, and otherwise wait unencrypted. More come only if TLS answers a peer that asks for another handshake again
    /// and again. Such a peer does not read the refusals. Beyond: the connection is reset.
    package var encryptedBytesMax = 262_144

    /// Bytes of messages on one loop that have arrived in part. Beyond, the owner with most gives way, and its largest
    /// message ends. Its connection ends with 1013.
    package var unfinishedBytesMax = Int.max
    /// Memory on one loop for output that waits for peers. It counts peers that take nothing at the moment, and connections with more than
    /// ``queuedBytesLow``. A message has its memory until all of it was sent. Beyond, the owner with most gives way, and its connection
    /// with most is reset.
    package var unsentBytesMax = Int.max

    /// Connections of one server on all its loops, open or not. Each takes some 20 KB, so this bounds their memory. The
    /// next connection is accepted and closed at once.
    package var connectionsMax = 20_000
    /// The owners' shares of those connections, for a server that knows a connection's kind (``MessageConnection/settle(owner:)``). Nil:
    /// first come, first served.
    package var places: PlaceLimits?
    /// When a peer that found no place may try again, in seconds.
    package var retryAfterSeconds = 30
    /// Steps of TLS handshakes in one tick of a loop; the rest wait for the next tick. A step costs the server up to
    /// 0.4 ms. So a flood of them delays all others by a few milliseconds a tick, not by seconds. Addresses take turns
    ///
    package var handshakeStepsPerTickMax = 8

    package init() {}
}
