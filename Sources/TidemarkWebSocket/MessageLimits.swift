// SPDX-License-Identifier: Apache-2.0

/// Bounds of what a peer may send (I-7). Bytes and cost are limited, not the number of fragments. A message of 65 536
/// small fragments is legal and cheap, because they are collected in one buffer.
package struct MessageLimits: Equatable, Sendable {
    /// Bytes of one frame's payload. The header decides, before any payload has arrived. Beyond: 1009.
    package var frameBytesMax = 16 * 1024 * 1024
    /// Bytes of one message, all its fragments together, before and after inflation. Beyond: 1009.
    package var messageBytesMax = 16 * 1024 * 1024
    /// Fragments without payload in one message, except the last. They cost work and bring nothing. A few are harmless
    /// oddities of an encoder, many are a flood. Beyond: 1008.
    package var emptyFragmentCountMax = 256
    /// Final DEFLATE blocks in one message. An encoder that flushes with Z_FINISH ends a message with one (RFC 7692
    /// §7.2.3.4). Each costs a copy of the window. Beyond: 1008.
    package var finalBlockCountMax = 16

    package init() {}
}
