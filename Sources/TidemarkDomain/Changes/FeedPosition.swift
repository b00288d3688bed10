// SPDX-License-Identifier: Apache-2.0

/// How far somebody has read in a database feed: everything up to a number, and besides that the states of a few zones
/// that had no number yet.
///
/// Numbers are written before they are told, which costs a wait for the disk. A zone's own change number is durable already,
/// so that a few zones can be told of by it: the position says which state was told, and whoever reads on from there is told
/// of the zone again if it is in another one.
package struct FeedPosition: Sendable, Equatable {
    /// A zone that was told of before the feed had a number for its state.
    package struct Ahead: Sendable, Equatable {
        package let zone: ZoneID
        /// Of the zone, not of the feed.
        package let changeNumber: ChangeNumber

        package init(zone: ZoneID, changeNumber: ChangeNumber) {
            self.zone = zone
            self.changeNumber = changeNumber
        }
    }

    /// Clients send them with each request.
    package static let aheadMax = 8

    package let number: ChangeNumber
    /// By zone, at most ``aheadMax``.
    package let ahead: [Ahead]

    package init(number: ChangeNumber, ahead: [Ahead] = []) {
        self.number = number
        self.ahead = ahead
    }

    /// Whether the entry says nothing that was not told on the way to here. An end always says something: only living zones
    /// are told of ahead. The number that a state gets later may be of an earlier one than was told.
    func hasTold(_ entry: DatabaseFeedEntry) -> Bool {
        entry.removal == nil && ahead.contains { $0.zone == entry.zone && $0.changeNumber >= entry.changeNumber }
    }
}

extension DatabaseFeedRead {
    /// Whether zones must get numbers before a page can be made of this: there are too many without, one of them has ended
    /// (ends are kept by number, R-221), or they do not fit on the page.
    package func needsNumbers(entriesMax: Int) -> Bool {
        !hasMore && !isTellable(entriesMax: entriesMax)
    }

    func isTellable(entriesMax: Int) -> Bool {
        unnumbered.count <= FeedPosition.aheadMax && unnumbered.allSatisfy { $0.removal == nil }
            && (unnumbered.isEmpty || entries.count + unnumbered.count <= entriesMax)
    }
}
