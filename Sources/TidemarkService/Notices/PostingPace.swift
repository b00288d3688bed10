// SPDX-License-Identifier: Apache-2.0

/// How often one server may publish on a bus, and how much at once.
package struct PostingPace: Sendable, Equatable {
    /// From one post to the next, while there is something to post.
    package let interval: Duration
    /// Notices of one post. Bounded, because they are in few messages.
    package let noticesMax: Int

    private static let shortest = Duration.milliseconds(10)
    /// The sweep finds everything after ten seconds (`SessionSettings.sweepInterval`), so nobody needs to wait longer.
    private static let longest = Duration.seconds(10)
    /// For the shortest interval. A longer interval has more, in proportion.
    private static let fewestNotices = 100
    private static let mostNotices = 1_000

    /// For a bus on which a post costs the same however many servers there are.
    package static let quickest = PostingPace(listeners: 1)

    /// For a bus on which each post wakes each listener.
    ///
    /// So N busy servers cause N² wake-ups in each interval. PostgreSQL wakes about 100,000 listeners a second on two cores,
    /// and does nothing else meanwhile. With N² × 0.1 ms it spends a tenth of that, whatever N is.
    package init(listeners: Int) {
        // Beyond, the longest interval is reached anyway.
        let count = min(max(listeners, 1), 1_000)
        interval = min(max(.microseconds(100 * count * count), Self.shortest), Self.longest)
        noticesMax = min(Self.fewestNotices * Int(interval / Self.shortest), Self.mostNotices)
    }
}
