// SPDX-License-Identifier: Apache-2.0

/// How far a client has read in a database feed. It has read everything up to a number, and the states of a few zones
/// that had no number yet.
///
/// The feed's numbers are written before a client sees them, which costs a wait for the disk. A zone's own change
/// number is durable already. So a page may include a few zones by their own numbers. The position records which state
/// was sent; a later fetch sends the zone again if its state differs.
package struct FeedPosition: Sendable, Equatable {
    /// A zone that was sent before the feed had a number for its state.
    package struct Ahead: Sendable, Equatable {
        package let zone: ZoneID
        /// The zone's change number, not the feed's.
        package let changeNumber: ChangeNumber

        package init(zone: ZoneID, changeNumber: ChangeNumber) {
            self.zone = zone
            self.changeNumber = changeNumber
        }
    }

    /// The most entries in ``ahead``. Clients send them with every request, so there are few.
    package static let aheadMax = 8

    package let number: ChangeNumber
    /// By zone, at most ``aheadMax``.
    package let ahead: [Ahead]

    package init(number: ChangeNumber, ahead: [Ahead] = []) {
        self.number = number
        self.ahead = ahead
    }

    /// Whether the client already has what the entry says. False for every end: only living zones are sent ahead. The
    /// number that a state gets later may belong to an earlier state than the one that was sent.
    func hasTold(_ entry: DatabaseFeedEntry) -> Bool {
        entry.removal == nil && ahead.contains { $0.zone == entry.zone && $0.changeNumber >= entry.changeNumber }
    }
}

extension DatabaseFeedRead {
    /// Whether zones must get numbers before a page can be made. That is so if too many have none, if one of them has ended (ends are kept
    /// by number, R-221), or if they do not fit on the page. In a shared database it is also so if one is new (``mustNumber``).
    package func needsNumbers(entriesMax: Int) -> Bool {
        !hasMore && !isTellable(entriesMax: entriesMax)
    }

    func isTellable(entriesMax: Int) -> Bool {
        !mustNumber && unnumbered.count <= FeedPosition.aheadMax && unnumbered.allSatisfy { $0.removal == nil }
            && (unnumbered.isEmpty || entries.count + unnumbered.count <= entriesMax)
    }
}
