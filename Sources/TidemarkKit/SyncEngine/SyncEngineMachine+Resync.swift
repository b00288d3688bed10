// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// the app wants to read again what it has read. That is a full fetch as after an expired token. It begins
/// between two fetches, because a page that is under way continues from the token that is then dropped.
extension SyncEngineMachine {
    /// The app calls `resync`.
    ///
    /// - Parameter zoneID: nil for all zones and their list.
    mutating func resyncCalled(_ id: SyncEngineCallID, _ zoneID: CKRecordZone.ID?, at moment: SyncEngineMoment) {
        noteAppCall(at: moment)
        guard !isStopped else { return refuse(id) }
        if let zoneID, zoneID.zoneName == CKRecordZone.ID.defaultZoneName {
            outbox.append(.finish(id, .failure(CKError(.invalidArguments))))
            return
        }
        wantResync(of: zoneID, at: moment)
        let scope = zoneID.map { CKSyncEngine.FetchChangesOptions.Scope.zoneIDs([$0]) } ?? .all
        fetchCalls.append((id, .init(scope: scope), true))
        askForAccountIfNeeded(at: moment)
    }

    /// Notes it in the state, so that it is done whatever becomes of the call. What nobody has read yet is read from the
    /// beginning anyway.
    private mutating func wantResync(of zoneID: CKRecordZone.ID?, at moment: SyncEngineMoment) {
        guard snapshot.user != nil else { return }
        if zoneID == nil, snapshot.databaseToken != nil || snapshot.expiredDatabaseToken != nil {
            snapshot.resyncsZoneList = true
            fullFetches.resyncsZoneList = false
        }
        let read = Set(snapshot.zoneTokens.keys).union(snapshot.expiredZoneTokens.keys)
        for known in zoneID.map({ [$0] }) ?? read.sorted(by: Self.isInOrder) {
            snapshot.unfetchedZones.add(known)
            guard read.contains(known) else { continue }
            snapshot.resyncZones.insert(known)
            fullFetches.resyncZones.remove(known)
        }
        noteChange(at: moment)
        scheduleFetch(at: moment)
    }

    /// A fetch begins: drops the tokens of what it must read from the beginning.
    ///
    /// - Returns: whether there is any.
    mutating func beginResyncs(in scope: CKSyncEngine.FetchChangesOptions.Scope, at moment: SyncEngineMoment) -> Bool {
        let isListDue = snapshot.resyncsZoneList && !fullFetches.resyncsZoneList
        if isListDue {
            beginFullFeed(at: moment)
            fullFetches.resyncsZoneList = true
        }
        let zoneIDs = snapshot.resyncZones.subtracting(fullFetches.resyncZones).filter(scope.contains)
        for zoneID in zoneIDs.sorted(by: Self.isInOrder) {
            beginFullFetch(of: zoneID, at: moment)
            snapshot.unfetchedZones.add(zoneID)
            fullFetches.resyncZones.insert(zoneID)
        }
        return isListDue || !zoneIDs.isEmpty
    }
}
