// SPDX-License-Identifier: Apache-2.0

// the root of a hierarchy and its new share are saved together, or not at all.

extension [CKRecord.ID: CKError] {
    /// Refuses the root with its share, or the share with its root, where one of them cannot be sent. The server would
    /// refuse a share without its root for another reason, and would save a root without its share.
    ///
    /// - Parameter records: all that are to be saved.
    mutating func refuseRootsWithShares(in records: [CKRecord]) {
        guard !isEmpty else { return }
        for root in records {
            guard let shareID = root.newShareID, records.contains(where: { $0.recordID == shareID }) else { continue }
            let ids = [root.recordID, shareID]
            guard ids.contains(where: { self[$0] != nil }) else { continue }
            for id in ids where self[id] == nil {
                self[id] = CKError(
                    .batchRequestFailed,
                    message:
                        "A root and its new share are saved together, and one of them was refused. Correct that one, and send "
                        + "both again.")
            }
        }
    }
}

extension CloudDatabase.RecordResults {
    /// Updates `share` of roots after a save. It is the server's value if the share was saved in the same request, and nil if it was
    /// deleted.
    func settleShares(of saves: [CloudDatabase.Save]) {
        for save in saves {
            guard case .success? = self.saves[save.copy.recordID] else { continue }
            for record in [save.original, save.copy] {
                if let shareID = save.changes.newShareID, case .success? = self.saves[shareID] {
                    record.settleShare(shareID, isThere: true)
                } else if let shareID = record.share?.recordID, case .success? = deletes[shareID] {
                    record.settleShare(shareID, isThere: false)
                }
            }
        }
    }
}

extension CKRecord {
    /// The share that was made of this record and is not saved yet.
    var newShareID: CKRecord.ID? { state.withLock { $0.shareChange == nil ? nil : $0.share?.recordID } }

    /// The record that must be in the same request: the new share of a root, or the root of a new share.
    var idSavedWithIt: CKRecord.ID? {
        guard let share = self as? CKShare else { return newShareID }
        return share.recordChangeTag == nil ? share.rootID : nil
    }

    /// The server has saved or deleted the share. A share that was made since stays.
    fileprivate func settleShare(_ shareID: CKRecord.ID, isThere: Bool) {
        state.withLock { state in
            if state.share?.recordID == shareID {
                state.shareChange = nil
                if !isThere { state.share = nil }
            }
            state.originalShare = isThere ? CKRecord.Reference(recordID: shareID, action: .none) : nil
        }
    }
}
