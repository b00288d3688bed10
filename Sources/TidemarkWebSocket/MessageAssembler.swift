// SPDX-License-Identifier: Apache-2.0

/// Assembles messages from frames: joins fragments, inflates and checks UTF-8 while the bytes arrive.
///
/// An uncompressed message that arrives in one piece is borrowed where it lies. Any other is collected in one buffer,
/// which is then passed on. Between messages it holds only the inflater, once a message was inflated.
struct MessageAssembler {
    var limits: MessageLimits
    private let inflater: Inflater?
    private var kind = MessageKind.binary
    private var isCompressed = false
    private var buffer: [UInt8] = []
    /// Where in the buffer the current frame began.
    private var frameStart = 0
    private var utf8 = UTF8Scanner()
    private var compressedCount = 0
    private var emptyFragmentCount = 0
    /// A control frame that arrived in several pieces.
    private var control: [UInt8] = []

    /// Bytes of an unfinished message.
    var heldByteCount: Int { buffer.count }

    /// - Parameter inflater: Given if permessage-deflate was negotiated.
    init(limits: MessageLimits, inflater: Inflater?) {
        self.limits = limits
        self.inflater = inflater
    }

    /// The event that this piece completes, if any.
    mutating func take(_ piece: FrameDecoder.Piece) throws(WebSocketError) -> MessageEvent? {
        if piece.header.opcode.isControl { return try takeControl(piece) }
        if piece.isFirst { try beginFrame(piece.header) }
        if piece.isFirst, piece.isLast, piece.header.isFinal, piece.header.opcode != .continuation, !isCompressed {
            try checkText(piece.payload)
            try checkTextEnd()
            return .message(kind, .lent(piece.payload))
        }
        try add(piece.payload, promised: piece.header.payloadCount)
        guard piece.isLast, piece.header.isFinal else { return nil }
        return try finish()
    }

    private mutating func beginFrame(_ header: FrameHeader) throws(WebSocketError) {
        if header.opcode != .continuation {
            kind = header.opcode == .text ? .text : .binary
            isCompressed = header.isCompressed
            (compressedCount, emptyFragmentCount, utf8) = (0, 0, UTF8Scanner())
        }
        if header.payloadCount == 0, !header.isFinal {
            emptyFragmentCount += 1
            guard emptyFragmentCount <= limits.emptyFragmentCountMax else { throw WebSocketError(.noProgress) }
        }
        // Both numbers are within the limits, so the sum cannot overflow.
        let before = isCompressed ? compressedCount : buffer.count
        guard before + header.payloadCount <= (isCompressed ? compressedBytesMax : limits.messageBytesMax) else {
            throw WebSocketError(.tooBig)
        }
        compressedCount += header.payloadCount
        frameStart = buffer.count
    }

    /// Compressed bytes may be slightly more than the original: five for each stored block of up to 64 KiB.
    private var compressedBytesMax: Int { limits.messageBytesMax + limits.messageBytesMax / 1024 + 64 }

    private mutating func add(_ payload: UnsafeRawBufferPointer, promised: Int) throws(WebSocketError) {
        let start = buffer.count
        if isCompressed {
            guard let inflater else { throw WebSocketError(.reservedBit) }
            try inflater.inflate(payload, into: &buffer, limits: limits)
            try checkNewText(from: start)
            return
        }
        try checkText(payload)
        let count = start + payload.count
        if count > buffer.capacity {
            // Memory is reserved by what has arrived, not by what a header promises. It is many times as much, so that
            // a chunk of an asset is not moved while it grows. Memory that is not written to costs addresses only.
            // NB: `reserveCapacity` does not double by itself: each small fragment would move everything before it.
            let doubled = min(2 * buffer.capacity, max(limits.messageBytesMax, count))
            buffer.reserveCapacity(max(count, doubled, min(frameStart + promised, max(65_536, count * 32))))
        }
        buffer.append(contentsOf: payload)
    }

    private mutating func finish() throws(WebSocketError) -> MessageEvent {
        if isCompressed, let inflater {
            let start = buffer.count
            try inflater.finishMessage(into: &buffer, limits: limits)
            try checkNewText(from: start)
        }
        try checkTextEnd()
        let message = buffer
        buffer = []
        return .message(kind, .owned(message))
    }

    private mutating func checkText(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
        guard kind == .text else { return }
        guard utf8.take(bytes) else { throw WebSocketError(.invalidUTF8) }
    }

    private mutating func checkNewText(from start: Int) throws(WebSocketError) {
        guard kind == .text, start < buffer.count else { return }
        let isValid = buffer.withUnsafeBytes { utf8.take(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        guard isValid else { throw WebSocketError(.invalidUTF8) }
    }

    private func checkTextEnd() throws(WebSocketError) {
        guard kind == .binary || utf8.isComplete else { throw WebSocketError(.invalidUTF8) }
    }

    // MARK: Control frames

    private mutating func takeControl(_ piece: FrameDecoder.Piece) throws(WebSocketError) -> MessageEvent? {
        let payload: MessagePayload
        if piece.isFirst, piece.isLast {
            payload = .lent(piece.payload)
        } else {
            control.append(contentsOf: piece.payload)
            guard piece.isLast else { return nil }
            payload = .owned(control)
            control = []
        }
        switch piece.header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default: return try Self.close(payload.bytes)
        }
    }

    /// RFC 6455 §5.5.1.
    private static func close(_ payload: [UInt8]) throws(WebSocketError) -> MessageEvent {
        guard !payload.isEmpty else { return .close(nil, reason: "") }
        guard payload.count >= 2 else { throw WebSocketError(.invalidClose) }
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isValidOnWire else { throw WebSocketError(.invalidClose) }
        var check = UTF8Scanner()
        guard payload.withUnsafeBytes({ check.take(UnsafeRawBufferPointer(rebasing: $0[2...])) }), check.isComplete
        else { throw WebSocketError(.invalidUTF8) }
        return .close(code, reason: String(decoding: payload[2...], as: UTF8.self))
    }
}
