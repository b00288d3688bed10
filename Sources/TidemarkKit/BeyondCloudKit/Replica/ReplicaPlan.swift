// SPDX-License-Identifier: Apache-2.0

/// An event for a replica, with what its engine had pending then.
enum ReplicaEvent: Sendable {
    case engine(CKSyncEngine.Event, pending: Set<CKRecord.ID>)
    case store(TidemarkStoreEvent)
}

/// The steps that are necessary after an event.
struct ReplicaPlan {
    var steps: [TidemarkReplica.Step] = []
    /// Records for which the engine must have pending exactly what the replica says.
    var touched: [CKRecord.ID] = []
    /// Zones that the user has deleted and that are gone.
    var settledZones: [CKRecordZone.ID] = []
    /// Whether all other pending changes of the engine belong to another account.
    var isNewAccount = false

    /// The record that the app will have when the steps are done. The inner nil means no record. The outer nil means
    /// that the steps do not concern it.
    func outcome(of id: CKRecord.ID) -> CKRecord?? {
        for step in steps.reversed() {
            switch step {
            case .store(let record) where record.recordID == id: return .some(record)
            case .remove(id), .removeAll: return .some(nil)
            default: continue
            }
        }
        return nil
    }
}
