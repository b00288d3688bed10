// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// A part of a request's time.
struct RequestStep: Equatable {
    let name: String
    let start: Duration
    let end: Duration
    /// The statement that took longest in it. It has no values.
    var sql: String?
}

/// Where a request's time went.
enum RequestSteps {
    /// In the order of their beginnings: `waiting` for the account's turn, `store` for each wait for the store, and `answer`
    /// for the work after the last of these.
    static func all(of request: TracedRequest) -> [RequestStep] {
        var steps: [RequestStep] = []
        if let turn = request.turn { steps.append(RequestStep(name: "waiting", start: request.start, end: turn)) }
        var store = request.notes.storeWaits.map { RequestStep(name: "store", start: $0.start, end: $0.end) }
        if let slowest = request.notes.slowest,
            let longest = store.indices.max(by: { store[$0].time < store[$1].time })
        {
            store[longest].sql = oneLine(slowest.sql)
        }
        steps += store.sorted { $0.start < $1.start }
        // If there were many waits, some are not steps.
        let begin = (steps.map(\.end) + [request.notes.storeEnd ?? request.start]).max() ?? request.start
        if begin < request.end { steps.append(RequestStep(name: "answer", start: begin, end: request.end)) }
        return steps
    }

    /// Without the indentation of the source. Only as much as a span keeps is examined. Clients can cause statements of some hundred
    /// thousand characters, and this runs on an event loop.
    private static func oneLine(_ sql: String) -> String {
        let scalars = sql.unicodeScalars.prefix(OTLPSpan.textBytesMax)
        let line = Substring(scalars).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return scalars.endIndex == sql.endIndex ? line : line + " …"
    }
}

extension RequestStep {
    fileprivate var time: Duration { end - start }
}
