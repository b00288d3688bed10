// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

// The feed of a zone for a user who sees hierarchies of it. It has the events in the user's shares: a record came under one
// or was saved, or it left the share or was deleted. Its numbers are those of the zone. Records that came or went with an ancestor have
// separate numbers, and keep their versions.
//
// A token names the parts in shares for which it was given. If the user has other parts now, the token has expired. Records of the new
// parts may be older than the token, and no event reports the records of the lost parts. A user who has left a share and joined it again
// has another part. Otherwise they would learn what came and went in between.
//
// No page reports records that left a share before the user's part in it began. Nor does a page report a record that left a share and is in
// another of the user's shares, because the user still has it. Such rows are still read, and left out here, so that a read looks at a
// bounded number of rows.

/// One event in a share, with the record if it is there.
package struct HierarchyEvent: Sendable, Equatable {
    package let row: ShareRecord
    /// Nil: the record has left.
    package let record: RecordState?
    /// Whether it has left the share, and another of the shares that were asked for covers it.
    package let isElsewhere: Bool

    package init(row: ShareRecord, record: RecordState?, isElsewhere: Bool) {
        self.row = row
        self.record = record
        self.isElsewhere = isElsewhere
    }

    fileprivate var byteCount: Int { record?.fields.byteCount ?? 0 }

    /// As it stands in a page.
    fileprivate var entry: RecordState {
        record
            ?? RecordState(
                name: row.name, type: row.type, fields: .init(), changeNumber: row.number, isDeleted: true, parent: nil,
                createdAt: Timestamp(milliseconds: 0), createdBy: UserID(0), createdByDevice: .nobody,
                modifiedAt: Timestamp(milliseconds: 0), modifiedBy: UserID(0), batchEnd: row.number)
    }
}

extension ShareAccess {
    /// Through which parts in shares of hierarchies the user sees the zone, in short: what tokens of the zone's feed say. A part
    /// is a share, and the number of the change with which the participation began. Nil for somebody who reads everything.
    package var viewMark: UInt64? {
        guard !readsEverything else { return nil }
        var mark: UInt64 = 14_695_981_039_346_656_037
        for share in hierarchies {
            for number in [share.rawValue, acceptedNumber(in: share) ?? 0] {
                var bits = UInt64(bitPattern: number)
                for _ in 0..<8 {
                    mark = (mark ^ (bits & 0xFF)) &* 1_099_511_628_211
                    bits >>= 8
                }
            }
        }
        return mark
    }
}

extension ZonePageQuery {
    /// The query to use instead, once the read shows through which shares the reader sees the zone; nil: the query was right.
    package func corrected(by read: ZonePageRead) -> ZonePageQuery? {
        guard !isAhead, let access = reader?.sharing(read.sharing)?.share, read.zone != nil || read.sharing != nil
        else {
            return nil
        }
        let hierarchies = access.readsEverything ? nil : access.hierarchies
        guard hierarchies != self.hierarchies else { return nil }
        var query = self
        query.hierarchies = hierarchies
        return query
    }
}

extension ZonePage {
    /// Cuts the events that were read of hierarchies to a page.
    ///
    /// - Parameter access: of the reader, as it was read with the page.
    static func make(
        ofHierarchies read: ZonePageRead, for query: ZonePageQuery, seenBy access: ShareAccess, viewer: UserID?,
        store: StoreIncarnation
    ) -> Result<ZonePage, FailureReason> {
        guard let zone = read.zone else { return .failure(.zoneNotFound) }
        // The reader sees the zone through other shares than were asked for: ask again.
        guard query.hierarchies == access.hierarchies else { return .failure(.zoneBusy) }
        if let position = query.after {
            let numbers = zone.oldestTokenNumber...max(zone.oldestTokenNumber, zone.changeNumber)
            let told = max(position.number, position.begunAt)
            guard position.zone == zone.id, position.view == access.viewMark, numbers.contains(told) else {
                return .failure(.tokenExpired)
            }
        }
        let events = read.events.filter { event in
            guard event.row.hasLeft else { return true }
            if event.isElsewhere { return false }
            // A first fetch may ask for all ends. It gets those of records that the reader could have seen.
            guard let accepted = access.acceptedNumber(in: event.row.share) else { return false }
            return event.row.number > max(query.leftOutThrough, accepted)
        }
        var end = 0
        var byteCount = 0
        while end < events.count, end < max(1, query.recordsMax) {
            byteCount += events[end].byteCount
            if let record = events[end].record, Share.isType(record.type) { byteCount += query.shareBytes(in: zone) }
            if end > 0, byteCount > query.bytesMax { break }
            end += 1
        }
        let isLast = end == events.count && !read.hasMore
        // If a store said that there is more and got nowhere, the client would fetch for ever.
        guard isLast || !read.events.isEmpty else { return .failure(.serverFault) }
        let number =
            isLast
            ? zone.changeNumber
            : end == events.count ? read.events[read.events.count - 1].row.number : events[end - 1].row.number
        var position = query.next(number, in: zone, isLast: isLast)
        position.view = access.viewMark
        return .success(
            ZonePage(
                entries: (read.sharing?.namingRoots(events[..<end].map(\.entry)) ?? []), zone: zone.id,
                token: .zone(zone.key, viewer: viewer, store: store, position: position), moreComing: !isLast,
                clientToken: read.clientToken))
    }
}
