// SPDX-License-Identifier: Apache-2.0

// the server may fail at one record each time, and refuse the whole request with it. Nobody says which record
// that is. So whatever failed with others goes apart from what did not, and in smaller and smaller parts, until the
// record goes alone.
extension SyncEngineMachine {
    /// Whether the batch is one record that failed with others before.
    func isLoneSuspect(_ batch: CKSyncEngine.RecordZoneChangeBatch) -> Bool {
        batch.itemCount == 1 && batch.recordIDs.allSatisfy { suspects[$0] != nil }
    }

    /// Notes with how many others the records of a batch may go next.
    mutating func noteSuspects(
        of batch: CKSyncEngine.RecordZoneChangeBatch, _ results: SyncEngineRecordResults
    ) {
        guard results.hasFailures || !suspects.isEmpty else { return }
        let failed = batch.recordIDs.filter { results.error(of: $0)?.makesSuspect == true }
        // What did not get through is as suspect as before.
        for recordID in batch.recordIDs where results.error(of: recordID)?.isRetriedBySyncEngine != true {
            suspects[recordID] = nil
        }
        for recordID in failed { suspects[recordID] = max(1, failed.count / 2) }
    }

    /// The part of a batch that is sent now. The rest stays pending. An atomic batch goes whole, as the app wants.
    mutating func part(
        of batch: CKSyncEngine.RecordZoneChangeBatch, _ send: SyncEngineSend
    ) -> CKSyncEngine.RecordZoneChangeBatch {
        // NB: what is left out must be pending. A delegate may give what the app has removed.
        suspects = suspects.filter { snapshot.pendingRecords.contains(key: $0.key) }
        guard !batch.atomicByZone else { return batch }
        return withRoom(suspects.isEmpty ? batch : withoutSuspects(batch, send))
    }

    /// Suspects wait for all others, except for those that wait for another pending change: that may be a
    /// suspect. Nor do they wait for what the last pass could not send, because the app may add it again for ever.
    private func withoutSuspects(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, _ send: SyncEngineSend
    ) -> CKSyncEngine.RecordZoneChangeBatch {
        let ready = batch.recordIDs.filter { send.waiting[$0] == nil }
        var chosen = ready.filter { suspects[$0] == nil && !isRepeatedFailure($0) }
        if chosen.isEmpty {
            var countMax = Int.max
            chosen = Array(
                ready.filter { suspects[$0] != nil }.enumerated().prefix { index, recordID in
                    countMax = min(countMax, suspects[recordID] ?? countMax)
                    return index < countMax
                }.map(\.element))
        }
        return chosen.isEmpty ? batch : batch.reduced(to: Set(chosen))
    }

    private func isRepeatedFailure(_ recordID: CKRecord.ID) -> Bool {
        repeatedFailures.contains(.record(recordID)) && snapshot.pendingRecords.contains(key: recordID)
    }
}

// a batch may be too large for the network to carry it in time. After a lost answer the next batches have half as
// many changes, and a quarter more after each one that is answered.
extension SyncEngineMachine {
    mutating func noteRoom(of batch: CKSyncEngine.RecordZoneChangeBatch, _ outcome: SyncEngineOutcome) {
        switch outcome {
        case .failure(let error) where error.code == .serverResponseLost:
            if batch.itemCount > 1 { batchRoom = batch.itemCount / 2 }
        case .failure: break
        case .success:
            let more = batchRoom.map { $0 + max(1, $0 / 4) }
            batchRoom = more.flatMap { $0 < SyncEngineLimits.batchItemsMax ? $0 : nil }
        }
    }

    /// As many changes as there is room for. What is not pending goes all the same: nobody would give it again.
    private func withRoom(_ batch: CKSyncEngine.RecordZoneChangeBatch) -> CKSyncEngine.RecordZoneChangeBatch {
        guard let batchRoom, batch.itemCount > batchRoom else { return batch }
        let others = batch.recordIDs.dropFirst(batchRoom).filter { !snapshot.pendingRecords.contains(key: $0) }
        return batch.reduced(to: Set(batch.recordIDs.prefix(batchRoom) + others))
    }
}

extension CKError {
    /// Whether other records should not go with this one again: the server may have failed at it, or they would wait for
    /// its upload.
    var makesSuspect: Bool { code == .internalError || isOfStandingUpload }
}

extension SyncEngineRecordResults {
    fileprivate func error(of recordID: CKRecord.ID) -> CKError? {
        if case .failure(let error)? = saves[recordID] { return error }
        if case .failure(let error)? = deletes[recordID] { return error }
        return nil
    }
}

extension CKSyncEngine.RecordZoneChangeBatch {
    fileprivate func reduced(to recordIDs: Set<CKRecord.ID>) -> Self {
        var part = self
        part.recordsToSave.removeAll { !recordIDs.contains($0.recordID) }
        part.recordIDsToDelete.removeAll { !recordIDs.contains($0) }
        return part
    }
}
