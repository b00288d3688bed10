// SPDX-License-Identifier: Apache-2.0

extension RequestID {
    /// Whether a device can have made it: counters begin with 1, and nobody stops waiting for what they are asking.
    package var isPlausible: Bool {
        counter > 0 && lowestUnanswered <= counter
    }
}

/// What a memory knows of a request that has come in.
package enum RequestRecall: Sendable, Equatable {
    /// It has not been decided here: decide it, and remember that.
    case unseen
    /// It has, and this is the encoded outcome.
    case remembered([UInt8])
    /// It may have, and what became of it may be forgotten: to decide it now could apply it twice.
    case tooOld
}

extension RequestMemory {
    /// - Parameter now: the server's clock, to which the device keeps when it dates its requests.
    package func recall(_ id: RequestID, now: Timestamp, limits: Limits) -> RequestRecall {
        if let outcome = outcomes[id.counter] { return .remembered(outcome) }
        if id.counter < lowestCounter { return .tooOld }
        let oldest = now.milliseconds - limits.requestMemoryMilliseconds
        return id.issuedAt.milliseconds < oldest ? .tooOld : .unseen
    }

    /// Takes in one outcome more, and drops those that the device no longer waits for.
    ///
    /// Bounded whatever the device says it waits for: past `requestsInFlightMax` outcomes or `requestMemoryBytesMax` bytes
    /// the oldest are forgotten, but never the new one. A request whose outcome is forgotten is refused when repeated,
    /// not applied again.
    package mutating func remember(_ outcome: [UInt8], of id: RequestID, limits: Limits) {
        outcomes[id.counter] = outcome
        forget(below: max(lowestCounter, id.lowestUnanswered))
        var byteCount = outcomes.values.reduce(0) { $0 + $1.count }
        while outcomes.count > limits.requestsInFlightMax || byteCount > limits.requestMemoryBytesMax,
            let oldest = outcomes.keys.min(), oldest != id.counter
        {
            byteCount -= outcomes[oldest]?.count ?? 0
            forget(below: oldest + 1)
        }
    }

    private mutating func forget(below counter: UInt64) {
        lowestCounter = max(lowestCounter, counter)
        for old in outcomes.keys.filter({ $0 < counter }) { outcomes[old] = nil }
    }
}
