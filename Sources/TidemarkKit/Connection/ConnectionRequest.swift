// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// A request of a ``ConnectionMachine`` that waits for its answer.
struct ConnectionRequest {
    let isChange: Bool
    /// Answered by what Hello brings; never sent.
    var isIdentification = false
    /// A part of an upload: large, and another server may be elsewhere, so that it is not sent again after a cut.
    var isPart = false
    /// Nil once the request has been encoded and is not encoded again.
    var make: (@Sendable (WireRequestStamp?) -> WireClientEnvelope)?
    var bytes: [UInt8] = []
    /// For a change: random bits.
    var nonce: UInt64 = 0
    /// For a change: whether its caller may ask for it once more, if it ends without an outcome.
    var mayRepeat = false
    /// The stamp of a change that was sent.
    var stamp: WireRequestStamp?
    var isSentOnThisChannel = false
    var wasSent = false
    /// Whether it was sent over a connection that ended without its answer: it may have been carried out.
    var wasCut = false
    /// For a change: whether an answer left open what became of it.
    var isOutcomeOpen = false
    var mark = RequestMark()
}
