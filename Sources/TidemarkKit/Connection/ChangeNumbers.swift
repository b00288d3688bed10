// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// The numbers of requests that change data, in one life of a device.
struct ChangeNumbers {
    private var next: UInt64 = 1
    /// Stamps of changes that their callers may ask for once more, by nonce.
    private var kept: [UInt64: WireRequestStamp] = [:]
    /// Nonces of such changes whose life has ended. Their outcome can no longer be asked for.
    private var lost: Set<UInt64> = []

    /// The stamp of a change that is sent for the first time.
    ///
    /// - Parameter lowestUnanswered: of the requests that wait for an answer; nil: none does.
    mutating func stamp(nonce: UInt64, epoch: UInt64, lowestUnanswered: UInt64?) -> WireRequestStamp {
        var stamp = WireRequestStamp()
        stamp.counter = next
        next += 1
        // The server forgets the outcomes of lower numbers. It must remember those that will be asked for again.
        let lowestKept = kept.values.lazy.map(\.counter).min()
        stamp.lowestUnanswered = min(lowestUnanswered ?? stamp.counter, lowestKept ?? stamp.counter)
        stamp.epoch = epoch
        stamp.nonce = nonce
        return stamp
    }

    /// Requests are of a new life from now on.
    mutating func beginLife() {
        next = 1
        lost.formUnion(kept.keys)
        kept = [:]
    }

    func hasLost(nonce: UInt64) -> Bool { lost.contains(nonce) }

    mutating func keep(_ stamp: WireRequestStamp) {
        kept[stamp.nonce] = stamp
    }

    /// The stamp that the change had when it was sent before; nil: it was not.
    mutating func take(nonce: UInt64) -> WireRequestStamp? {
        kept.removeValue(forKey: nonce)
    }

    /// The change is not asked for again.
    mutating func forget(nonce: UInt64) {
        kept[nonce] = nil
        lost.remove(nonce)
    }
}
