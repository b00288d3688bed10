// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// What one commit changed in a zone: every change between two of the zone's numbers, as a fetch would show it.
///
/// Who commits a change of a zone that is proven to be at one number, and leaves it at another, made all changes in between. So to a device that has read
/// as far as the first number these are the whole of the next page, and nobody needs to read them from the store again.
package struct ZoneNews: Sendable {
    package static let recordsMax = 20
    /// Of stored fields.
    package static let bytesMax = 8_192

    package let store: StoreIncarnation
    /// The zone as it was.
    package let before: ZoneState
    package let changeNumber: ChangeNumber
    /// By growing change number.
    package let records: [RecordState]

    /// Nil if there is nothing, or more than a push should carry.
    package init?(of changes: ZoneChanges, before: ZoneState?, store: StoreIncarnation) {
        guard let before, before.id == changes.zone, changes.changeNumber > before.changeNumber,
            !changes.records.isEmpty, changes.records.count <= Self.recordsMax,
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

    /// The pages that a device would get if it asked now and nothing else had changed. Nil if it has to ask.
    ///
    /// - Parameters:
    ///   - feed: how far it has read in the feed of `viewer`, its private database.
    ///   - zone: how far in the zone's feed.
    package func pages(
        after feed: FeedPosition, in zone: ZonePageQuery.Position, of viewer: DatabaseID, for device: DeviceID
    ) -> (database: DatabasePage, zone: ZonePage)? {
        // of the default zone, whether it has a feed, a fetch finds out.
        guard before.key.database == viewer, before.key.name != ZoneName.default,
            zone == ZonePageQuery.Position(zone: before.id, number: before.changeNumber),
            let position = feed.telling(of: before.id, at: changeNumber)
        else { return nil }
        let query = ZonePageQuery(
            key: before.key, after: zone, recordsMax: Self.recordsMax, bytesMax: .max, device: device)
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
    /// Where somebody is who is told now that a living zone is in this state; nil if there is no room for that.
    func telling(of zone: ZoneID, at changeNumber: ChangeNumber) -> FeedPosition? {
        let others = ahead.filter { $0.zone != zone }
        guard others.count < Self.aheadMax else { return nil }
        let all = others + [Ahead(zone: zone, changeNumber: changeNumber)]
        return FeedPosition(number: number, ahead: all.sorted { $0.zone < $1.zone })
    }
}
