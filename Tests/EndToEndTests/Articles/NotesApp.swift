// SPDX-License-Identifier: Apache-2.0

import CloudKit

// The app of the articles in Sources/TidemarkKit/TidemarkKit.docc: their code blocks are lines of the files here.

/// What the app keeps on the disk.
struct Library: Codable {
    var notes: [String: Note] = [:]
    var engineState: CKSyncEngine.State.Serialization?
}

struct Note: Codable {
    var text = ""
    var tags: [String] = []
    var archive: Data?  // the record as the server has it
}

actor Notes: CKSyncEngineDelegate {
    private(set) var library: Library
    private let file: URL
    private let zone = CKRecordZone(zoneName: "Notes")
    var engine: CKSyncEngine?

    init(file: URL) {
        self.file = file
        let stored = try? JSONDecoder().decode(Library.self, from: Data(contentsOf: file))
        library = stored ?? Library()
    }

    func start(in database: CKDatabase, automatically: Bool = true) {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: library.engineState, delegate: self)
        configuration.automaticallySync = automatically
        engine = CKSyncEngine(configuration)
    }

    func write(_ text: String, to name: String) {
        edit(name) { $0.text = text }
    }

    func tag(_ name: String, _ tag: String) {
        edit(name) { $0.tags.append(tag) }
    }

    private func edit(_ name: String, _ change: (inout Note) -> Void) {
        change(&library.notes[name, default: Note()])
        save()
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id(of: name))])
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            await self.record(for: id)
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            library.engineState = update.stateSerialization
        case .accountChange(let change):
            if case .signIn = change.changeType {} else { library = Library() }
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions where deletion.zoneID == zone.zoneID {
                zoneDeleted(deletion.reason, syncEngine)
            }
        case .fetchedRecordZoneChanges(let changes):
            let unsent = Set(syncEngine.state.pendingRecordZoneChanges)
            for record in changes.modifications.map(\.record) where !unsent.contains(.saveRecord(record.recordID)) {
                take(record)
            }
            for id in changes.deletions.map(\.recordID) {
                if unsent.contains(.saveRecord(id)) {
                    saveAnew(id, syncEngine)
                } else {
                    library.notes[id.recordName] = nil
                }
            }
        case .didFetchChanges:
            for (name, note) in library.notes where note.archive == nil { saveAnew(id(of: name), syncEngine) }
        case .sentRecordZoneChanges(let sent):
            let unsent = Set(syncEngine.state.pendingRecordZoneChanges)
            for record in sent.savedRecords { library.notes[record.recordID.recordName]?.archive = archive(record) }
            let rules = TidemarkMerge(.clientWins, fields: ["tags": .listElements])
            for record in sent.mergeConflicts(rules, syncEngine) where !unsent.contains(.saveRecord(record.recordID)) {
                take(record)
            }
            let gone: Set<CKError.Code> = [.unknownItem, .zoneNotFound, .userDeletedZone]
            for failure in sent.failedRecordSaves where gone.contains(failure.error.code) {
                saveAnew(failure.record.recordID, syncEngine)
            }
        default:
            break
        }
        save()
    }

    private func saveAnew(_ id: CKRecord.ID, _ syncEngine: CKSyncEngine) {
        library.notes[id.recordName]?.archive = nil
        syncEngine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    private func zoneDeleted(_ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ syncEngine: CKSyncEngine) {
        let unsent = Set(syncEngine.state.pendingRecordZoneChanges)
        for name in library.notes.keys {
            if reason == .encryptedDataReset || unsent.contains(.saveRecord(id(of: name))) {
                library.notes[name]?.archive = nil
            } else {
                library.notes[name] = nil
            }
        }
    }

    private func id(of name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zone.zoneID)
    }

    private func record(for id: CKRecord.ID) -> CKRecord? {
        guard let note = library.notes[id.recordName] else { return nil }
        let record = note.archive.flatMap(unarchive) ?? CKRecord(recordType: "Note", recordID: id)
        record["text"] = note.text
        record["tags"] = note.tags
        return record
    }

    private func take(_ record: CKRecord) {
        library.notes[record.recordID.recordName] = Note(
            text: record["text"] ?? "", tags: record["tags"] ?? [], archive: archive(record))
    }

    private func archive(_ record: CKRecord) -> Data? {
        try? NSKeyedArchiver.archivedData(withRootObject: record, requiringSecureCoding: true)
    }

    private func unarchive(_ data: Data) -> CKRecord? {
        try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
    }

    private func save() {
        try? JSONEncoder().encode(library).write(to: file, options: .atomic)
    }
}

extension Notes {
    func sync() async throws {
        try await engine?.fetchChanges()
        // A conflict was merged in handleEvent: the next sync sends what came out.
        do { try await engine?.sendChanges() } catch CKError.partialFailure {}
        try await engine?.fetchChanges()
    }
}
