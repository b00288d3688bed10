// SPDX-License-Identifier: Apache-2.0

/// What this server knows of the store's memory epoch, for requests that come: a pure value.
///
/// What it reads it uses after a while only. A machine that was suspended for days may read the epoch before it reads a
/// request that has waited in a socket for as long.
struct MemoryEpochWatch {
    /// Longer than a request can be on its way: a connection of which nothing is heard is cut after 50 s.
    static let delay = Duration.seconds(60)

    private var known: Int64?
    /// Read, but not in use yet.
    private var next: (epoch: Int64, readAt: Duration)?

    /// The store's epoch was read.
    ///
    /// - Parameter now: on a clock that need not go on while the machine is suspended.
    mutating func learn(_ epoch: Int64, now: Duration) {
        settle(now)
        guard let known else { return self.known = epoch }
        if epoch > next?.epoch ?? known { next = (epoch, now) }
    }

    /// An epoch before the end of which nothing was sent that comes now; nil: none was ever read.
    mutating func atArrival(now: Duration) -> Int64? {
        settle(now)
        return known
    }

    private mutating func settle(_ now: Duration) {
        guard let next, now - next.readAt >= Self.delay else { return }
        (known, self.next) = (next.epoch, nil)
    }
}
