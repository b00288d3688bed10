// SPDX-License-Identifier: Apache-2.0

import CloudKit

final class NotesSync: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update): save(update.stateSerialization)
        case .fetchedRecordZoneChanges(let changes): apply(changes.modifications.map(\.record), changes.deletions)
        case .sentRecordZoneChanges(let sent): confirm(sent.savedRecords, sent.failedRecordSaves)
        default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }

    private func save(_ state: CKSyncEngine.State.Serialization) {}
    private func apply(_ records: [CKRecord], _ deletions: [CKDatabase.RecordZoneChange.Deletion]) {}
    private func confirm(
        _ records: [CKRecord], _ failures: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave]
    ) {}
}

/// The other blocks of the README; compiled only.
private enum Readme {
    private static func loadState() -> CKSyncEngine.State.Serialization? { nil }

    static func start(_ notes: NotesSync, _ noteID: CKRecord.ID) {
        let engine = CKSyncEngine(
            .init(
                database: CKContainer.default().privateCloudDatabase, stateSerialization: loadState(), delegate: notes))
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(noteID)])
    }

    static func merge(_ event: CKSyncEngine.Event, _ syncEngine: CKSyncEngine, store: ([CKRecord]) -> Void) {
        switch event {
        case .sentRecordZoneChanges(let sent):
            store(
                sent.mergeConflicts(TidemarkMerge(.newest(by: "editedAt"), fields: ["tags": .listElements]), syncEngine)
            )
        default: break
        }
    }
}
