// SPDX-License-Identifier: Apache-2.0

/// How far the fetches from nothing are that expired tokens have begun. What of them outlives the process is in the
/// snapshot: the expired tokens. A new process begins them anew.
struct SyncEngineFullFetches: Sendable {
    struct Zone: Sendable {
        let reason: TidemarkFullFetch.Reason
        var names = FetchedNames()
        var history = RestoredHistory()
    }

    /// Those of which the first page has come.
    var zones: [CKRecordZone.ID: Zone] = [:]
    /// Zones that the list of all zones has named.
    var listedZones: Set<CKRecordZone.ID> = []
    /// Zones that have ended according to the list of another life, each with why the last time.
    var endedZones: [CKRecordZone.ID: CKDatabase.DatabaseChange.Deletion.Reason] = [:]
}

// MARK: Zones

extension SyncEngineMachine {
    /// What an earlier process did not bring to its end: which records it was told of, nobody knows.
    mutating func restartFullFetches() {
        if snapshot.expiredDatabaseToken != nil { snapshot.databaseToken = nil }
        for zoneID in snapshot.expiredZoneTokens.keys.sorted(by: Self.isInOrder) {
            snapshot.zoneTokens[zoneID] = nil
            snapshot.unfetchedZones.add(zoneID)
        }
    }

    /// A zone's token has expired. If that happens once more before the zone has been read, the first one says what the app has.
    mutating func beginFullFetch(of zoneID: CKRecordZone.ID, at moment: SyncEngineMoment) {
        snapshot.expiredZoneTokens[zoneID] = snapshot.expiredZoneTokens[zoneID] ?? snapshot.zoneTokens[zoneID]
        snapshot.zoneTokens[zoneID] = nil
        fullFetches.zones[zoneID] = nil
        noteChange(at: moment)
    }

    /// What the app is told before the first page of a full fetch; nil before all others.
    mutating func announcement(of page: SyncEngineZonePage, _ zoneID: CKRecordZone.ID) -> SyncEngineAction? {
        // The store was restored between the list of zones and this page.
        if let known = snapshot.databaseToken.flatMap(FeedPlace.init), let now = FeedPlace(page.token),
            known.life != now.life
        {
            expectOlderRecords(in: zoneID, since: snapshot.databaseToken)
        }
        guard let expired = snapshot.expiredZoneTokens[zoneID], fullFetches.zones[zoneID] == nil else { return nil }
        let reason = TidemarkFullFetch.Reason(expired: expired, new: page.token, isEnd: !page.moreComing)
        fullFetches.zones[zoneID] = .init(reason: reason)
        return .deliverStoreEvent(.willFetchFromNothing(zoneID: zoneID, reason: reason))
    }

    /// The page is about to be delivered. A record that cannot be read is on the server all the same.
    ///
    /// What the backup of another life has of deletions may be older than what the app has: a record may have been made again
    /// since. So it is not told as deleted, but counts as absent.
    mutating func noteFetched(_ page: inout SyncEngineZonePage, _ zoneID: CKRecordZone.ID) {
        guard let reason = fullFetchReason(of: zoneID), var zone = fullFetches.zones.removeValue(forKey: zoneID) else {
            return
        }
        for record in page.modifications.map(\.record) {
            zone.names.insert(record.recordID.recordName)
            if reason == .anotherLife { record.note(&zone.history) }
        }
        for recordID in page.unreadableRecordIDs { zone.names.insert(recordID.recordName) }
        if reason == .anotherLife {
            for deletion in page.deletions { zone.names.remove(deletion.recordID.recordName) }
            page.deletions = []
        }
        fullFetches.zones[zoneID] = zone
    }

    /// Why all records of the zone are told of; nil: they are not.
    func fullFetchReason(of zoneID: CKRecordZone.ID) -> TidemarkFullFetch.Reason? {
        snapshot.expiredZoneTokens[zoneID] == nil ? nil : fullFetches.zones[zoneID]?.reason
    }

    /// What the end of a zone's fetch has to tell, if it was a full one.
    ///
    /// - Parameter token: of its last page.
    func endedFullFetch(of zoneID: CKRecordZone.ID, _ token: CKServerChangeToken) -> TidemarkFullFetch? {
        guard let expired = snapshot.expiredZoneTokens[zoneID], let zone = fullFetches.zones[zoneID] else { return nil }
        let reason = TidemarkFullFetch.Reason(expired: expired, new: token, isEnd: true)
        var names = zone.names
        // Who is told of these as deleted might drop an edit that is yet to be sent. In another life of the store they are to
        // be saved anew whatever is pending, and what is pending may be no edit any more.
        if reason == .deletionsForgotten {
            for case .saveRecord(let recordID) in snapshot.pendingRecords.elements + snapshot.inFlightRecords
            where recordID.zoneID == zoneID { names.insert(recordID.recordName) }
        }
        names.sort()
        return TidemarkFullFetch(zoneID: zoneID, reason: reason, names: names)
    }

    /// The app has been told of the end.
    mutating func closeFullFetch(of zoneID: CKRecordZone.ID, at moment: SyncEngineMoment) {
        snapshot.expiredZoneTokens[zoneID] = nil
        fullFetches.zones[zoneID] = nil
        noteChange(at: moment)
    }

    private static func isInOrder(_ left: CKRecordZone.ID, _ right: CKRecordZone.ID) -> Bool {
        (left.zoneName, left.ownerName) < (right.zoneName, right.ownerName)
    }
}

// MARK: The list of zones

extension SyncEngineMachine {
    /// The database token has expired.
    mutating func beginFullFeed(at moment: SyncEngineMoment) {
        snapshot.expiredDatabaseToken = snapshot.expiredDatabaseToken ?? snapshot.databaseToken
        snapshot.databaseToken = nil
        (fullFetches.listedZones, fullFetches.endedZones) = ([], [:])
        noteChange(at: moment)
    }

    /// Why the list is read from its beginning; nil: it is not.
    func fullFeedReason(_ token: CKServerChangeToken, isEnd: Bool) -> TidemarkFullFetch.Reason? {
        snapshot.expiredDatabaseToken.map { .init(expired: $0, new: token, isEnd: isEnd) }
    }

    /// A page of the list has come. As with records, what another life has of ends is set aside until all is known that there is.
    mutating func noteListed(_ page: inout SyncEngineDatabasePage, _ reason: TidemarkFullFetch.Reason) {
        fullFetches.listedZones.formUnion(page.modifications.map(\.zoneID))
        guard reason == .anotherLife else { return }
        for deletion in page.deletions { fullFetches.endedZones[deletion.zoneID] = deletion.reason }
        page.deletions = []
        for modification in page.modifications {
            expectOlderRecords(in: modification.zoneID, since: snapshot.expiredDatabaseToken)
        }
    }

    /// A zone without a token may be one that the app has sent records to, or was told of by a process that ended before its
    /// state was stored: what another life has of it is no news either.
    ///
    /// - Parameter token: of the list of zones, in the life before.
    private mutating func expectOlderRecords(in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?) {
        guard snapshot.zoneTokens[zoneID] == nil, snapshot.expiredZoneTokens[zoneID] == nil else { return }
        snapshot.expiredZoneTokens[zoneID] = token
    }

    /// What becomes of zones that the list does not have: those that the app is told of as ended, and the list, which says what is
    /// absent. Whoever erased a zone, or lost its keys, before the backup wanted it to go, whatever followed.
    func fateOfUnlistedZones(
        _ reason: TidemarkFullFetch.Reason
    ) -> (ended: [CKDatabase.DatabaseChange.Deletion], list: TidemarkZoneList) {
        let (zones, listed) = (unlistedZones, fullFetches.listedZones)
        switch reason {
        case .deletionsForgotten:
            // They had been there, and nobody has restored anything.
            let ended = zones.map { CKDatabase.DatabaseChange.Deletion(zoneID: $0, reason: .deleted) }
            return (ended, TidemarkZoneList(reason: reason, absent: zones, accounted: listed))
        case .anotherLife:
            // Those too that the engine does not know: the app may.
            let ended = fullFetches.endedZones.filter { $1 != .deleted && !listed.contains($0) }
            let list = TidemarkZoneList(
                reason: reason, absent: zones.filter { ended[$0] == nil }, accounted: listed.union(ended.keys))
            let deletions = ended.sorted { Self.isInOrder($0.key, $1.key) }
            return (deletions.map { .init(zoneID: $0.key, reason: $0.value) }, list)
        }
    }

    private var unlistedZones: [CKRecordZone.ID] {
        var known = Set(snapshot.zoneTokens.keys)
        known.formUnion(snapshot.expiredZoneTokens.keys)
        known.formUnion(snapshot.unfetchedZones.elements)
        known.formUnion(snapshot.tokenlessZones)
        return known.subtracting(fullFetches.listedZones).sorted(by: Self.isInOrder)
    }

    /// The app has been told of the end.
    mutating func closeFullFeed(at moment: SyncEngineMoment) {
        for zoneID in unlistedZones { snapshot.forgetZone(zoneID) }
        snapshot.expiredDatabaseToken = nil
        (fullFetches.listedZones, fullFetches.endedZones) = ([], [:])
        noteChange(at: moment)
    }
}
