// SPDX-License-Identifier: Apache-2.0

/// A peer's violation of the protocol, which ends its connection.
package struct WebSocketError: Error, Equatable, Sendable {
    /// The causes of the error, grouped by the part of RFC 6455 that was broken.
    package enum Code: String, Sendable, CaseIterable {
        // Frames (RFC 6455 §5).
        /// A reserved bit without an extension that gives it a meaning, or on a frame that cannot have it.
        case reservedBit
        /// An opcode that is not defined.
        case unknownOpcode
        /// A client's frame without a mask, or a server's with one.
        case wrongMask
        /// A length that would have fitted a shorter encoding, or with the highest of 64 bits set.
        case lengthEncoding
        /// A control frame longer than 125 bytes, or in fragments.
        case invalidControlFrame
        /// A continuation of nothing, or a new message within a fragmented one.
        case fragmentSequence
        /// A close frame of one byte, or with a code that must not be sent.
        case invalidClose
        /// Text, or a close frame's reason, that is not UTF-8.
        case invalidUTF8
        /// Compressed bytes that cannot be inflated.
        case invalidDeflate
        /// More bytes than ``MessageLimits`` allow, before or after inflation.
        case tooBig
        /// Fragments or blocks that carry nothing, again and again.
        case noProgress

        // The client's side of the handshake (RFC 6455 §4.1).
        /// The response is not 101; ``WebSocketError/status`` has its status.
        case notUpgraded
        /// The response is 101, but not to this handshake.
        case invalidUpgrade
        /// The server chose a subprotocol that was not offered, or none although one is needed. Or it refuses because
        /// it speaks others; then ``WebSocketError/status`` has the response's status.
        case subprotocol
        /// The server chose an extension, or parameters of one, that were not offered.
        case `extension`
    }

    package let code: Code
    /// The response's status, if it was not 101.
    package let status: Int?

    package init(_ code: Code, status: Int? = nil) {
        self.code = code
        self.status = status
    }

    /// The code for the close frame.
    package var closeCode: CloseCode {
        switch code {
        case .invalidUTF8, .invalidDeflate: .invalidPayload
        case .tooBig: .messageTooBig
        case .noProgress: .policyViolation
        case .extension: .mandatoryExtension
        case .reservedBit, .unknownOpcode, .wrongMask, .lengthEncoding, .invalidControlFrame, .fragmentSequence,
            .invalidClose, .notUpgraded, .invalidUpgrade, .subprotocol:
            .protocolError
        }
    }
}

extension WebSocketError: CustomStringConvertible {
    package var description: String {
        "WebSocket refused: \(code.rawValue)" + (status.map { " (status \($0))" } ?? "")
    }
}
