// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What the engines ask for, and what they tell.
extension ListSync {
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let pending = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in await self.recordToSave(id) }
    }

    private func recordToSave(_ id: CKRecord.ID) -> CKRecord? {
        guard let entry = store[id], !entry.isDeleted else {
            settle(id)
            return nil
        }
        sent[id] = entry.fields
        return entry.makeRecord()
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        // What an event says is stored as a whole.
        store.transaction { handle(event, syncEngine) }
        show()
    }

    private func handle(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) {
        let scope = engine.database.databaseScope
        switch event {
        case .stateUpdate(let update):
            store.setEngineState(update.stateSerialization, scope)
        case .accountChange(let change):
            accountChanged(change.changeType, scope, engine)
        case .fetchedDatabaseChanges(let changes):
            // A zone that was left and joined again is in both. All of it arrives after this.
            for deletion in changes.deletions { zoneEnded(deletion.zoneID) }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { take(modification.record) }
            for deletion in changes.deletions { gone(deletion.recordID) }
        case .didFetchRecordZoneChanges(let end):
            if let fetch = end.fullFetch { reconcile(fetch) }
        case .sentRecordZoneChanges(let sent):
            handle(sent)
        case .sentDatabaseChanges, .willFetchChanges, .willFetchRecordZoneChanges, .didFetchChanges, .willSendChanges,
            .didSendChanges:
            break
        @unknown default:
            break
        }
    }

    private func accountChanged(
        _ change: CKSyncEngine.Event.AccountChange.ChangeType, _ scope: CKDatabase.Scope, _ engine: CKSyncEngine
    ) {
        if case .signIn = change {
            if scope == .private { makeZone() }
            for entry in store.entries where entry.id.zoneID.scope == scope && entry.isDirty { pend(entry) }
            return
        }
        // What an account has not sent is nobody else's.
        for entry in store.entries where entry.id.zoneID.scope == scope { forget(entry) }
        for share in store.shares where share.id.zoneID.scope == scope { store.removeShare(share.id) }
        if case .switchAccounts = change, scope == .private { makeZone() }
    }

    private func makeZone() {
        engines[.private]?.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: .lists()))])
    }

    // MARK: Fetched

    func take(_ record: CKRecord) {
        if let share = record as? CKShare { return store.put(ListShare(share)) }
        let id = record.recordID
        guard id.zoneID == .lists(of: id.zoneID.ownerName), let kind = ListEntry.Kind(rawValue: record.recordType)
        else {
            return
        }
        var entry = store[id] ?? ListEntry(id: id, kind: kind)
        entry.merge(record)
        put(entry)
        // Somebody has put something into a list that was deleted here: the list stays, with that.
        guard !entry.isDeleted, let listID = entry.listID, var list = store[listID], list.isDeleted else { return }
        list.isDeleted = false
        put(list)
    }

    /// The server does not have a record any more, or does not show it to this account any more.
    private func gone(_ id: CKRecord.ID) {
        store.removeShare(id)
        guard let entry = store[id], entry.kind == .item else { return listIsGone(id) }
        forget(entry)
        guard entry.isEdited else { return }
        // An edit outlives a deletion. It is a new item, because the old one may still exist where this account cannot see it.
        guard let listID = entry.listID, let list = store[listID], !list.isDeleted else {
            return say(entry, "its list is gone")
        }
        addItem(entry.fields, in: id.zoneID)
    }

    /// One's own list comes back if something in it was edited here. A list of somebody else does not.
    private func listIsGone(_ id: CKRecord.ID) {
        let list = store[id]
        let items = store.items(of: id)
        if id.zoneID.isMine, list?.isEdited == true || items.contains(where: \.isEdited) {
            var again = list ?? ListEntry(id: id, kind: .list, fields: ListEntry.Fields(text: "Recovered"))
            again.isDeleted = false
            again.forgetServer()
            return put(again)
        }
        if let list {
            forget(list)
            if list.isEdited { say(list, "it is not shared with you any more") }
        }
        for var item in items {
            if let server = item.serverFields, server.list != id.recordName {
                // It was moved here, and only here, into the list that is gone.
                item.fields.list = server.list
                put(item)
            } else {
                forget(item)
                if item.isEdited { say(item, "its list is gone") }
            }
        }
    }

    private func zoneEnded(_ zoneID: CKRecordZone.ID) {
        store.removeShares(of: zoneID)
        for entry in store.entries(of: zoneID) {
            if zoneID.isMine {
                gone(entry.id)
            } else {
                forget(entry)
                if entry.isEdited { say(entry, "its list is not shared with you any more") }
            }
        }
        if zoneID == .lists(), !store.entries(of: zoneID).isEmpty { makeZone() }
    }

    /// All records of a zone have arrived again. That is so if one of several lists of a person has ended, or one more of theirs
    /// was joined.
    private func reconcile(_ fetch: TidemarkFullFetch) {
        let known = store.entries(of: fetch.zoneID).filter { $0.serverFields != nil }.map(\.id)
        let shares = store.shares.map(\.id).filter { $0.zoneID == fetch.zoneID }
        for id in fetch.recordIDsNotFetched(among: known + shares) {
            switch fetch.reason {
            case .deletionsForgotten:
                gone(id)
            case .anotherLife:
                // The server went back to a backup. Nobody deleted what it lacks, and it is sent as new.
                store.removeShare(id)
                guard var entry = store[id] else { continue }
                entry.forgetServer()
                put(entry)
            }
        }
    }

    // MARK: Sent

    private func handle(_ sent: CKSyncEngine.Event.SentRecordZoneChanges) {
        for record in sent.savedRecords {
            guard let fields = self.sent.removeValue(forKey: record.recordID), var entry = store[record.recordID] else {
                continue
            }
            entry.saved(record, fields)
            put(entry)
        }
        for failure in sent.failedRecordSaves { notSaved(failure.record.recordID, failure.error) }
        for id in sent.deletedRecordIDs { gone(id) }
        for (id, error) in sent.failedRecordDeletes { notDeleted(id, error) }
    }

    private func notSaved(_ id: CKRecord.ID, _ error: CKError) {
        guard var entry = store[id] else { return }
        switch error.code {
        case .serverRecordChanged:
            if let record = error.serverRecord { take(record) }
        case .zoneNotFound, .userDeletedZone:
            guard entry.isMine else { return zoneEnded(id.zoneID) }
            entry.forgetServer()
            put(entry)
            makeZone()
        case .unknownItem:
            gone(id)
        case .referenceViolation:
            guard let listID = entry.listID else { return revert(entry, error) }
            listIsGone(listID)
            if let entry = store[id] { put(entry) }
        case .batchRequestFailed:
            pend(entry)
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .requestRateLimited,
            .notAuthenticated, .operationCancelled, .serverResponseLost, .accountTemporarilyUnavailable:
            break  // Still pending: the engine tries again.
        case .permissionFailure, .alreadyShared:
            revert(entry, error)
        default:
            // It stays as it is here, and is sent again after the next edit or start.
            say(entry, error.localizedDescription)
        }
    }

    private func notDeleted(_ id: CKRecord.ID, _ error: CKError) {
        guard var entry = store[id] else { return }
        switch error.code {
        case .unknownItem, .zoneNotFound, .userDeletedZone:
            gone(id)
        case .referenceViolation where store.items(of: id).contains(where: \.isDeleted):
            // Items of it are still to be deleted, in a later batch.
            pend(entry)
        case .referenceViolation:
            // Somebody has put something into the list: it stays.
            entry.isDeleted = false
            put(entry)
        case .batchRequestFailed:
            pend(entry)
        case .permissionFailure:
            revert(entry, error)
        default:
            break  // The row says that it is to be deleted: the engine tries again, or the next start.
        }
    }

    /// The server does not allow it. So it becomes again what the server has, and the person hears what was not sent.
    private func revert(_ entry: ListEntry, _ error: CKError) {
        say(entry, error.localizedDescription)
        guard let server = entry.serverFields else { return forget(entry) }
        var entry = entry
        entry.fields = server
        entry.isDeleted = false
        put(entry)
    }
}
