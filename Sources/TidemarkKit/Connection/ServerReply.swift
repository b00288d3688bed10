// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry
package import TidemarkWire

/// The server's answer to a request, and the request's name in the server's log.
package struct ServerReply: Sendable {
    let envelope: WireServerEnvelope
    /// Nil: the server names no requests.
    let request: RequestUUID?

    init(_ envelope: WireServerEnvelope, to request: RequestUUID? = nil) {
        self.envelope = envelope
        self.request = request
    }

    package var answer: WireServerEnvelope.OneOfAnswer? { envelope.answer }
}

/// How a request is called in the log and in errors.
struct RequestMark: Equatable {
    /// Nil: it was not sent.
    var kind: WireRequestKind?
    /// The UUID of the last sending. Nil: it was not sent, or the server names no requests.
    var uuid: RequestUUID?
}

extension ServerReply {
    /// The reply, unless the whole request was refused.
    func orRefusal() throws(CKError) -> ServerReply {
        if case .failure(let failure) = answer { throw CKError(failure, to: request) }
        return self
    }
}
