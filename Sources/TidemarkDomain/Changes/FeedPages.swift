// SPDX-License-Identifier: Apache-2.0

/// A question for one page of a zone's change feed (R-208 … R-214).
package struct ZonePageQuery: Sendable {
    package let key: ZoneKey
    /// The position in the client's token; nil for a first fetch.
    package let after: Position?
    package let recordsMax: Int
    /// The page is cut once the stored bytes of its fields pass this. It holds at least one record.
    package var bytesMax: Int
    /// The most CKShare records of a page, whose shares come with up to ``Limits/participantsMax`` people each. A query of a
    /// client has ``Limits/pageSharesMax``.
    package var sharesMax = Int.max
    /// The device that asks, as ``RecordAccess/marking(_:)``. Its first fetch includes tombstones of records that it
    /// created.
    package let device: DeviceID
    /// Whether a fetch without a token includes all tombstones. For a device that had some of the zone before and lost
    /// its token.
    package let tellsEnds: Bool
    /// The access of the caller. Records that it may not read are left out (I-5). Nil: the caller may read everything.
    package private(set) var reader: RecordAccess?
    /// Whether the container gives all zones a feed, the default zones too, beyond CloudKit.
    package let feedsEverywhere: Bool
    /// How many tombstones that are left out one read passes over.
    package let tombstonesPassedMax: Int
    /// The shares of hierarchies through which the reader sees the zone, sorted; nil: the reader sees all of it. It is a guess, and the
    /// data that is read with the page decides.
    package var hierarchies: [ShareNumber]?

    /// The place in one zone's feed from which a device asks for changes.
    package struct Position: Sendable, Equatable {
        package let zone: ZoneID
        package let number: ChangeNumber
        /// During a first fetch of several pages: the zone's number when the fetch began. Deletions up to it are older
        /// than anything the device has, so the rules leave them out. Otherwise 0.
        package let begunAt: ChangeNumber
        /// Through which shares of hierarchies the reader saw the zone (``ShareAccess/viewMark``); nil: the reader saw all of
        /// it.
        package var view: UInt64?

        package init(zone: ZoneID, number: ChangeNumber, begunAt: ChangeNumber = 0, view: UInt64? = nil) {
            self.zone = zone
            self.number = number
            self.begunAt = begunAt
            self.view = view
        }
    }

    package init(
        key: ZoneKey, after: Position?, recordsMax: Int, bytesMax: Int, device: DeviceID, tellsEnds: Bool = false,
        reader: RecordAccess?, feedsEverywhere: Bool = false, tombstonesPassedMax: Int
    ) {
        self.key = key
        self.after = after
        self.recordsMax = recordsMax
        self.bytesMax = bytesMax
        self.device = device
        self.tellsEnds = tellsEnds
        self.reader = reader
        self.feedsEverywhere = feedsEverywhere
        self.tombstonesPassedMax = tombstonesPassedMax
    }

    /// deletions up to this number are left out, except those of records that the device created. 0 if none are.
    package var leftOutThrough: ChangeNumber { after?.begunAt ?? (tellsEnds ? 0 : .max) }

    /// How many records and tombstones one read looks at. It suffices for a full page, and for the record that
    /// tells whether there are more, unless more than ``tombstonesPassedMax`` are left out.
    package var lookedAtMax: Int { recordsMax + 1 + tombstonesPassedMax }

    /// The bytes of a page that a CKShare record counts beside its fields: an equal part of the page. The number of its people is read
    /// later, only for the shares in the page. Only hierarchies bring more than one share.
    package func shareBytes(in zone: ZoneState) -> Int {
        zone.hasHierarchies ? min(bytesMax, Self.countedBytesMax) / max(1, sharesMax) : 0
    }

    /// Sums of more cannot overflow.
    private static let countedBytesMax = 1 << 40

    /// Whether the page is read before anybody asks for it. In the shared database it is read as for the owner, and nobody
    /// gets it before their access was read (I-5).
    package var isAhead = false

    /// The part of the zone's shares that is read with the page.
    package var sharing: SharingRead { isAhead ? .nothing : SharingRead(for: reader) }

    /// Whether the zone is in the shared database of the caller. No zone there is a default zone.
    var isShared: Bool { reader?.scope == .shared }

    /// The same with another access.
    func read(by reader: RecordAccess?) -> ZonePageQuery {
        var query = self
        query.reader = reader
        return query
    }

    /// Whether a store passes over it, because the device must not get it.
    package func passesOver(_ record: RecordState) -> Bool {
        record.isDeleted && record.createdByDevice != device && record.changeNumber <= leftOutThrough
    }
}

/// The data that one statement read, so all of it is one snapshot: the zone's state and the records past the position.
package struct ZonePageRead: Sendable {
    /// The living incarnation; nil if there is none.
    package var zone: ZoneState?
    /// If no incarnation lives: why the last one ended. Nil if there never was one, or if it is forgotten.
    package var lastRemoval: ZoneRemovalReason?
    /// By growing change number. There may be more than the query's bounds allow; the rules cut them (`ZonePage`).
    package var records: [RecordState]
    /// Instead of ``records``, if the query is for hierarchies: by growing number.
    package var events: [HierarchyEvent] = []
    /// Whether there are records past the last one in ``records``.
    package var hasMore: Bool
    /// The number at which the read ended because it had looked at too many rows. Up to it, ``records`` has all
    /// that the query does not pass over. Nil if it ended for another reason.
    package var passedTo: ChangeNumber?
    /// The last client change token that the asking device sent; empty if there is none.
    package var clientToken: [UInt8] = []
    /// The zone's shares, if the query wants them and the zone lives.
    package var sharing: ZoneSharing?

    package init(zone: ZoneState?, lastRemoval: ZoneRemovalReason?, records: [RecordState], hasMore: Bool) {
        self.zone = zone
        self.lastRemoval = lastRemoval
        self.records = records
        self.hasMore = hasMore
    }
}

/// One entry of a viewer's database feed: a zone, its state, and the feed's number for that state.
package struct DatabaseFeedEntry: Sendable, Equatable {
    /// Nil if the feed has not given this state a number yet.
    package let number: ChangeNumber?
    package let zone: ZoneID
    package let key: ZoneKey
    /// The change number of the zone itself, in the state that the entry describes.
    package let changeNumber: ChangeNumber
    /// Nil if the zone was created or changed. Otherwise why this incarnation is gone.
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

/// The data that one statement read of a viewer's database feed, so all of it is one snapshot.
package struct DatabaseFeedRead: Sendable, Equatable {
    /// The newest number that the feed has assigned.
    package var head: ChangeNumber
    /// Tokens below it are expired.
    package var oldestToken: ChangeNumber
    /// Some zones with changes that the feed has not numbered yet: at most one more than ``FeedPosition/aheadMax``.
    /// None if there are more entries: they belong on the last page.
    package var unnumbered: [DatabaseFeedEntry]
    /// Whether the feed of a shared database lacks one of these zones as a living zone. The feed also lacks a
    /// zone if it has the zone only from before an end that it has not told. Such a zone is listed only with a number.
    /// When a viewer's access ends, no row shows what was listed before. So the feed has the end of each zone that is
    /// in it, and of no other zone.
    package var mustNumber = false
    /// Whether the container gives the default zones a feed too, beyond CloudKit.
    package var feedsEverywhere: Bool
    /// Entries past the token, by growing number, at most as many as were asked for.
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
