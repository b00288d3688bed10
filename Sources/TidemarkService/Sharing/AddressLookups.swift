// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFairness

/// How many addresses each account has looked up in its current minute. So nobody finds out by trying which
/// addresses have accounts.
struct AddressLookups {
    private struct Minute {
        let end: Duration
        var count: Int
    }

    private static let minute = Duration.seconds(60)
    /// Minutes that are over are forgotten once there are so many.
    private static let minutesMax = 10_000

    private var minutes: [WorkOwner: Minute] = [:]

    /// Counts so many more addresses, if the account may look them up now.
    ///
    /// - Returns: how long the account must wait; nil: it need not.
    mutating func take(_ count: Int, for owner: WorkOwner, atMost countMax: Int, now: Duration) -> Duration? {
        if minutes.count >= Self.minutesMax { minutes = minutes.filter { now < $0.value.end } }
        var minute = minutes[owner] ?? Minute(end: now + Self.minute, count: 0)
        if now >= minute.end { minute = Minute(end: now + Self.minute, count: 0) }
        guard minute.count + count <= countMax else { return minute.end - now }
        minute.count += count
        minutes[owner] = minute
        return nil
    }
}
