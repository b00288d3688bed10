// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// Keeps a ``NoteStore`` in sync. What is to be sent follows from the rows, so that nothing is lost if the program dies between
/// an edit and the engine's next state update.
final actor NoteSync: CKSyncEngineDelegate {
    private let store: NoteStore
    private let changed: @Sendable (_ items: [String: [String: String]], _ pendingCount: Int) -> Void
    private var engine: CKSyncEngine?
    /// The fields of rows whose records were handed to the engine, as they were then.
    private var sent: [String: Note.Fields] = [:]

    init(
        directory: URL, changed: @escaping @Sendable ([String: [String: String]], Int) -> Void
    ) throws {
        store = try NoteStore(directory: directory)
        self.changed = changed
    }

    func start(automatically: Bool) {
        var configuration = CKSyncEngine.Configuration(
            database: CKContainer.default().privateCloudDatabase, stateSerialization: store.engineState(),
            delegate: self)
        configuration.automaticallySync = automatically
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        addDirtyRows(to: engine)
    }

    private func addDirtyRows(to engine: CKSyncEngine) {
        engine.state.add(pendingRecordZoneChanges: store.notes.filter(\.isDirty).map(\.pendingChange))
    }

    // MARK: What the user does

    func edit(_ id: String, _ change: (inout Note.Fields) -> Void) {
        var note = store[id] ?? Note(id: id)
        note.isDeleted = false
        change(&note.fields)
        store.put(note)
        pend(note)
    }

    func delete(_ id: String) {
        guard var note = store[id] else { return }
        note.isDeleted = true
        store.put(note)
        pend(note)
    }

    func erase() {
        forgetAll()
        engine?.state.add(pendingDatabaseChanges: [.deleteZone(Note.zoneID)])
        show()
    }

    /// Fetches and sends until nothing is left to send.
    func sync() async throws {
        guard let engine else { return }
        repeat {
            try await engine.fetchChanges(CKSyncEngine.FetchChangesOptions(scope: .all))
            do {
                try await engine.sendChanges(CKSyncEngine.SendChangesOptions(scope: .all))
            } catch CKError.partialFailure {
                continue
            } catch let error as CKError {
                guard let seconds = error.retryAfterSeconds else { throw error }
                try await Task.sleep(for: .seconds(seconds))
            }
        } while !engine.state.pendingRecordZoneChanges.isEmpty || !engine.state.pendingDatabaseChanges.isEmpty
        try await engine.fetchChanges()
    }

    func show() {
        let notes = store.notes
        var items: [String: [String: String]] = [:]
        for note in notes where !note.isDeleted {
            items[note.id] = [
                "title": note.fields.title, "body": note.fields.body,
                "tags": note.fields.tags.sorted().joined(separator: ","),
            ]
        }
        let pendingZones = engine?.state.pendingDatabaseChanges.count ?? 0
        changed(items, notes.count(where: \.isDirty) + pendingZones)
    }

    private func pend(_ note: Note) {
        engine?.state.add(pendingRecordZoneChanges: [note.pendingChange])
        show()
    }

    private func forgetAll() {
        engine?.state.remove(pendingRecordZoneChanges: engine?.state.pendingRecordZoneChanges ?? [])
        store.removeAll()
    }

    // MARK: CKSyncEngineDelegate

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let pending = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { recordID in
            guard let record = await self.recordToSave(recordID) else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
                return nil
            }
            return record
        }
    }

    private func recordToSave(_ recordID: CKRecord.ID) -> CKRecord? {
        guard let note = store[recordID.recordName], !note.isDeleted else { return nil }
        sent[note.id] = note.fields
        return note.makeRecord()
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            store.setEngineState(update.stateSerialization)
        case .accountChange(let change):
            if case .signIn = change.changeType {
                syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Note.zoneID))])
                addDirtyRows(to: syncEngine)
            } else {
                forgetAll()
            }
        case .fetchedDatabaseChanges(let changes):
            if changes.deletions.contains(where: { $0.zoneID == Note.zoneID }) { forgetAll() }
        case .sentDatabaseChanges(let sent):
            if sent.deletedZoneIDs.contains(Note.zoneID) { forgetAll() }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { fetched(modification.record) }
            for deletion in changes.deletions { recordDeleted(deletion.recordID) }
        case .sentRecordZoneChanges(let sent):
            handle(sent)
        default:
            break
        }
        show()
    }

    // MARK: Events

    private func handle(_ sent: CKSyncEngine.Event.SentRecordZoneChanges) {
        for record in sent.savedRecords {
            let id = record.recordID.recordName
            guard let fields = self.sent.removeValue(forKey: id), var note = store[id] else { continue }
            note.saved(record, fields)
            put(note)
        }
        for failure in sent.failedRecordSaves { handle(failure) }
        for recordID in sent.deletedRecordIDs { recordDeleted(recordID) }
        for (recordID, error) in sent.failedRecordDeletes
        where error.code == .unknownItem || error.code == .zoneNotFound {
            recordDeleted(recordID)
        }
    }

    private func handle(_ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave) {
        let recordID = failure.record.recordID
        switch failure.error.code {
        case .serverRecordChanged:
            if let record = failure.error.serverRecord { merge(record) }
        case .zoneNotFound, .unknownItem:
            guard var note = store[recordID.recordName] else { return }
            note.forgetServer()
            put(note)
            if failure.error.code == .zoneNotFound {
                engine?.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: recordID.zoneID))])
            }
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .requestRateLimited,
            .notAuthenticated, .operationCancelled, .serverResponseLost, .accountTemporarilyUnavailable:
            break  // Still pending: the engine tries again.
        default:
            fatalError("cannot save \(recordID.recordName): \(failure.error)")
        }
    }

    /// A record that is older than the known one was fetched before this device's own save, or the server went back to a
    /// backup. Which it was, the answer to a save tells: the known tag is good, or there is a conflict.
    private func fetched(_ record: CKRecord) {
        guard let note = store[record.recordID.recordName], note.isKnownNewer(than: record) else {
            return merge(record)
        }
        engine?.state.add(pendingRecordZoneChanges: [note.pendingChange])
    }

    private func merge(_ record: CKRecord) {
        var note = store[record.recordID.recordName] ?? Note(id: record.recordID.recordName)
        note.merge(record)
        put(note)
    }

    /// A row that was edited here since the server had it is kept, and starts anew.
    private func recordDeleted(_ recordID: CKRecord.ID) {
        guard var note = store[recordID.recordName] else { return }
        if note.isDirty && !note.isDeleted {
            note.forgetServer()
            put(note)
        } else {
            engine?.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID), .deleteRecord(recordID)])
            store.remove(recordID.recordName)
        }
    }

    /// Stores a row, and sees to it that what is pending is what the row says.
    private func put(_ note: Note) {
        store.put(note)
        if note.isDirty {
            engine?.state.add(pendingRecordZoneChanges: [note.pendingChange])
        } else {
            engine?.state.remove(pendingRecordZoneChanges: [.saveRecord(note.recordID), .deleteRecord(note.recordID)])
        }
    }
}
