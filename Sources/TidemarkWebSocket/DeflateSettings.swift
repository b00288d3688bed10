// SPDX-License-Identifier: Apache-2.0

/// What we are willing to do for permessage-deflate (RFC 7692).
package struct DeflateSettings: Equatable, Sendable {
    /// The largest window that our compressor uses, in bits, 9 … 15. A compressor of 15 bits takes 256 KiB.
    package var sendWindowBits = 15
    /// The largest window that we ask the peer to use, in bits, 9 … 15. An inflater of 15 bits takes 40 KiB.
    package var receiveWindowBits = 15
    /// Our messages may refer to earlier ones: better compression, and the compressor stays in memory.
    package var keepsSendContext = true
    /// The peer's messages may refer to earlier ones: better compression, and the inflater stays in memory.
    package var keepsReceiveContext = true
    /// zlib's 1 (fast) … 9 (small). 1 takes about half the time of the usual 6 for nearly its result on short texts.
    package var level = 1
    /// Messages below this are sent as they are: the time is not worth the bytes.
    package var messageBytesMin = 64

    package init() {}
}

/// What client and server agreed on (RFC 7692 §7.1).
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

        /// zlib writes 9-bit windows when asked for 8, so readers of its streams do well to expect that.
        var inflateWindowBits: Int { max(windowBits, 9) }
    }

    /// What a peer of that role sends.
    func outgoing(_ role: Role) -> Direction {
        role == .server
            ? Direction(windowBits: serverWindowBits, keepsContext: serverKeepsContext)
            : Direction(windowBits: clientWindowBits, keepsContext: clientKeepsContext)
    }

    /// What a peer of that role receives.
    func incoming(_ role: Role) -> Direction {
        outgoing(role == .server ? .client : .server)
    }
}
