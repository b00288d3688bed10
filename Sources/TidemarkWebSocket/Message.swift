// SPDX-License-Identifier: Apache-2.0

/// The kind of a message's content.
package enum MessageKind: Sendable {
    case text
    case binary

    package var opcode: Opcode { self == .text ? .text : .binary }
}

/// The bytes of a message or control frame. Borrowed from the receive buffer if they arrived in one piece, otherwise
/// owned.
///
/// Borrowed bytes are valid until the call that passed them returns.
@usableFromInline
package enum MessagePayload {
    case lent(UnsafeRawBufferPointer)
    case owned([UInt8])

    package var count: Int {
        switch self {
        case .lent(let bytes): bytes.count
        case .owned(let bytes): bytes.count
        }
    }

    /// The bytes as an array: a copy if they are borrowed.
    package var bytes: [UInt8] {
        switch self {
        case .lent(let bytes): Array(bytes)
        case .owned(let bytes): bytes
        }
    }

    /// Passes the bytes to `body`, in place.
    @inlinable
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        switch self {
        case .lent(let bytes): try body(bytes)
        case .owned(let bytes): try bytes.withUnsafeBytes(body)
        }
    }
}

/// A message, or a control frame, from the peer.
package enum MessageEvent {
    case message(MessageKind, MessagePayload)
    case ping(MessagePayload)
    case pong(MessagePayload)
    /// The code is nil if the frame was empty.
    case close(CloseCode?, reason: String)
}
