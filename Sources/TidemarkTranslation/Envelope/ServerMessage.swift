// SPDX-License-Identifier: Apache-2.0

internal import SwiftProtobuf
package import TidemarkDomain
package import TidemarkWire

/// Makes the bytes of what a server sends.
package enum ServerMessage {
    /// The answer to request `id`.
    package static func answer(_ id: UInt64, _ answer: WireServerEnvelope.OneOf_Answer) -> [UInt8] {
        var envelope = WireServerEnvelope()
        envelope.id = id
        envelope.answer = answer
        return envelope.encoded
    }

    /// The answer that request `id` failed as a whole.
    ///
    /// - Parameter retryAfter: seconds; nil: the reason's own.
    package static func failure(
        _ id: UInt64, _ reason: FailureReason, detail: String? = nil, retryAfter: Double? = nil
    ) -> [UInt8] {
        answer(id, .failure(reason.wire(detail: detail, retryAfter: retryAfter)))
    }

    /// A push, which answers nothing.
    package static func push(_ push: WirePush) -> [UInt8] {
        answer(0, .push(push))
    }

    package static func failure(_ id: UInt64, _ refusal: Refusal) -> [UInt8] {
        failure(id, refusal.code, detail: refusal.detail)
    }
}

extension Message {
    /// The bytes of a message of ours.
    var encoded: [UInt8] {
        do {
            return try serializedBytes()
        } catch {
            // Only messages over 2 GiB and bad UTF-8 in a string fail to encode; answers are bounded, strings are valid.
            preconditionFailure("answer cannot be encoded: \(error)")
        }
    }
}
