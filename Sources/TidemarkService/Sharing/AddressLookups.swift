// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFairness

/// How many addresses each account has looked up in the current minute. So nobody finds out by trial which
/// addresses have accounts. Links to which accounts ask for access are counted in the same way.
struct AddressLookups {
    private static let minute = Duration.seconds(60)
    /// More accounts look nothing up in one minute, so that memory is bounded (I-7).
    private static let ownersMax = 100_000

    private var counts: [WorkOwner: Int] = [:]
    /// The end of the minute, which is the same for all.
    private var end = Duration.zero

    /// Counts this many more addresses, if the account may look them up now.
    ///
    /// - Returns: how long the account must wait; nil: it does not have to wait.
    mutating func take(_ count: Int, for owner: WorkOwner, atMost countMax: Int, now: Duration) -> Duration? {
        if now >= end { (counts, end) = ([:], now + Self.minute) }
        let sum = (counts[owner] ?? 0) + count
        guard sum <= countMax, counts[owner] != nil || counts.count < Self.ownersMax else { return end - now }
        counts[owner] = sum
        return nil
    }
}
