// SPDX-License-Identifier: Apache-2.0

/// Our side of a connection. A client masks its frames, a server does not (RFC 6455 §5.1).
package enum WebSocketRole: Sendable {
    case client
    case server
}

/// The kind of a frame (RFC 6455 §5.2).
package enum Opcode: UInt8, Sendable, CaseIterable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The header before a frame's payload.
package struct FrameHeader: Equatable, Sendable {
    package var opcode: Opcode
    /// FIN: the message's last frame.
    package var isFinal: Bool
    /// RSV1: the message is compressed (RFC 7692 §6); on its first frame only.
    package var isCompressed: Bool
    /// In the order of the wire, its first byte lowest; nil if the frame is not masked.
    package var maskKey: UInt32?
    package var payloadCount: Int

    package init(
        opcode: Opcode, isFinal: Bool = true, isCompressed: Bool = false, maskKey: UInt32? = nil, payloadCount: Int
    ) {
        self.opcode = opcode
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.maskKey = maskKey
        self.payloadCount = payloadCount
    }

    /// The most bytes of a header: 2, an extended length of 8, a mask of 4.
    package static let byteCountMax = 14
    /// The most bytes of a control frame's payload (RFC 6455 §5.5).
    package static let controlPayloadBytesMax = 125
}
