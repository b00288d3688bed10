// SPDX-License-Identifier: Apache-2.0

/// A request that has its answer, and where its time went. Times are on the clock of its scheduler.
package struct TracedRequest: Sendable {
    package let uuid: RequestUUID
    /// The request's name in the protocol.
    package let kind: String
    /// `ok`, or the code of the first failure of the request or of an item.
    package let result: String
    /// Whether the server failed, and not its client.
    package let isFault: Bool
    /// The account's number. Nil: nobody is signed in.
    package let account: Int64?
    package let answerByteCount: Int
    package let start: Duration
    /// When its turn came. Nil: it waited for none.
    package let turn: Duration?
    package let end: Duration
    package let notes: RequestNotes

    package init(
        _ uuid: RequestUUID, kind: String, result: String, isFault: Bool, account: Int64?, answerByteCount: Int,
        start: Duration, turn: Duration?, end: Duration, notes: RequestNotes
    ) {
        self.uuid = uuid
        self.kind = kind
        self.result = result
        self.isFault = isFault
        self.account = account
        self.answerByteCount = answerByteCount
        self.start = start
        self.turn = turn
        self.end = end
        self.notes = notes
    }
}

/// Traces some requests. A server that traces none has none of these. Callable from any thread, and never waits.
package protocol RequestTracing: Sendable {
    /// Whether a request is traced. It is asked before anything is made for the trace.
    func samples(_ request: RequestUUID) -> Bool

    /// A request that is traced has its answer.
    func record(_ request: TracedRequest)
}
