// SPDX-License-Identifier: Apache-2.0

/// Everything between the bytes of an open WebSocket and what its peer said: frames, then messages.
///
/// Feed it what arrives and take events until there are none:
/// ```
/// var offset = 0
/// while let event = try reader.next(in: bytes, at: &offset) { … }
/// ```
/// Events come in order, and an error comes after all events of what stood before it, so that a peer is answered as far
/// as it was right. After an error or a close event the reader is spent.
package struct MessageReader: ~Copyable {
    private var decoder: FrameDecoder
    private var assembler: MessageAssembler

    /// - Parameters:
    ///   - role: Ours.
    ///   - deflate: What was negotiated, or nil.
    package init(role: Role, limits: MessageLimits = MessageLimits(), deflate: DeflateParameters? = nil) {
        decoder = FrameDecoder(role: role, allowsCompression: deflate != nil, frameBytesMax: limits.frameBytesMax)
        assembler = MessageAssembler(
            limits: limits, inflater: deflate.map { Inflater(direction: $0.incoming(role)) })
    }

    /// Nothing has come of a next message or frame.
    package var isBetweenMessages: Bool { decoder.isBetweenMessages }

    /// Changes how long messages, and frames, may be that begin from now on.
    package mutating func limitMessages(to byteCount: Int) {
        decoder.frameBytesMax = byteCount
        assembler.limits.messageBytesMax = byteCount
    }

    /// The next event, or nil when `bytes` is used up.
    ///
    /// - Parameters:
    ///   - bytes: What has come; unmasked in place. Lent payloads point into it.
    ///   - offset: Where to go on; moved behind what was taken.
    package mutating func next(
        in bytes: UnsafeMutableRawBufferPointer, at offset: inout Int
    ) throws(WebSocketError) -> MessageEvent? {
        while let piece = try decoder.next(in: bytes, at: &offset) {
            if let event = try assembler.take(piece) { return event }
        }
        return nil
    }
}
