// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Why a record waits until another change has been sent.
struct SyncEngineWaiting: Sendable {
    /// The server's error.
    let error: CKError
    /// How many items of the pass had succeeded by then.
    let successCount: Int
}

// a change that was refused only because another pending change must come first has not failed. It stays
// pending, behind that change, and the app is not told. Each function here proves this for one kind.
extension SyncEngineMachine {
    /// The records of a batch that wait, each with the server's error.
    func recordsThatWait(
        in batch: CKSyncEngine.RecordZoneChangeBatch, _ results: SyncEngineRecordResults, _ send: SyncEngineSend
    ) -> [CKRecord.ID: CKError] {
        guard results.hasFailures else { return [:] }
        let refused = Refused(batch, results)
        var waiting: [CKRecord.ID: CKError] = [:]
        addChildren(of: batch, refused, to: &waiting)
        addParents(of: batch, refused, send, to: &waiting)
        addRecordsOfPendingZones(refused, to: &waiting)
        if batch.atomicByZone { addOthersOfAtomicZones(refused, to: &waiting) }
        return waiting
    }

    /// Puts waiting records behind what they wait for.
    ///
    /// - Returns: whether one of them has waited before in this pass, and nothing has succeeded since. Then the pass
    ///   ends, so that it cannot go on for ever.
    func keepWaiting(_ send: inout SyncEngineSend, _ waiting: [CKRecord.ID: CKError]) -> Bool {
        var isStuck = false
        for (recordID, error) in waiting {
            let wait = SyncEngineWaiting(error: error, successCount: send.successCount)
            let last = send.waiting.updateValue(wait, forKey: recordID)
            if last?.successCount == send.successCount { isStuck = true }
        }
        return isStuck
    }

    /// Children whose parents must still be saved: those are pending, or were refused with an error that is
    /// retried.
    private func addChildren(
        of batch: CKSyncEngine.RecordZoneChangeBatch, _ refused: Refused, to waiting: inout [CKRecord.ID: CKError]
    ) {
        func isToCome(_ recordID: CKRecord.ID) -> Bool {
            waiting[recordID] != nil || snapshot.pendingRecords[recordID] == .saveRecord(recordID)
                || refused.saves.contains(recordID) && refused.errors[recordID]?.keepsChangePending == true
        }
        // A grandchild waits because its parent does.
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for record in batch.recordsToSave where waiting[record.recordID] == nil {
                guard let error = refused.errors[record.recordID], error.code == .referenceViolation,
                    let parentID = record.parent?.recordID, isToCome(parentID)
                else { continue }
                waiting[record.recordID] = error
                isGrowing = true
            }
        }
    }

    /// Parents to be deleted, while a change is pending that may remove their last child: a change in the same
    /// zone that has not been tried. Only the server knows which records are children.
    private func addParents(
        of batch: CKSyncEngine.RecordZoneChangeBatch, _ refused: Refused, _ send: SyncEngineSend,
        to waiting: inout [CKRecord.ID: CKError]
    ) {
        let parents = batch.recordIDsToDelete.filter { refused.errors[$0]?.code == .referenceViolation }
        guard !parents.isEmpty else { return }
        var openZones = Set(waiting.keys.map(\.zoneID))
        for (recordID, error) in refused.errors where error.keepsChangePending { openZones.insert(recordID.zoneID) }
        for recordID in snapshot.pendingRecords.elements.map(\.recordID) {
            let wasTried = send.waiting[recordID] != nil || repeatedFailures.contains(.record(recordID))
            if !wasTried { openZones.insert(recordID.zoneID) }
        }
        for recordID in parents {
            let hasHope = send.waiting[recordID].map { $0.successCount < send.successCount } ?? false
            if hasHope || openZones.contains(recordID.zoneID) { waiting[recordID] = refused.errors[recordID] }
        }
    }

    /// Records in a zone that must still be saved.
    private func addRecordsOfPendingZones(_ refused: Refused, to waiting: inout [CKRecord.ID: CKError]) {
        for (recordID, error) in refused.errors where error.code == .zoneNotFound {
            // the app must hear of lost keys.
            guard error.userInfo[CKErrorUserDidResetEncryptedDataKey] == nil,
                snapshot.pendingZones[recordID.zoneID]?.isSave == true
            else { continue }
            waiting[recordID] = error
        }
    }

    /// Records that were refused only with the rest of their zone. They wait if all records there that were
    /// refused for their own reasons stay pending. Those wait too, or their failures pass.
    private func addOthersOfAtomicZones(_ refused: Refused, to waiting: inout [CKRecord.ID: CKError]) {
        let own = refused.errors.filter { $1.code != .batchRequestFailed }
        let final = own.filter { !$1.keepsChangePending && waiting[$0] == nil }
        let pendingZones = Set(own.keys.map(\.zoneID)).subtracting(final.keys.map(\.zoneID))
        for (recordID, error) in refused.errors
        where error.code == .batchRequestFailed && pendingZones.contains(recordID.zoneID) {
            waiting[recordID] = error
        }
    }

    /// The refused items of a batch.
    private struct Refused {
        var errors: [CKRecord.ID: CKError] = [:]
        var saves: Set<CKRecord.ID> = []

        init(_ batch: CKSyncEngine.RecordZoneChangeBatch, _ results: SyncEngineRecordResults) {
            for record in batch.recordsToSave {
                guard case .failure(let error)? = results.saves[record.recordID] else { continue }
                errors[record.recordID] = error
                saves.insert(record.recordID)
            }
            for recordID in batch.recordIDsToDelete {
                if case .failure(let error)? = results.deletes[recordID] { errors[recordID] = error }
            }
        }
    }
}
