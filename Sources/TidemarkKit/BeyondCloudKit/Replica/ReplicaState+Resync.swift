// SPDX-License-Identifier: Apache-2.0

extension ReplicaState {
    /// the app may have lost the values of records that it has not edited. Records that it has edited stay as
    /// they are.
    func storeAgain(_ records: [CKRecord], _ plan: inout ReplicaPlan) {
        for id in records.map(\.recordID) {
            guard let entry = entries[id], entry.edit == nil, !entry.isUnmerged, plan.outcome(of: id) == nil,
                let known = entry.newestServerRecord
            else { continue }
            plan.steps.append(.store(known))
        }
    }
}
