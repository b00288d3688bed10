// SPDX-License-Identifier: Apache-2.0

/// The settings with which we negotiate permessage-deflate (RFC 7692).
package struct DeflateSettings: Equatable, Sendable {
    /// The largest window of our compressor, in bits, 9 … 15. A compressor of 15 bits takes 256 KiB.
    package var sendWindowBits = 15
    /// The largest window that we ask of the peer, in bits, 9 … 15. An inflater of 15 bits takes 40 KiB.
    package var receiveWindowBits = 15
    /// Whether our messages may refer to earlier ones. This compresses better, but keeps the compressor in memory.
    package var keepsSendContext = true
    /// Whether the peer's messages may refer to earlier ones. This compresses better, but keeps the inflater in memory.
    package var keepsReceiveContext = true
    /// zlib's level, 1 (fast) … 9 (small). Level 1 takes about half the time of the usual 6, with nearly its result on
    /// short texts.
    package var level = 1
    /// Shorter messages are sent uncompressed, because the saved bytes are not worth the time.
    package var messageBytesMin = 64

    package init() {}
}

/// The parameters that client and server agreed on (RFC 7692 §7.1).
package struct DeflateParameters: Equatable, Sendable {
    package var serverWindowBits = 15
    package var clientWindowBits = 15
    package var serverKeepsContext = true
    package var clientKeepsContext = true

    package init() {}

    /// One of the two streams.
    struct Direction: Equatable {
        let windowBits: Int
        let keepsContext: Bool

        /// zlib writes 9-bit windows when asked for 8, so readers of its streams should expect that.
        var inflateWindowBits: Int { max(windowBits, 9) }
    }

    /// The parameters of what a peer of that role sends.
    func outgoing(_ role: WebSocketRole) -> Direction {
        role == .server
            ? Direction(windowBits: serverWindowBits, keepsContext: serverKeepsContext)
            : Direction(windowBits: clientWindowBits, keepsContext: clientKeepsContext)
    }

    /// The parameters of what a peer of that role receives.
    func incoming(_ role: WebSocketRole) -> Direction {
        outgoing(role == .server ? .client : .server)
    }
}
