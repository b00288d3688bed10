// SPDX-License-Identifier: Apache-2.0

import CloudKit

// The app of the articles in Sources/TidemarkKit/TidemarkKit.docc: their code blocks are lines of the files here.

/// What the app keeps on the disk.
struct Library: Codable {
    var notes: [String: Note] = [:]
    var replica = TidemarkReplica()
}

struct Note: Codable {
    var text = ""
    var tags: [String] = []
    var editedAt = Date()
}

extension Note {
    init(_ record: CKRecord) {
        text = record["text"] ?? ""
        tags = record["tags"] ?? []
        editedAt = record["editedAt"] ?? .distantPast
    }

    func fill(_ record: CKRecord) {
        record["text"] = text
        record["tags"] = tags
        record["editedAt"] = editedAt
    }
}

actor Notes: TidemarkSyncEngineDelegate {
    private(set) var library = Library()
    private(set) var problems: [String: String] = [:]
    private let file: URL
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private let rules = TidemarkMerge(.newest(by: "editedAt"), fields: ["tags": .listElements])
    var engine: CKSyncEngine?

    init(file: URL) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        library = try JSONDecoder().decode(Library.self, from: Data(contentsOf: file))
    }

    func start(in database: CKDatabase, automatically: Bool = true) {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: library.replica.engineState, delegate: self)
        configuration.automaticallySync = automatically
        let engine = CKSyncEngine(configuration)
        library.replica.begin(engine)
        self.engine = engine
    }

    func write(_ text: String, to name: String) throws {
        try edit(name) { $0.text = text }
    }

    func tag(_ name: String, _ tag: String) throws {
        try edit(name) { $0.tags.append(tag) }
    }

    func delete(_ name: String) throws {
        library.notes[name] = nil
        library.replica.deleted(id(of: name), engine)
        try save()
    }

    private func edit(_ name: String, _ change: (inout Note) -> Void) throws {
        var note = library.notes[name] ?? Note()
        change(&note)
        note.editedAt = Date()
        library.notes[name] = note
        library.replica.edited(id(of: name), as: "Note", engine)
        try save()
    }

    private func id(of name: String) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    private func save() throws {
        try JSONEncoder().encode(library).write(to: file, options: .atomic)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let batch = await library.replica.nextBatch(context, syncEngine) { record in await self.fill(record) }
        try? save()
        return batch
    }

    private func fill(_ record: CKRecord) -> Bool {
        guard let note = library.notes[record.recordID.recordName] else { return false }
        note.fill(record)
        return true
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        for step in library.replica.steps(after: event, syncEngine, merging: rules, write: { fill($0) }) {
            switch step {
            case .store(let record): library.notes[record.recordID.recordName] = Note(record)
            case .remove(let id): library.notes[id.recordName] = nil
            case .removeAll: library.notes = [:]
            case .zoneDeleted(_, _, let unsent): library.replica.send(unsent, syncEngine)
            case .refused(let id, let error): problems[id.recordName] = error.localizedDescription
            case .zoneRefused(let id, let error): problems[id.zoneName] = error.localizedDescription
            }
        }
        try? save()
    }

    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        library.replica.take(event, syncEngine)
        try? save()
    }
}
