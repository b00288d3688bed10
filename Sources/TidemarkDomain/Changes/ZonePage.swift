// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// One page of a zone's change feed.
package struct ZonePage: Sendable, Equatable {
    /// Latest versions and tombstones, oldest change first (R-208 … R-210). A tombstone is a deletion with its type.
    package let entries: [RecordState]
    /// The incarnation to which the entries belong.
    package let zone: ZoneID
    /// The place from which the next fetch goes on. It is never past anything that this page leaves out (I-2).
    package let token: ChangeToken
    /// Whether the feed already holds more.
    package let moreComing: Bool
    /// The last client change token that the asking device sent with a change of the zone; empty if there is
    /// none.
    package var clientToken: [UInt8] = []

    /// The same page, with records that say more.
    package func with(entries: [RecordState]) -> ZonePage {
        ZonePage(entries: entries, zone: zone, token: token, moreComing: moreComing, clientToken: clientToken)
    }

    /// Cuts the read records to a page, or returns the reason why there is none.
    ///
    /// The first of these failures wins: `feedUnavailable`; the zone is missing;
    /// `tokenExpired`. A token expires if it is of an earlier incarnation, ahead of the zone, or older than the
    /// tombstones that are kept.
    ///
    /// In the shared database the first reason is `zoneNotFound`. It is for a reader who takes no part in a share of the zone as it was
    /// read (I-5). A page that is read ahead is the owner's.
    package static func make(
        of read: ZonePageRead, for query: ZonePageQuery, store: StoreIncarnation
    ) -> Result<ZonePage, FailureReason> {
        let viewer = query.reader?.viewer
        guard query.isShared else { return make(of: read, for: query, viewer: viewer, store: store) }
        if query.isAhead { return make(of: read, for: query.read(by: nil), viewer: viewer, store: store) }
        guard read.zone != nil, let reader = query.reader?.sharing(read.sharing) else { return .failure(.zoneNotFound) }
        if let access = reader.share, !access.readsEverything {
            return make(ofHierarchies: read, for: query, seenBy: access, viewer: viewer, store: store)
        }
        // The zone was shared as a whole since it was looked at: it is asked for again.
        guard query.hierarchies == nil else { return .failure(.zoneBusy) }
        // A reader who may read everything gets the owner's page, and no record is checked again.
        let filter = reader.share?.readsEverything == true ? nil : reader
        return make(of: read, for: query.read(by: filter), viewer: viewer, store: store)
    }

    /// - Parameter viewer: as ``RecordAccess/viewer``; the query's reader is the one for whom records are left out.
    private static func make(
        of read: ZonePageRead, for query: ZonePageQuery, viewer: UserID?, store: StoreIncarnation
    ) -> Result<ZonePage, FailureReason> {
        let hasFeed = query.key.name != ZoneName.default || query.feedsEverywhere
        guard hasFeed else { return .failure(.feedUnavailable) }
        guard let zone = read.zone else { return .failure(.missingZone(read.lastRemoval)) }
        if let position = query.after {
            let numbers = zone.oldestTokenNumber...max(zone.oldestTokenNumber, zone.changeNumber)
            // A first fetch needs no tombstones from before it began, so it continues even where they are forgotten.
            let told = max(position.number, position.begunAt)
            guard position.zone == zone.id, position.view == nil, numbers.contains(told) else {
                return .failure(.tokenExpired)
            }
        }
        // If a store said that there is more and got nowhere, the client would fetch for ever.
        if read.records.isEmpty, read.hasMore, read.passedTo ?? 0 <= query.start { return .failure(.serverFault) }
        let end = query.end(of: read)
        let isLast = end == read.records.count && !read.hasMore
        let number = isLast ? zone.changeNumber : read.number(after: end)
        let isWhole = end == read.records.count && !query.leavesOut(anyOf: read.records)
        return .success(
            ZonePage(
                entries: isWhole ? read.records : read.records[..<end].filter(query.wants), zone: zone.id,
                token: .zone(
                    zone.key, viewer: viewer, store: store,
                    position: query.next(number, in: zone, isLast: isLast)),
                moreComing: !isLast, clientToken: read.clientToken))
    }
}

extension ZonePageQuery {
    /// The query that a client's request stands for.
    ///
    /// - Parameters:
    ///   - token: as the client sent it; empty for a first fetch.
    ///   - limit: the most records; 0 leaves it to the server.
    ///   - device: the caller's, by its own bits.
    ///   - tellsEnds: whether a first fetch includes all deletions.
    ///   - reader: the caller's access, unless everything may be read.
    ///   - feedsEverywhere: whether the default zone has a feed too.
    package static func make(
        key: ZoneKey, token: [UInt8], limit: Int, device: DeviceID, tellsEnds: Bool = false,
        reader: RecordAccess?, feedsEverywhere: Bool = false, store: StoreIncarnation, limits: Limits
    ) -> Result<ZonePageQuery, FailureReason> {
        // the shared database has none, and that is for the page to say.
        if key.name == ZoneName.default, !feedsEverywhere, reader?.scope != .shared {
            return .failure(.feedUnavailable)
        }
        guard ZoneName.isValid(key.name, limits: limits) else { return .failure(.zoneNameInvalid) }
        return ChangeToken.position(in: key, viewer: reader?.viewer, from: token, store: store).map { position in
            var query = ZonePageQuery(
                key: key, after: position, recordsMax: limits.pageCount(requested: limit),
                bytesMax: limits.answerBytesMax, device: reader?.marking(device) ?? device, tellsEnds: tellsEnds,
                reader: reader, feedsEverywhere: feedsEverywhere, tombstonesPassedMax: limits.tombstonesPassedMax)
            query.sharesMax = limits.pageSharesMax
            return query
        }
    }

    /// a first fetch gets only the deletions of records that the same device created, and those made since it
    /// began. A device that has been here before gets all of them. I-5: a caller gets nothing about a record that it
    /// may not read, not even its deletion.
    func wants(_ record: RecordState) -> Bool {
        if let reader, !reader.mayRead(record) {
            return false
        }
        // user records can be looked up, but not listed.
        if let reader, record.type == RecordType.users, record.createdBy != reader.user { return false }
        return !passesOver(record)
    }

    /// The page has the changes after this number.
    fileprivate var start: ChangeNumber { after?.number ?? 0 }

    /// The position at which the page ends.
    func next(_ number: ChangeNumber, in zone: ZoneState, isLast: Bool) -> Position {
        let begunAt = after.map(\.begunAt) ?? (tellsEnds ? 0 : zone.changeNumber)
        return Position(zone: zone.id, number: number, begunAt: isLast || begunAt <= number ? 0 : begunAt)
    }

    /// How many of the records that were read the page covers, including those that it leaves out.
    func end(of read: ZonePageRead) -> Int {
        let end = longestEnd(of: read.records, shareBytes: read.zone.map(shareBytes(in:)) ?? 0)
        if end == read.records.count, !read.hasMore { return end }
        // I-3: back to the end of an atomic batch. If there is none, the batch is longer than a page.
        return (0...end).last { read.mayEnd(after: $0, from: start) } ?? end
    }

    // NB: these two look at records in place: copying one would retain and release its five references.

    func leavesOut(anyOf records: [RecordState]) -> Bool {
        records.withUnsafeBufferPointer { records in
            records.indices.contains { (records[$0].isDeleted || reader != nil) && !wants(records[$0]) }
        }
    }

    private func longestEnd(of records: [RecordState], shareBytes: Int) -> Int {
        records.withUnsafeBufferPointer { records in
            var count = 0
            var byteCount = 0
            for index in records.indices
            where (reader == nil && !records[index].isDeleted) || wants(records[index]) {
                count += 1
                byteCount += records[index].fields.byteCount
                if shareBytes > 0, !records[index].isDeleted, Share.isType(records[index].type) {
                    byteCount += shareBytes
                }
                if count > max(1, recordsMax) || (count > 1 && byteCount > bytesMax) { return index }
            }
            return records.count
        }
    }
}

extension ZonePageRead {
    /// The number up to which the read has only its first `count` records.
    fileprivate func number(after count: Int) -> ChangeNumber {
        if count == records.count, let passedTo { return passedTo }
        return count == 0 ? records[0].changeNumber - 1 : records[count - 1].changeNumber
    }

    /// Whether no atomic batch goes on past the first `count` records, as far as the read shows. A page without records
    /// must get past tombstones, so that the next one begins elsewhere.
    fileprivate func mayEnd(after count: Int, from start: ChangeNumber) -> Bool {
        if count == 0 { return passedTo != nil && number(after: 0) > start }
        let next = count < records.count ? records[count].changeNumber : number(after: count) + 1
        return records[count - 1].batchEnd < next
    }
}

extension Limits {
    /// The most entries of a page for a client that asks for `requested`; 0 or less leaves it to the server.
    package func pageCount(requested: Int) -> Int {
        requested <= 0 ? pageRecordsDefault : min(requested, pageRecordsMax)
    }

    /// The same for a page of a query for records of one type.
    package func pageCount(of recordType: String, requested: Int) -> Int {
        let count = pageCount(requested: requested)
        return Share.isType(recordType) ? min(count, pageSharesMax) : count
    }
}
