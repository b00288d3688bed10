// SPDX-License-Identifier: Apache-2.0

/// A question for one page of a zone's change feed (R-208 … R-214).
package struct ZonePageQuery: Sendable {
    package let key: ZoneKey
    /// From the token; nil for a first fetch.
    package let after: Position?
    package let recordsMax: Int
    /// The page is cut when the stored bytes of its fields pass this; it holds at least one record.
    package var bytesMax: Int
    /// Who asks: with no token, tombstones of records that this device created are included.
    package let device: DeviceID
    /// With no token: all tombstones are included, for a device that has had some of the zone before and lost its token.
    package let tellsEnds: Bool
    /// By whose right: what may not be read is left out (I-5). Nil: everything may be read.
    package let reader: RecordAccess?
    /// Whether the container gives all zones a feed, the default zones too, beyond CloudKit.
    package let feedsEverywhere: Bool

    package struct Position: Sendable, Equatable {
        package let zone: ZoneID
        package let number: ChangeNumber
        /// While a first fetch goes on over several pages: the zone's number when it began. Deletions up to there are
        /// older than anything that the device has, so the rules leave them out. Otherwise 0.
        package let begunAt: ChangeNumber

        package init(zone: ZoneID, number: ChangeNumber, begunAt: ChangeNumber = 0) {
            self.zone = zone
            self.number = number
            self.begunAt = begunAt
        }
    }

    package init(
        key: ZoneKey, after: Position?, recordsMax: Int, bytesMax: Int, device: DeviceID, tellsEnds: Bool = false,
        reader: RecordAccess? = nil, feedsEverywhere: Bool = false
    ) {
        self.key = key
        self.after = after
        self.recordsMax = recordsMax
        self.bytesMax = bytesMax
        self.device = device
        self.tellsEnds = tellsEnds
        self.reader = reader
        self.feedsEverywhere = feedsEverywhere
    }
}

/// What one statement, so one snapshot, answered: the zone as it is and the records past the position.
package struct ZonePageRead: Sendable {
    /// The living incarnation; nil if there is none.
    package var zone: ZoneState?
    package var lastRemoval: ZoneRemovalReason?
    /// By growing change number; may hold more than the query's bounds ask for, the rules cut it (`ZonePage`).
    package var records: [RecordState]
    /// Whether there are records past the last one in ``records``.
    package var hasMore: Bool
    /// The last mark that the asking device gave; empty: none.
    package var clientToken: [UInt8] = []

    package init(zone: ZoneState?, lastRemoval: ZoneRemovalReason?, records: [RecordState], hasMore: Bool) {
        self.zone = zone
        self.lastRemoval = lastRemoval
        self.records = records
        self.hasMore = hasMore
    }
}

/// One line of a viewer's database feed: a zone, what it is now, and the viewer's feed number of that.
package struct DatabaseFeedEntry: Sendable, Equatable {
    /// Nil: the feed has none yet.
    package let number: ChangeNumber?
    package let zone: ZoneID
    package let key: ZoneKey
    /// The zone's own, in the state that the entry tells of.
    package let changeNumber: ChangeNumber
    /// Nil: created or changed. Otherwise this incarnation is gone.
    package let removal: ZoneRemovalReason?

    package init(
        number: ChangeNumber?, zone: ZoneID, key: ZoneKey, changeNumber: ChangeNumber, removal: ZoneRemovalReason?
    ) {
        self.number = number
        self.zone = zone
        self.key = key
        self.changeNumber = changeNumber
        self.removal = removal
    }
}

/// What one statement, so one snapshot, answered about a viewer's database feed.
package struct DatabaseFeedRead: Sendable, Equatable {
    /// The newest number that the feed has given out.
    package var head: ChangeNumber
    /// Tokens below it are expired.
    package var oldestToken: ChangeNumber
    /// Zones that have moved past what the feed has seen: those of them that are read first, one more than
    /// ``FeedPosition/aheadMax`` at most.
    package var unnumbered: [DatabaseFeedEntry]
    /// Whether the container gives the default zones a feed too, beyond CloudKit.
    package var feedsEverywhere: Bool
    /// Entries past the token, by growing number, at most as many as asked for.
    package var entries: [DatabaseFeedEntry]
    package var hasMore: Bool

    package init(
        head: ChangeNumber, oldestToken: ChangeNumber = 0, unnumbered: [DatabaseFeedEntry] = [],
        feedsEverywhere: Bool = false, entries: [DatabaseFeedEntry], hasMore: Bool
    ) {
        self.head = head
        self.oldestToken = oldestToken
        self.unnumbered = unnumbered
        self.feedsEverywhere = feedsEverywhere
        self.entries = entries
        self.hasMore = hasMore
    }
}
