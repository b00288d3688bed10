// SPDX-License-Identifier: Apache-2.0

/// An event for a replica, with what its engine had pending then.
enum ReplicaEvent: Sendable {
    case engine(CKSyncEngine.Event, pending: Set<CKRecord.ID>)
    case store(TidemarkStoreEvent)
}

/// What must be done after an event.
struct ReplicaPlan {
    var steps: [TidemarkReplica.Step] = []
    /// Records for which the engine must have pending exactly what the replica says.
    var touched: [CKRecord.ID] = []
    /// Zones that the user has deleted and that are gone.
    var settledZones: [CKRecordZone.ID] = []
    /// Whether everything else that the engine has pending belongs to another account.
    var isNewAccount = false

    /// What the app will have of a record when the steps are done; the inner nil for nothing. The outer nil: the steps
    /// do not concern it.
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
