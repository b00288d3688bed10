// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The changes of one commit in a zone: every change between two of the zone's numbers, as a fetch would show it.
///
/// A commit that proves a zone to be at one number, and leaves it at another, made all changes in between. For a device
/// that has read up to the first number these changes are the whole next page. The store is not read again.
package struct ZoneNews: Sendable {
    /// The most records. A commit with more is not news: devices read it from the store.
    package static let recordsMax = 20
    /// The most bytes of stored fields.
    package static let bytesMax = 8_192

    package let store: StoreIncarnation
    /// The zone before the commit.
    package let before: ZoneState
    package let changeNumber: ChangeNumber
    /// By growing change number.
    package let records: [RecordState]

    /// Nil if nothing changed, if there is more than a push should carry, or if a share has changed. A CKShare record is
    /// shown to each user in another way, so it is read.
    package init?(of changes: ZoneChanges, before: ZoneState?, store: StoreIncarnation) {
        guard let before, before.id == changes.zone, changes.changeNumber > before.changeNumber,
            !changes.records.isEmpty, changes.records.count <= Self.recordsMax,
            changes.sharing.isEmpty, changes.shareRecords.isEmpty,
            !changes.records.contains(where: { Share.isType($0.type) }),
            changes.records.reduce(0, { $0 + $1.fields.byteCount }) <= Self.bytesMax
        else { return nil }
        self.init(store: store, before: before, changeNumber: changes.changeNumber, records: changes.records)
    }

    package init(
        store: StoreIncarnation, before: ZoneState, changeNumber: ChangeNumber, records: [RecordState]
    ) {
        self.store = store
        self.before = before
        self.changeNumber = changeNumber
        self.records = records
    }

    /// The pages that a device would get if it fetched now and nothing else had changed. Nil if the device has to
    /// fetch.
    ///
    /// - Parameters:
    ///   - feed: how far the device has read in the feed of `viewer`, its private database.
    ///   - zone: how far it has read in the zone's feed.
    package func pages(
        after feed: FeedPosition, in zone: ZonePageQuery.Position, of viewer: DatabaseID, for device: DeviceID
    ) -> (database: DatabasePage, zone: ZonePage)? {
        // whether the default zone has a feed is for a fetch to find out.
        guard before.key.database == viewer, before.key.name != ZoneName.default,
            zone == ZonePageQuery.Position(zone: before.id, number: before.changeNumber),
            let position = feed.telling(of: before.id, at: changeNumber)
        else { return nil }
        // Nothing is read, so no tombstones are passed over.
        let query = ZonePageQuery(
            key: before.key, after: zone, recordsMax: Self.recordsMax, bytesMax: .max, device: device,
            reader: nil, tombstonesPassedMax: 0)
        var state = before
        state.changeNumber = changeNumber
        let read = ZonePageRead(zone: state, lastRemoval: nil, records: records, hasMore: false)
        guard case .success(let page) = ZonePage.make(of: read, for: query, store: store) else { return nil }
        let entry = DatabaseFeedEntry(
            number: nil, zone: before.id, key: before.key, changeNumber: changeNumber, removal: nil)
        let database = DatabasePage(
            ended: [], changed: [entry], token: .database(store: store, viewer: viewer, position: position),
            moreComing: false)
        return (database, page)
    }
}

extension FeedPosition {
    /// The position of a client that has now been sent this state of a living zone; nil if ``ahead`` is full.
    func telling(of zone: ZoneID, at changeNumber: ChangeNumber) -> FeedPosition? {
        let others = ahead.filter { $0.zone != zone }
        guard others.count < Self.aheadMax else { return nil }
        let all = others + [Ahead(zone: zone, changeNumber: changeNumber)]
        return FeedPosition(number: number, ahead: all.sorted { $0.zone < $1.zone })
    }
}
