// SPDX-License-Identifier: Apache-2.0

extension ReplicaState {
    /// the app may have lost the values of a record that it has not edited. What it has edited stays as it is.
    func storeAgain(_ record: CKRecord, _ plan: inout ReplicaPlan) {
        let id = record.recordID
        guard let entry = entries[id], entry.edit == nil, !entry.isUnmerged, plan.outcome(of: id) == nil,
            let known = entry.newestServerRecord
        else { return }
        plan.steps.append(.store(known))
    }
}
