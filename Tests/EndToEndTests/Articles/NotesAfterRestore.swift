// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// An app that is not undone when its server goes back to a backup, and that keeps nothing that was deleted while it was away:
/// what the article "Conflicts" says of both, around which the rest is as small as it can be.
actor CarefulNotes: TidemarkSyncEngineDelegate {
    static let zone = CKRecordZone(zoneName: "Notes")

    /// As the user sees them, with edits that are still to be sent.
    private(set) var notes: [CKRecord.ID: CKRecord] = [:]
    private(set) var heard: [String] = []
    private(set) var engine: CKSyncEngine?
    /// The record name of the user whose notes they are.
    private(set) var user: String?
    /// Nil: nothing is kept on the disk.
    private let directory: URL?

    /// The notes on the disk. The engine's state and its journal, which says what is unsent, are beside them.
    private struct Kept: Codable {
        var records: [Data]
        var user: String?
    }

    init() { directory = nil }

    init(directory: URL) throws {
        self.directory = directory
        guard let data = try? Data(contentsOf: directory.appendingPathComponent("notes.json")) else { return }
        let kept = try JSONDecoder().decode(Kept.self, from: data)
        user = kept.user
        for data in kept.records {
            guard let record = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data) else {
                continue
            }
            notes[record.recordID] = record
        }
    }

    private func keep() {
        guard directory != nil else { return }
        let records = notes.values.compactMap {
            try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
        }
        keep(Kept(records: records, user: user), as: "notes.json")
    }

    private func keep(_ value: some Encodable, as name: String) {
        guard let directory else { return }
        try? JSONEncoder().encode(value).write(to: directory.appendingPathComponent(name), options: .atomic)
    }

    func start(in database: CKDatabase) throws {
        let data = directory.flatMap { try? Data(contentsOf: $0.appendingPathComponent("state.json")) }
        let state = try data.map { try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0) }
        var configuration = CKSyncEngine.Configuration(database: database, stateSerialization: state, delegate: self)
        configuration.journalFile = directory?.appendingPathComponent("pending.journal")
        engine = CKSyncEngine(configuration)
    }

    var texts: [String: String] {
        notes.values.reduce(into: [:]) { $0[$1.recordID.recordName] = $1["text"] }
    }

    func write(_ text: String, to name: String) {
        let id = CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
        let note = notes[id] ?? CKRecord(recordType: "Note", recordID: id)
        note["text"] = text
        notes[id] = note
        keep()
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    func delete(_ name: String) {
        let id = CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
        notes[id] = nil
        keep()
        engine?.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in await self.notes[id] }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            return keep(update.stateSerialization, as: "state.json")
        case .accountChange(let change):
            switch change.changeType {
            case .signIn(let current): user = current.recordName
            case .switchAccounts(_, let current): (notes, user) = ([:], current.recordName)
            case .signOut: (notes, user) = ([:], nil)
            }
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
        case .fetchedDatabaseChanges(let changes):
            if changes.deletions.contains(where: { $0.zoneID == Self.zone.zoneID }) { notes = [:] }
        case .fetchedRecordZoneChanges(let changes):
            for record in changes.modifications.map(\.record) { meet(record) }
            // Edits outlive deletions.
            for id in changes.deletions.map(\.recordID) where notes[id]?.changedKeys().isEmpty == true {
                notes[id] = nil
            }
        case .didFetchRecordZoneChanges(let end):
            for id in end.fullFetch?.recordIDsNotFetched(among: notes.keys) ?? [] {
                if end.fullFetch?.reason == .deletionsForgotten { notes[id] = nil } else { saveAnew(id) }
            }
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { saved(record) }
            let pending = Set(syncEngine.state.pendingRecordZoneChanges)
            for failure in sent.failedRecordSaves {
                let id = failure.record.recordID
                if let theirs = failure.error.serverRecord {
                    meet(theirs)
                } else if !pending.contains(.saveRecord(id)) {
                    // What is pending is sent again, with its tag.
                    saveAnew(id)
                }
            }
        default:
            return
        }
        keep()
    }

    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        heard.append("\(event)")
        if case .didFetchZonesFromNothing(let list) = event, list.reason == .anotherLife,
            !list.zoneIDsNotFetched(among: [Self.zone.zoneID]).isEmpty
        {
            for id in notes.keys { saveAnew(id) }
        }
    }

    private func meet(_ fetched: CKRecord) {
        guard let mine = notes[fetched.recordID], mine["text"] as? String != fetched["text"] as? String else {
            return store(fetched)
        }
        switch fetched.versionOrder(relativeTo: mine) {
        case .newer: store(fetched)
        case .same, .older, .wentBack: saveAgain(mine, withTagOf: fetched)
        case .unrelated: keepBoth(mine, fetched)
        }
    }

    /// An edit that is still to be sent becomes a copy.
    private func store(_ fetched: CKRecord) {
        let mine = notes.updateValue(fetched, forKey: fetched.recordID)
        guard let mine, !mine.changedKeys().isEmpty, mine["text"] as? String != fetched["text"] as? String else {
            return
        }
        copy(mine)
    }

    private func saveAgain(_ mine: CKRecord, withTagOf fetched: CKRecord) {
        fetched["text"] = mine["text"] as? String
        notes[mine.recordID] = fetched
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(mine.recordID)])
    }

    private func keepBoth(_ mine: CKRecord, _ fetched: CKRecord) {
        notes[fetched.recordID] = fetched
        copy(mine)
    }

    private func copy(_ mine: CKRecord) {
        var name = "\(mine.recordID.recordName) (copy)"
        while notes[CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)] != nil { name += " (copy)" }
        write(mine["text"] ?? "", to: name)
    }

    /// What the user wrote while the save was under way stays, on the new version.
    private func saved(_ record: CKRecord) {
        guard let mine = notes[record.recordID] else { return }
        if mine["text"] as? String == record["text"] as? String {
            notes[record.recordID] = record
        } else {
            saveAgain(mine, withTagOf: record)
        }
    }

    private func saveAnew(_ id: CKRecord.ID) {
        guard let text = notes[id]?["text"] as? String else { return }
        notes[id] = nil
        engine?.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
        write(text, to: id.recordName)
    }
}
