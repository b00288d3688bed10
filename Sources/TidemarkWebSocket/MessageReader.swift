// SPDX-License-Identifier: Apache-2.0

/// Turns the bytes of an open WebSocket into events: frames, then messages.
///
/// Pass it received bytes, and take events until there are none:
/// ```
/// var offset = 0
/// while let event = try reader.next(in: bytes, at: &offset) { … }
/// ```
/// Events come in order. An error comes after all events of what stood before it, so that a peer is answered as far as
/// it was right. After an error or a close event the reader cannot be used any more.
package struct MessageReader: ~Copyable {
    private var decoder: FrameDecoder
    private var assembler: MessageAssembler

    /// - Parameters:
    ///   - role: Ours.
    ///   - deflate: The negotiated parameters; nil without compression.
    package init(role: WebSocketRole, limits: MessageLimits = MessageLimits(), deflate: DeflateParameters? = nil) {
        decoder = FrameDecoder(role: role, allowsCompression: deflate != nil, frameBytesMax: limits.frameBytesMax)
        assembler = MessageAssembler(
            limits: limits, inflater: deflate.map { Inflater(direction: $0.incoming(role)) })
    }

    /// Whether no byte of a next message or frame has arrived.
    package var isBetweenMessages: Bool { decoder.isBetweenMessages }

    /// Bytes of a message that has arrived in part.
    package var heldByteCount: Int { assembler.heldByteCount }

    /// Changes the longest allowed message and frame, for those that begin from now on.
    package mutating func limitMessages(to byteCount: Int) {
        decoder.frameBytesMax = byteCount
        assembler.limits.messageBytesMax = byteCount
    }

    /// The next event; nil when `bytes` is used up.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; unmasked in place. Borrowed payloads point into it.
    ///   - offset: Where to continue; moved past the bytes that were taken.
    package mutating func next(
        in bytes: UnsafeMutableRawBufferPointer, at offset: inout Int
    ) throws(WebSocketError) -> MessageEvent? {
        while let piece = try decoder.next(in: bytes, at: &offset) {
            if let event = try assembler.take(piece) { return event }
        }
        return nil
    }
}
