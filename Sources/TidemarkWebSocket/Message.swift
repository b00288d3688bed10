// SPDX-License-Identifier: Apache-2.0

/// What a message holds.
package enum MessageKind: Sendable {
    case text
    case binary

    package var opcode: Opcode { self == .text ? .text : .binary }
}

/// A message's or control frame's bytes: lent from the receive buffer when they came in one piece, else owned.
///
/// Lent bytes are valid until the call that handed them over returns.
package enum MessagePayload {
    case lent(UnsafeRawBufferPointer)
    case owned([UInt8])

    package var count: Int {
        switch self {
        case .lent(let bytes): bytes.count
        case .owned(let bytes): bytes.count
        }
    }

    /// The bytes as an array: a copy if they are lent.
    package var bytes: [UInt8] {
        switch self {
        case .lent(let bytes): Array(bytes)
        case .owned(let bytes): bytes
        }
    }

    /// Lends the bytes in place.
    @inlinable
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        switch self {
        case .lent(let bytes): try body(bytes)
        case .owned(let bytes): try bytes.withUnsafeBytes(body)
        }
    }
}

/// What a peer said.
package enum MessageEvent {
    case message(MessageKind, MessagePayload)
    case ping(MessagePayload)
    case pong(MessagePayload)
    /// The code is nil if the frame was empty.
    case close(CloseCode?, reason: String)
}
