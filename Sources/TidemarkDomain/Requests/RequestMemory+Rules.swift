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

    /// This memory with one outcome more, and without those that the device no longer waits for.
    ///
    /// Bounded whatever the device says it waits for: past `requestsInFlightMax` outcomes or `requestMemoryBytesMax` bytes
    /// the oldest are forgotten, but never the new one. A request whose outcome is forgotten is refused when repeated,
    /// not applied again.
    package func remembering(_ outcome: [UInt8], of id: RequestID, limits: Limits) -> RequestMemory {
        var memory = self
        memory.outcomes[id.counter] = outcome
        memory.forget(below: max(lowestCounter, id.lowestUnanswered))
        var byteCount = memory.outcomes.values.reduce(0) { $0 + $1.count }
        var counters = memory.outcomes.keys.sorted()[...]
        while counters.count > limits.requestsInFlightMax || byteCount > limits.requestMemoryBytesMax,
            let oldest = counters.first, oldest != id.counter
        {
            counters.removeFirst()
            byteCount -= memory.outcomes[oldest]?.count ?? 0
            memory.forget(below: oldest + 1)
        }
        return memory
    }

    private mutating func forget(below counter: UInt64) {
        lowestCounter = max(lowestCounter, counter)
        if outcomes.keys.contains(where: { $0 < counter }) { outcomes = outcomes.filter { $0.key >= counter } }
    }
}
