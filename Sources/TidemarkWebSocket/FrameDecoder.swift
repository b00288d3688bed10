// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of bytes, which may arrive in any pieces, into frames, and unmasks payloads in place.
///
/// Every error in a header is found at the first byte that shows it. A peer that sends garbage is answered at once, not
/// after the frame that it announced. Only the bytes of an incomplete header are kept.
package struct FrameDecoder: Sendable {
    /// A part of a frame's payload, unmasked: as much as has arrived.
    package struct Piece {
        package let header: FrameHeader
        /// Borrowed: valid as long as the bytes that were passed in.
        package let payload: UnsafeRawBufferPointer
        /// Whether this is the frame's first piece. It comes as soon as the header is complete, even without payload.
        package let isFirst: Bool
        /// Whether the frame is complete.
        package let isLast: Bool
    }

    private let role: WebSocketRole
    private let allowsCompression: Bool
    var frameBytesMax: Int
    /// Bytes of an incomplete header, at most 13.
    private var carry: (UInt64, UInt64) = (0, 0)
    private var carryCount = 0
    /// The frame whose payload is under way.
    private var current: FrameHeader?
    private var receivedCount = 0
    /// Whether a message's first frame has arrived and its last has not.
    private var isFragmented = false

    /// - Parameters:
    ///   - role: Ours. A server expects masked frames, a client unmasked ones.
    ///   - allowsCompression: Whether permessage-deflate was negotiated, so that RSV1 may be set.
    package init(role: WebSocketRole, allowsCompression: Bool, frameBytesMax: Int) {
        self.role = role
        self.allowsCompression = allowsCompression
        self.frameBytesMax = frameBytesMax
    }

    /// Whether no byte of a next message has arrived.
    package var isBetweenMessages: Bool { current == nil && carryCount == 0 && !isFragmented }

    /// The next piece; nil when `bytes` is used up.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; changed in place.
    ///   - offset: Where to continue; moved past the bytes that were taken.
    package mutating func next(
        in bytes: UnsafeMutableRawBufferPointer, at offset: inout Int
    ) throws(WebSocketError) -> Piece? {
        let isFirst = current == nil
        if isFirst {
            guard try readHeader(in: UnsafeRawBufferPointer(bytes), at: &offset) else { return nil }
        } else if offset == bytes.count {
            return nil
        }
        guard let header = current else { return nil }
        let count = min(header.payloadCount - receivedCount, bytes.count - offset)
        let payload = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + count])
        if let key = header.maskKey { Masking.apply(key: key, offset: receivedCount, to: payload) }
        offset += count
        receivedCount += count
        let isLast = receivedCount == header.payloadCount
        if isLast { current = nil }
        return Piece(header: header, payload: UnsafeRawBufferPointer(payload), isFirst: isFirst, isLast: isLast)
    }

    /// False if the header is incomplete.
    private mutating func readHeader(
        in bytes: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(WebSocketError) -> Bool {
        if carryCount == 0 {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            if let (header, count) = try parse(rest) {
                begin(header)
                offset += count
                return true
            }
            return keep(rest, at: &offset)
        }
        let before = carryCount
        let added = min(FrameHeader.byteCountMax - before, bytes.count - offset)
        var joined = carry
        withUnsafeMutableBytes(of: &joined) {
            $0[before..<before + added].copyBytes(from: bytes[offset..<offset + added])
        }
        // A copy, because a typed error does not pass through the rethrowing closure of `withUnsafeBytes`.
        let parsed: Result<(FrameHeader, Int)?, WebSocketError> = withUnsafeBytes(of: &joined) { whole in
            do throws(WebSocketError) {
                return .success(try parse(UnsafeRawBufferPointer(rebasing: whole[..<(before + added)])))
            } catch {
                return .failure(error)
            }
        }
        guard let (header, count) = try parsed.get() else {
            carry = joined
            carryCount += added
            offset += added
            return false
        }
        carryCount = 0
        offset += count - before
        begin(header)
        return true
    }

    private mutating func keep(_ rest: UnsafeRawBufferPointer, at offset: inout Int) -> Bool {
        withUnsafeMutableBytes(of: &carry) { $0.copyMemory(from: rest) }
        carryCount = rest.count
        offset += rest.count
        return false
    }

    private mutating func begin(_ header: FrameHeader) {
        current = header
        receivedCount = 0
        if !header.opcode.isControl { isFragmented = !header.isFinal }
    }

    /// The header at the front of `bytes` and its size; nil if it is incomplete. RFC 6455 §5.2.
    private func parse(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> (FrameHeader, Int)? {
        guard let first = bytes.first else { return nil }
        let isFinal = first & 0x80 != 0
        let isCompressed = first & 0x40 != 0
        guard first & 0x30 == 0 else { throw WebSocketError(.reservedBit) }
        guard let opcode = Opcode(rawValue: first & 0x0F) else { throw WebSocketError(.unknownOpcode) }
        // RFC 7692 §6: only on the first frame of a message, never on a control frame.
        if isCompressed, !allowsCompression || opcode.isControl || opcode == .continuation {
            throw WebSocketError(.reservedBit)
        }
        if opcode.isControl {
            guard isFinal else { throw WebSocketError(.invalidControlFrame) }
        } else if (opcode == .continuation) != isFragmented {
            throw WebSocketError(.fragmentSequence)
        }
        guard bytes.count >= 2 else { return nil }
        let isMasked = bytes[1] & 0x80 != 0
        guard isMasked == (role == .server) else { throw WebSocketError(.wrongMask) }
        guard let (length, position) = try parseLength(bytes, isControl: opcode.isControl) else { return nil }
        guard length <= frameBytesMax else { throw WebSocketError(.tooBig) }
        let end = position + (isMasked ? 4 : 0)
        guard bytes.count >= end else { return nil }
        let key = isMasked ? UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)) : nil
        let header = FrameHeader(
            opcode: opcode, isFinal: isFinal, isCompressed: isCompressed, maskKey: key, payloadCount: length)
        return (header, end)
    }

    /// The payload's length, and where the header continues.
    private func parseLength(
        _ bytes: UnsafeRawBufferPointer, isControl: Bool
    ) throws(WebSocketError) -> (Int, Int)? {
        let short = Int(bytes[1] & 0x7F)
        if short <= FrameHeader.controlPayloadBytesMax { return (short, 2) }
        guard !isControl else { throw WebSocketError(.invalidControlFrame) }
        if short == 126 {
            guard bytes.count >= 4 else { return nil }
            let length = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            guard length > 125 else { throw WebSocketError(.lengthEncoding) }
            return (length, 4)
        }
        guard bytes.count >= 10 else { return nil }
        let length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
        guard length > 0xFFFF, length <= UInt64(Int64.max) else { throw WebSocketError(.lengthEncoding) }
        return (Int(length), 10)
    }
}
