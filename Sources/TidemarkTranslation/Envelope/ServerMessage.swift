// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkWire

/// Makes the bytes of the messages that a server sends.
package enum ServerMessage {
    /// The answer to request `id`.
    package static func answer(_ id: UInt64, _ answer: WireServerEnvelope.OneOfAnswer) -> [UInt8] {
        var envelope = WireServerEnvelope()
        envelope.id = id
        envelope.answer = answer
        return envelope.encoded
    }

    /// The answer for a request that failed as a whole.
    ///
    /// - Parameter retryAfter: seconds. Nil: the reason's own delay.
    package static func failure(
        _ id: UInt64, _ reason: FailureReason, detail: String? = nil, retryAfter: Double? = nil
    ) -> [UInt8] {
        answer(id, .failure(reason.wire(detail: detail, retryAfter: retryAfter)))
    }

    /// The answer to a `Hello` that is refused.
    ///
    /// - Parameter requestSession: the bytes that name the requests of the session.
    package static func refusedHello(_ id: UInt64, _ refusal: Refusal, requestSession: [UInt8]) -> [UInt8] {
        var failure = refusal.code.wire(detail: refusal.detail, retryAfter: refusal.retryAfter)
        failure.requestSession = requestSession
        failure.signInProblem = refusal.problem.map(WireSignInProblem.init) ?? .unspecified
        return answer(id, .failure(failure))
    }

    /// Answers with more bytes are no failures: their texts are short.
    private static let failureBytesMax = 4_096

    /// Why the request failed as a whole, read from its answer. Nil if it did not. For the log.
    package static func failureCode(in answer: [UInt8]) -> WireErrorCode? {
        guard answer.count <= failureBytesMax, let envelope = try? WireServerEnvelope(reading: answer),
            case .failure(let failure)? = envelope.answer
        else { return nil }
        return failure.code
    }

    /// A push, which answers nothing.
    package static func push(_ push: WirePush) -> [UInt8] {
        answer(0, .push(push))
    }

    package static func failure(_ id: UInt64, _ refusal: Refusal) -> [UInt8] {
        failure(id, refusal.code, detail: refusal.detail, retryAfter: refusal.retryAfter)
    }

    /// The start of the answer to request `id` with bytes of an asset. The bytes must follow.
    package static func assetChunkHead(_ id: UInt64, byteCount: Int) -> [UInt8] {
        func writeChunk(to writer: inout WireWriter) {
            WireAssetChunk.write(content: ContentAhead(byteCount: byteCount), to: &writer)
        }
        let length = WireWriter.size { writeChunk(to: &$0) }
        var writer = WireWriter(capacity: 32)
        WireServerEnvelope.write(id: id, to: &writer)
        WireServerEnvelope.begin(fetchAssetChunk: length, to: &writer)
        writeChunk(to: &writer)
        return writer.bytes
    }
}
