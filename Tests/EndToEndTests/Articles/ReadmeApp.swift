// SPDX-License-Identifier: Apache-2.0

import CloudKit

// Blocks of the README and the articles that are no part of an app here; compiled only.

/// An app without a replica.
private actor Merging {
    private let rules = TidemarkMerge(.newest(by: "editedAt"), fields: ["tags": .listElements])
    private var records: [CKRecord.ID: CKRecord] = [:]

    func handle(_ event: CKSyncEngine.Event, _ syncEngine: CKSyncEngine) {
        switch event {
        case .sentRecordZoneChanges(let sent):
            let unsent = Set(syncEngine.state.pendingRecordZoneChanges)
            for record in sent.savedRecords { noteTag(of: record) }
            for record in sent.mergeConflicts(rules, syncEngine) where !unsent.contains(.saveRecord(record.recordID)) {
                store(record)
            }
        default: break
        }
    }

    private func noteTag(of record: CKRecord) {}

    private func store(_ record: CKRecord) { records[record.recordID] = record }
}

private enum Readme {
    static func merge(_ event: CKSyncEngine.Event, _ syncEngine: CKSyncEngine, store: ([CKRecord]) -> Void) {
        switch event {
        case .sentRecordZoneChanges(let sent):
            store(
                sent.mergeConflicts(TidemarkMerge(.newest(by: "editedAt"), fields: ["tags": .listElements]), syncEngine)
            )
        default: break
        }
    }

    static func storeRows(of replica: TidemarkReplica, in table: inout [String: Data]) {
        for (key, data) in replica.takeChangedRows() { table[key] = data }
    }
}
