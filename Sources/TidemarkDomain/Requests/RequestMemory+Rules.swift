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
    /// It may have, and what became of it may be forgotten. To decide it now could apply it twice.
    case forgotten
}

extension RequestMemory {
    /// Age is measured in the store's own epochs: a memory is cleared no sooner than `Limits.memoryEpochsKept` epochs after
    /// it was written, and it was written no sooner than the request was first sent.
    ///
    /// - Parameter epoch: the store's memory epoch, read in the same snapshot as this memory.
    package func recall(_ id: RequestID, epoch: Int64, limits: Limits) -> RequestRecall {
        if let outcome = outcomes[id.counter] {
            // Another nonce: somebody else lives the same life, such as a copy of a running machine. This request was never
            // decided.
            return nonces[id.counter] ?? 0 == id.nonce ? .remembered(outcome) : .forgotten
        }
        if id.counter < lowestCounter { return .forgotten }
        let isMemoryWhole = id.epoch > epoch - limits.memoryEpochsKept && id.epoch <= epoch
        return id.isRepeated && !isMemoryWhole ? .forgotten : .unseen
    }

    /// Takes in one outcome more, and drops those that the device no longer waits for.
    ///
    /// Bounded whatever the device says it waits for: past `requestsInFlightMax` outcomes or `requestMemoryBytesMax` bytes
    /// the oldest are forgotten, but never the new one. A request whose outcome is forgotten is not applied again when it
    /// is repeated.
    package mutating func remember(_ outcome: [UInt8], of id: RequestID, limits: Limits) {
        outcomes[id.counter] = outcome
        nonces[id.counter] = id.nonce == 0 ? nil : id.nonce
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
        for old in outcomes.keys.filter({ $0 < counter }) { (outcomes[old], nonces[old]) = (nil, nil) }
    }
}
