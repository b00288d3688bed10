// SPDX-License-Identifier: Apache-2.0

// the keys of a zone of another may come after its records. Then these are read again, and what could not be encrypted is sent.
// Each fetch asks first whether they have come. A push says when it is worth while.
extension SyncEngineMachine {
    /// A page is about to be delivered from which records were left out, because this device has no keys for them. What follows the
    /// zone's present token is read again once there are some.
    mutating func noteKeyless(_ zoneID: CKRecordZone.ID) {
        guard snapshot.keylessTokens[zoneID] == nil else { return }
        let isFromNothing = snapshot.expiredZoneTokens[zoneID] != nil
        snapshot.keylessTokens[zoneID] = isFromNothing ? .unknown : snapshot.zoneTokens[zoneID] ?? .unknown
    }

    /// Records of the zone could not be encrypted, and stay pending. Of the private database a device of the same account has the keys.
    mutating func noteKeylessSend(of zoneID: CKRecordZone.ID) {
        if zoneID.isOfOther { keylessSends.insert(zoneID) }
    }

    /// Keys have come to this device by an app's call. They may be too few for a zone, and yet open some of its records.
    mutating func keysImported() {
        importedZones.formUnion(snapshot.keylessTokens.keys)
    }

    /// One step before the list of zones is read: ask whether there are keys now.
    mutating func stepKeys(_ fetch: inout SyncEngineFetch, at moment: SyncEngineMoment) -> StepOutcome {
        switch fetch.phase {
        case .askingForKeys:
            fetch.phase = .askingForFeed
            if fetch.isCancelled { return .proceed }
            readAgain(importedZones, at: moment)
            importedZones = []
            let zoneIDs = keylessZones(in: fetch.options.scope)
            guard !zoneIDs.isEmpty else { return .proceed }
            fetch.phase = .awaitingKeys
            return .act(start(.zonesWithKeys(among: zoneIDs)))

        case .awaitingKeys:
            guard let outcome = takeOutcome() else { return .wait }
            fetch.phase = .askingForFeed
            // If it fails, the next fetch asks again.
            guard case .success(.zonesWithKeys(let zoneIDs)) = outcome else { return .proceed }
            readAgain(zoneIDs, at: moment)
            if !keylessSends.isDisjoint(with: zoneIDs) {
                keylessSends.subtract(zoneIDs)
                schedule.sendBackoff.reset()
                if automaticallySync { schedule.sendDue = moment.now }
            }
            return .proceed

        default:
            preconditionFailure("not a phase of keys")
        }
    }

    private mutating func keylessZones(in scope: CKSyncEngine.FetchChangesOptions.Scope) -> [CKRecordZone.ID] {
        if !keylessSends.isEmpty {
            keylessSends.formIntersection(snapshot.pendingRecords.elements.map(\.recordID.zoneID))
        }
        return keylessSends.union(snapshot.keylessTokens.keys).filter(scope.contains).sorted(by: Self.isInOrder)
    }

    /// Goes back to the token after which records were left out. Deletions come again too. If there was none, that is a full fetch, as
    /// after an expired token: the app has heard of later deletions, and a fetch without a token tells of none.
    private mutating func readAgain(_ zoneIDs: Set<CKRecordZone.ID>, at moment: SyncEngineMoment) {
        for zoneID in zoneIDs.sorted(by: Self.isInOrder) {
            guard let token = snapshot.keylessTokens.removeValue(forKey: zoneID) else { continue }
            if token == .unknown || snapshot.expiredZoneTokens[zoneID] != nil {
                beginFullFetch(of: zoneID, at: moment)
            } else {
                snapshot.zoneTokens[zoneID] = token
            }
            snapshot.unfetchedZones.add(zoneID)
            noteChange(at: moment)
        }
    }
}
