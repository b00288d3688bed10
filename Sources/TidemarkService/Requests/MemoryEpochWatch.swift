// SPDX-License-Identifier: Apache-2.0

/// A server's knowledge of the store's memory epoch, for requests that arrive: a pure value.
///
/// An epoch that was read is used only after a while. A machine that was suspended for days may read the epoch before
/// it reads a request that waited in a socket all that time.
struct MemoryEpochWatch {
    /// Longer than a request can be on its way: a silent connection is closed after 50 s.
    static let delay = Duration.seconds(60)

    private var known: Int64?
    /// An epoch that was read and is not in use yet.
    private var next: (epoch: Int64, readAt: Duration)?

    /// Takes in an epoch that was read from the store.
    ///
    /// - Parameter now: on a clock that may stand still while the machine is suspended.
    mutating func learn(_ epoch: Int64, now: Duration) {
        settle(now)
        guard let known else { return self.known = epoch }
        if epoch > next?.epoch ?? known { next = (epoch, now) }
    }

    /// An epoch before whose end no request was sent that arrives now. Nil if no epoch was ever read.
    mutating func atArrival(now: Duration) -> Int64? {
        settle(now)
        return known
    }

    private mutating func settle(_ now: Duration) {
        guard let next, now - next.readAt >= Self.delay else { return }
        (known, self.next) = (next.epoch, nil)
    }
}
