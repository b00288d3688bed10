// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension SyncEngineMachine {
    // MARK: Zones

    /// Takes the results of sent zones. The pass goes on, or ends if the request failed as a whole.
    mutating func settle(
        _ changes: [CKSyncEngine.PendingDatabaseChange], _ outcome: SyncEngineOutcome, _ send: inout SyncEngineSend,
        at moment: SyncEngineMoment
    ) -> CKSyncEngine.Event.SentDatabaseChanges {
        let results = Self.zoneResults(of: changes, outcome)
        var (savedZones, failedSaves) = ([CKRecordZone](), [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave]())
        var (deletedZoneIDs, failedDeletes) = ([CKRecordZone.ID](), [CKRecordZone.ID: CKError]())
        var retried: [CKSyncEngine.PendingDatabaseChange] = []
        for change in changes {
            var failure: CKError?
            switch change {
            case .saveZone(let zone):
                switch results.saves[zone.zoneID] ?? .failure(.leftOut) {
                case .success(let saved):
                    savedZones.append(saved)
                    noteSent(to: saved.zoneID)
                case .failure(let error):
                    failedSaves.append(.init(zone: zone, error: error))
                    failure = error
                }
            case .deleteZone(let zoneID):
                switch results.deletes[zoneID] ?? .failure(.leftOut) {
                case .success:
                    snapshot.forgetZone(zoneID)
                    deletedZoneIDs.append(zoneID)
                case .failure(let error):
                    failedDeletes[zoneID] = error
                    failure = error
                }
            }
            guard let failure else { continue }
            lastOutcomes.note(failure, of: .zone(change.zoneID), at: moment)
            send.triedZones.insert(change.zoneID)
            if send.note(failure, of: .zone(change.zoneID)) { retried.append(change) }
        }
        if !savedZones.isEmpty || !deletedZoneIDs.isEmpty { lastOutcomes.sent = moment.now }
        snapshot.inFlightZones = []
        snapshot.pendingZones.restore(retried)
        journalWhenTold([], changes.map(\.zoneID))
        noteChange(at: moment)
        // a refused zone does not hold back records. A request that did not get through does.
        send.phase = .sendingZones
        if case .failure(let error) = outcome {
            send.noteRequestError(error)
            if error.keepsChangePending { send.phase = .closing }
        }
        return .init(
            savedZones: savedZones, failedZoneSaves: failedSaves, deletedZoneIDs: deletedZoneIDs,
            failedZoneDeletes: failedDeletes)
    }

    private static func zoneResults(
        of changes: [CKSyncEngine.PendingDatabaseChange], _ outcome: SyncEngineOutcome
    ) -> SyncEngineZoneResults {
        switch outcome {
        case .success(.zoneResults(let results)): return results
        case .success: preconditionFailure("zones were sent")
        case .failure(let error):
            var results = SyncEngineZoneResults()
            for change in changes {
                let itemError = error.error(forItem: change.zoneID)
                switch change {
                case .saveZone(let zone): results.saves[zone.zoneID] = .failure(itemError)
                case .deleteZone(let zoneID): results.deletes[zoneID] = .failure(itemError)
                }
            }
            return results
        }
    }

    // MARK: Records

    /// Takes the results of a batch. What failed and is retried is pending again before the app is told.
    /// Everything else is gone. After any failure the pass ends. What only waits for another pending
    /// change has not failed, and is not reported.
    ///
    /// - Returns: the event for the app; nil if there is none.
    mutating func settle(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, _ outcome: SyncEngineOutcome, _ send: inout SyncEngineSend,
        at moment: SyncEngineMoment
    ) -> SyncEngineAction? {
        let results = Self.recordResults(of: batch, outcome)
        let isAlone = isLoneSuspect(batch)
        noteSuspects(of: batch, results)
        noteRoom(of: batch, outcome)
        let waiting = recordsThatWait(in: batch, results, send)
        let fates = SentRecordFates(of: batch, results, waiting: waiting, isAlone: isAlone, noting: &send)
        for record in fates.saved { noteSent(to: record.recordID.zoneID) }
        for (recordID, error) in fates.failures where error.code == .zoneNotFound && recordID.zoneID.isOfOther {
            loseAccess(to: recordID.zoneID, at: moment)
        }
        for (recordID, error) in fates.failures where error.isOfMissingKeys && error.keepsChangePending {
            noteKeylessSend(of: recordID.zoneID)
        }
        send.noteSuccess(of: fates)
        noteOutcome(of: fates, outcome, at: moment)
        snapshot.inFlightRecords = []
        restore(fates.retried, after: outcome)
        addBehind(batch.changes.filter { waiting[$0.recordID] != nil })
        let isStuck = keepWaiting(&send, waiting)
        journalWhenTold(batch.recordIDs)
        noteChange(at: moment)
        if case .failure(let error) = outcome { send.noteRequestError(error) }
        send.phase = fates.hasFailed || isStuck ? .closing : .sendingZones
        if waiting.count == batch.itemCount { return nil }
        return .deliver(.sentRecordZoneChanges(fates.event))
    }

    /// For the app: what the whole request failed with says more than what its items failed with.
    private mutating func noteOutcome(
        of fates: SentRecordFates, _ outcome: SyncEngineOutcome, at moment: SyncEngineMoment
    ) {
        if !fates.saved.isEmpty || !fates.deleted.isEmpty { lastOutcomes.sent = moment.now }
        guard fates.hasFailed else { return }
        for (recordID, error) in fates.failures { lastOutcomes.note(error, of: .record(recordID), at: moment) }
        if case .failure(let error) = outcome, error.code != .partialFailure {
            lastOutcomes.note(error, of: .send, at: moment)
        }
    }

    /// A zone with a token has been in a list.
    private mutating func noteSent(to zoneID: CKRecordZone.ID) {
        guard snapshot.zoneTokens[zoneID] == nil, zoneID.zoneName != CKRecordZone.ID.defaultZoneName else { return }
        snapshot.tokenlessZones.insert(zoneID)
    }

    private mutating func restore(
        _ retried: [CKSyncEngine.PendingRecordZoneChange], after outcome: SyncEngineOutcome
    ) {
        if case .failure(let error) = outcome, error.code != .internalError {
            snapshot.pendingRecords.restore(retried)
        } else {
            // Items that failed for their own reasons, or because the server fails at one of them, go behind the others.
            // A full batch of others is then sent without them.
            addBehind(retried)
        }
    }

    private mutating func addBehind(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        for change in changes where !snapshot.pendingRecords.contains(key: change.recordID) {
            snapshot.pendingRecords.add(change)
        }
    }

    private static func recordResults(
        of batch: CKSyncEngine.RecordZoneChangeBatch, _ outcome: SyncEngineOutcome
    ) -> SyncEngineRecordResults {
        switch outcome {
        case .success(.recordResults(let results)): return results
        case .success: preconditionFailure("records were sent")
        case .failure(let error):
            var results = SyncEngineRecordResults()
            for record in batch.recordsToSave {
                results.saves[record.recordID] = .failure(error.error(forItem: record.recordID))
            }
            for recordID in batch.recordIDsToDelete {
                results.deletes[recordID] = .failure(error.error(forItem: recordID))
            }
            return results
        }
    }
}

/// The records of a batch, by what became of them. Those that only wait for another change are left out.
private struct SentRecordFates {
    private(set) var saved: [CKRecord] = []
    private(set) var failedSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
    private(set) var deleted: [CKRecord.ID] = []
    private(set) var failedDeletes: [CKRecord.ID: CKError] = [:]
    /// Those that failed and are tried again.
    private(set) var retried: [CKSyncEngine.PendingRecordZoneChange] = []

    /// - Parameters:
    ///   - isAlone: whether it is one record that went alone because it had failed with others.
    ///   - send: hears of each failure.
    init(
        of batch: CKSyncEngine.RecordZoneChangeBatch, _ results: SyncEngineRecordResults,
        waiting: [CKRecord.ID: CKError], isAlone: Bool, noting send: inout SyncEngineSend
    ) {
        for record in batch.recordsToSave {
            let recordID = record.recordID
            switch results.saves[recordID] ?? .failure(.leftOut) {
            case .success(let record): saved.append(record)
            case .failure where waiting[recordID] != nil: continue
            case .failure(let error):
                failedSaves.append(.init(record: record, error: error))
                if send.note(error, of: .record(recordID), isAlone) { retried.append(.saveRecord(recordID)) }
            }
        }
        for recordID in batch.recordIDsToDelete {
            switch results.deletes[recordID] ?? .failure(.leftOut) {
            case .success: deleted.append(recordID)
            case .failure where waiting[recordID] != nil: continue
            case .failure(let error):
                failedDeletes[recordID] = error
                if send.note(error, of: .record(recordID), isAlone) { retried.append(.deleteRecord(recordID)) }
            }
        }
    }

    var hasFailed: Bool { !failedSaves.isEmpty || !failedDeletes.isEmpty }

    var failures: [(CKRecord.ID, CKError)] {
        failedSaves.map { ($0.record.recordID, $0.error) } + failedDeletes.map { ($0.key, $0.value) }
    }

    var event: CKSyncEngine.Event.SentRecordZoneChanges {
        .init(
            savedRecords: saved, failedRecordSaves: failedSaves, deletedRecordIDs: deleted,
            failedRecordDeletes: failedDeletes)
    }
}

extension SyncEngineSend {
    fileprivate mutating func noteSuccess(of fates: SentRecordFates) {
        successCount += fates.saved.count + fates.deleted.count
        guard !waiting.isEmpty else { return }
        for recordID in fates.saved.map(\.recordID) + fates.deleted { waiting[recordID] = nil }
    }

    /// Notes the failure of one item.
    ///
    /// - Parameter isAlone: whether it went alone because it had failed with others.
    /// - Returns: whether the engine tries it again.
    fileprivate mutating func note(
        _ error: CKError, of item: SyncEngineItem, _ isAlone: Bool = false
    ) -> Bool {
        itemErrors[item] = error
        if case .record(let recordID) = item { waiting[recordID] = nil }
        if error.leavesOutcomeOpen { lostAnswer = true }
        guard error.keepsChangePending else {
            failedForGood.insert(item)
            return false
        }
        // Without the keys of one zone, other records may go. If the server said when to ask for keys again, it
        // did not mean those.
        let lacksKeys = error.isOfMissingKeys || error.code == .accountTemporarilyUnavailable && error.isAboutKeys
        let isOfItem = error.isPassing || lacksKeys || error.isZoneKeyUnknown || isAlone && error.makesSuspect
        let waits = error.retryAfterSeconds != nil && !error.isOfMissingKeys
        if !isOfItem || waits { failsByItems = false }
        let isLonger = (error.retryAfterSeconds ?? 0) > (retriedError?.retryAfterSeconds ?? 0)
        if retriedError == nil || isLonger { retriedError = error }
        return true
    }

    /// Notes that a request failed as a whole.
    fileprivate mutating func noteRequestError(_ error: CKError) {
        guard requestError == nil, error.code != .partialFailure else { return }
        requestError = error
    }
}

extension CKError {
    /// The error of an item that the server left out of its answer: nobody knows what became of it.
    fileprivate static var leftOut: CKError {
        CKError(
            .serverResponseLost,
            message: "The server's answer says nothing of this item. It may have been carried out.")
    }
}
