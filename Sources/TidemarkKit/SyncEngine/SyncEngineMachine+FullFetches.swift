// SPDX-License-Identifier: Apache-2.0

/// The progress of full fetches that expired tokens or the app have started. Only the expired tokens outlive the process,
/// in the snapshot. A new process starts the fetches again.
struct SyncEngineFullFetches: Sendable {
    struct Zone: Sendable {
        let reason: TidemarkFullFetch.Reason
        /// Whether the app asked for it.
        let isResync: Bool
        var names = FetchedNames()
        var history = RestoredHistory()
    }

    /// Zones whose first page has arrived.
    var zones: [CKRecordZone.ID: Zone] = [:]
    /// What of the snapshot's resyncs is being read. Another process begins anew.
    var resyncZones: Set<CKRecordZone.ID> = []
    var resyncsZoneList = false
    /// Zones in the list of all zones.
    var listedZones: Set<CKRecordZone.ID> = []
    /// Zones that were in the list and have ended while it was read on.
    var endedSinceListed: Set<CKRecordZone.ID> = []
    /// Zones that have ended according to the list of another incarnation of the store, each with its last reason.
    var endedZones: [CKRecordZone.ID: CKDatabase.DatabaseChange.Deletion.Reason] = [:]

    mutating func forgetList() {
        (listedZones, endedSinceListed, endedZones) = ([], [], [:])
    }
}

// MARK: Zones

extension SyncEngineMachine {
    /// Starts again what an earlier process did not finish: nobody knows which records it has reported.
    mutating func restartFullFetches() {
        if snapshot.expiredDatabaseToken != nil { snapshot.databaseToken = nil }
        for zoneID in snapshot.expiredZoneTokens.keys.sorted(by: Self.isInOrder) {
            snapshot.zoneTokens[zoneID] = nil
            snapshot.unfetchedZones.add(zoneID)
        }
    }

    /// A zone's token has expired. If that happens again before the zone has been read, the first token says what the
    /// app has.
    mutating func beginFullFetch(of zoneID: CKRecordZone.ID, at moment: SyncEngineMoment) {
        snapshot.expiredZoneTokens[zoneID] = snapshot.expiredZoneTokens[zoneID] ?? snapshot.zoneTokens[zoneID]
        snapshot.zoneTokens[zoneID] = nil
        // All of it comes again.
        snapshot.keylessTokens[zoneID] = nil
        fullFetches.zones[zoneID] = nil
        noteChange(at: moment)
    }

    /// Another user's zone is not shared with this one. The list of zones may never tell of that: the zone may be shared
    /// again before it is read. So what arrives then is everything, and the app hears what is absent.
    mutating func loseAccess(to zoneID: CKRecordZone.ID, at moment: SyncEngineMoment) {
        let token = snapshot.expiredZoneTokens[zoneID] ?? snapshot.zoneTokens[zoneID]
        snapshot.forgetZone(zoneID)
        snapshot.expiredZoneTokens[zoneID] = token
        snapshot.tokenlessZones.insert(zoneID)
        fullFetches.zones[zoneID] = nil
        noteChange(at: moment)
    }

    /// What the app is told before the first page of a full fetch; nil before all other pages.
    mutating func announcement(of page: SyncEngineZonePage, _ zoneID: CKRecordZone.ID) -> SyncEngineAction? {
        // The store was restored between the list of zones and this page.
        if let known = snapshot.databaseToken.flatMap(FeedPlace.init), let now = FeedPlace(page.token),
            known.life != now.life
        {
            expectOlderRecords(in: zoneID, since: snapshot.databaseToken)
        }
        guard let expired = snapshot.expiredZoneTokens[zoneID], fullFetches.zones[zoneID] == nil else { return nil }
        let reason = TidemarkFullFetch.Reason(expired: expired, new: page.token, isEnd: !page.moreComing)
        fullFetches.zones[zoneID] = .init(reason: reason, isResync: snapshot.resyncZones.contains(zoneID))
        return .deliverStoreEvent(.willFetchFromNothing(zoneID: zoneID, reason: reason))
    }

    /// Notes a page that is about to be delivered. A record that cannot be read is on the server all the same.
    ///
    /// Deletions in the backup of another incarnation may be older than what the app has: a record may have been
    /// created again since. So they are not reported as deletions; the records count as absent. The deletion of a
    /// record that an earlier page brought is news.
    mutating func noteFetched(_ page: inout SyncEngineZonePage, _ zoneID: CKRecordZone.ID) {
        guard let reason = fullFetchReason(of: zoneID), var zone = fullFetches.zones.removeValue(forKey: zoneID) else {
            return
        }
        if reason == .anotherLife {
            page.deletions.removeAll { [names = zone.names] in !names.contains($0.recordID.recordName) }
        }
        for record in page.modifications.map(\.record) {
            zone.names.insert(record.recordID.recordName)
            if reason == .anotherLife { record.note(&zone.history) }
        }
        for recordID in page.unreadableRecordIDs { zone.names.insert(recordID.recordName) }
        fullFetches.zones[zoneID] = zone
    }

    /// Why all records of the zone arrive; nil if they do not.
    func fullFetchReason(of zoneID: CKRecordZone.ID) -> TidemarkFullFetch.Reason? {
        snapshot.expiredZoneTokens[zoneID] == nil ? nil : fullFetches.zones[zoneID]?.reason
    }

    /// What the end of a zone's fetch must report, if it was a full one.
    ///
    /// - Parameter token: of its last page.
    func endedFullFetch(of zoneID: CKRecordZone.ID, _ token: CKServerChangeToken) -> TidemarkFullFetch? {
        guard let expired = snapshot.expiredZoneTokens[zoneID], let zone = fullFetches.zones[zoneID] else { return nil }
        let reason = TidemarkFullFetch.Reason(expired: expired, new: token, isEnd: true)
        var names = zone.names
        // If these were reported as deleted, the app might drop an edit that must still be sent. In another incarnation
        // of the store they must be saved again whatever is pending, and a pending change may no longer be an edit
        //
        if reason == .deletionsForgotten {
            for case .saveRecord(let recordID) in snapshot.pendingRecords.elements + snapshot.inFlightRecords
            where recordID.zoneID == zoneID { names.insert(recordID.recordName) }
        }
        return TidemarkFullFetch(zoneID: zoneID, reason: reason, isResync: zone.isResync, names: names)
    }

    /// The app has been told of the end.
    mutating func closeFullFetch(of zoneID: CKRecordZone.ID, at moment: SyncEngineMoment) {
        snapshot.expiredZoneTokens[zoneID] = nil
        fullFetches.zones[zoneID] = nil
        // If the app has asked again meanwhile, it is not done.
        if fullFetches.resyncZones.remove(zoneID) != nil { snapshot.resyncZones.remove(zoneID) }
        noteChange(at: moment)
    }

    static func isInOrder(_ left: CKRecordZone.ID, _ right: CKRecordZone.ID) -> Bool {
        (left.zoneName, left.ownerName) < (right.zoneName, right.ownerName)
    }
}

// MARK: The list of zones

extension SyncEngineMachine {
    /// The database token has expired.
    mutating func beginFullFeed(at moment: SyncEngineMoment) {
        snapshot.expiredDatabaseToken = snapshot.expiredDatabaseToken ?? snapshot.databaseToken
        snapshot.databaseToken = nil
        fullFetches.forgetList()
        noteChange(at: moment)
    }

    /// The server has named the incarnation of its store. Without a token, the engine keeps that: the app may get or
    /// send something before there is one, and a restore after that must be noticed.
    mutating func noteLife(_ life: UInt64?, at moment: SyncEngineMoment) {
        guard snapshot.databaseToken == nil, snapshot.expiredDatabaseToken == nil, snapshot.storeLife == nil,
            snapshot.user != nil, let life
        else { return }
        snapshot.storeLife = life
        noteChange(at: moment)
    }

    /// The first page of the list has arrived, and there has never been a token. If the store has another incarnation
    /// since the engine heard of one, it is as if a token of the earlier one had expired.
    mutating func noticeAnotherLife(_ token: CKServerChangeToken) {
        guard snapshot.databaseToken == nil, snapshot.expiredDatabaseToken == nil, let known = snapshot.storeLife,
            let now = FeedPlace(token)?.life.rawValue, now != known
        else { return }
        snapshot.expiredDatabaseToken = .unknown
    }

    /// Why the list is read from its beginning; nil if it is not.
    func fullFeedReason(_ token: CKServerChangeToken, isEnd: Bool) -> TidemarkFullFetch.Reason? {
        snapshot.expiredDatabaseToken.map { .init(expired: $0, new: token, isEnd: isEnd) }
    }

    /// A page of the list has arrived. As with records, ends from another incarnation are set aside until all existing
    /// zones are known. The end of a zone that an earlier page listed is news.
    mutating func noteListed(_ page: inout SyncEngineDatabasePage, _ reason: TidemarkFullFetch.Reason) {
        let ended = Set(page.deletions.map(\.zoneID)).intersection(fullFetches.listedZones)
        fullFetches.endedSinceListed.formUnion(ended)
        fullFetches.listedZones.subtract(ended)
        fullFetches.listedZones.formUnion(page.modifications.map(\.zoneID))
        guard reason == .anotherLife else { return }
        for deletion in page.deletions where !ended.contains(deletion.zoneID) {
            fullFetches.endedZones[deletion.zoneID] = deletion.reason
        }
        page.deletions.removeAll { !ended.contains($0.zoneID) }
        for modification in page.modifications {
            expectOlderRecords(in: modification.zoneID, since: snapshot.expiredDatabaseToken)
        }
    }

    /// The app may have sent records to a zone without a token, or a process that ended before its state was stored may
    /// have delivered some. So what another incarnation has of the zone is not news either.
    ///
    /// - Parameter token: of the list of zones, in the incarnation before.
    private mutating func expectOlderRecords(in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?) {
        guard snapshot.zoneTokens[zoneID] == nil, snapshot.expiredZoneTokens[zoneID] == nil else { return }
        snapshot.expiredZoneTokens[zoneID] = token
    }

    /// What happens to zones that the list lacks: some are reported to the app as ended, and the list says which are
    /// absent. If a user purged a zone or lost its keys before the backup, its end was wanted, whatever followed. Another
    /// user's zone cannot be made again from here, so this user has no access to it, as if that had ended.
    func fateOfUnlistedZones(
        _ reason: TidemarkFullFetch.Reason
    ) -> (ended: [CKDatabase.DatabaseChange.Deletion], list: TidemarkZoneList) {
        let (zones, listed) = (unlistedZones, fullFetches.listedZones.union(fullFetches.endedSinceListed))
        switch reason {
        case .deletionsForgotten:
            // They existed before, and nobody has restored anything.
            let ended = zones.map { CKDatabase.DatabaseChange.Deletion(zoneID: $0, reason: .deleted) }
            return (ended, TidemarkZoneList(reason: reason, absent: zones, accounted: listed))
        case .anotherLife:
            let ended = zones.compactMap { zoneID -> CKDatabase.DatabaseChange.Deletion? in
                let why = fullFetches.endedZones[zoneID] ?? .deleted
                guard why != .deleted || zoneID.isOfOther else { return nil }
                return .init(zoneID: zoneID, reason: why)
            }
            let accounted = listed.union(ended.map(\.zoneID))
            let absent = zones.filter { !accounted.contains($0) }
            return (ended, TidemarkZoneList(reason: reason, absent: absent, accounted: accounted))
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
        if fullFetches.resyncsZoneList { (fullFetches.resyncsZoneList, snapshot.resyncsZoneList) = (false, false) }
        fullFetches.forgetList()
        noteChange(at: moment)
    }
}
