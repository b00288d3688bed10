// SPDX-License-Identifier: Apache-2.0

extension RequestID {
    /// Whether a device can have made this stamp: counters begin with 1, and a device waits for the request that it
    /// sends.
    package var isPlausible: Bool {
        counter > 0 && lowestUnanswered <= counter
    }
}

/// The state of a request in a memory when it arrives.
package enum RequestRecall: Sendable, Equatable {
    /// It was not decided here before: decide it and remember the outcome.
    case unseen
    /// It was decided, with this encoded outcome.
    case remembered([UInt8])
    /// It may have been decided, and its outcome may be forgotten. Deciding it now could apply it twice.
    case forgotten
}

extension RequestMemory {
    /// Age is measured in the store's own epochs. A memory is cleared no sooner than `Limits.memoryEpochsKept` epochs
    /// after it was written. It was written no sooner than the request was first sent.
    ///
    /// - Parameters:
    ///   - arrivalEpoch: an epoch before which the request was not sent, as far as the server knew when it arrived. Nil
    ///     if nobody repeats it elsewhere.
    ///   - epoch: the store's memory epoch, read in the same snapshot as this memory; 0 for a memory that is known to
    ///     be complete.
    package func recall(
        _ id: RequestID, arrivalEpoch: Int64? = nil, epoch: Int64, limits: Limits
    ) -> RequestRecall {
        if let outcome = outcomes[id.counter] {
            // Another nonce: another process has the same life, such as a copy of a running machine. This request was
            // never decided.
            return nonces[id.counter] ?? 0 == id.nonce ? .remembered(outcome) : .forgotten
        }
        if id.counter < lowestCounter { return .forgotten }
        let cleared = epoch - limits.memoryEpochsKept
        // A repeat may have been decided at any time since the device first sent it, in epochs of the current store.
        if id.isRepeated { return id.epoch <= cleared || id.epoch > epoch ? .forgotten : .unseen }
        // A first sending is decided here for the first time, unless it waited here for days, for example in a
        // suspended server. Meanwhile a repeat may have been decided elsewhere. It was sent no sooner than in the later
        // of its two epochs.
        return max(id.epoch, arrivalEpoch ?? .max) <= cleared ? .forgotten : .unseen
    }

    /// Adds an outcome, and drops those for which the device no longer waits.
    ///
    /// It is bounded whatever the device says: beyond `requestsInFlightMax` outcomes or `requestMemoryBytesMax` bytes
    /// the oldest are forgotten, but never the new one. A repeat of a request whose outcome is forgotten is not applied
    /// again.
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
