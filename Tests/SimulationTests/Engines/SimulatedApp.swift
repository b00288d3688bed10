// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkScheduling
import TidemarkTestKit

/// An app with a real `CKSyncEngine`. Its records are sets of edits, which merge by union, so that whatever conflicts come,
/// no edit may be missing in the end. Records that it made itself it may also delete.
final class SimulatedApp: CKSyncEngineDelegate, CloudTransport, @unchecked Sendable {
    private struct Note {
        /// As the server last gave it.
        var base: CKRecord?
        var edits: Set<String> = []
        var isDirty = false
    }

    private let world: SimulatedWorld
    let number: Int
    private(set) var engine: CKSyncEngine?
    private(set) var isOnline = true
    private var links: [SimulatedLink] = []
    private var process = 0

    // What the app has stored: it outlives the process.
    private var notes: [CKRecord.ID: Note] = [:]
    private var savedState: CKSyncEngine.State.Serialization?
    /// Every edit that it made in a record that is not to be deleted.
    private(set) var edits: Set<String> = []
    /// Records of its own that it has deleted.
    private(set) var deleted: Set<CKRecord.ID> = []

    init(_ world: SimulatedWorld, number: Int) {
        self.world = world
        self.number = number
    }

    /// What the user sees, by "zone/record".
    var contents: [String: Set<String>] {
        Dictionary(uniqueKeysWithValues: notes.map { ($0.key.path, $0.value.edits) })
    }

    var hasPendingChanges: Bool {
        guard let state = engine?.state else { return true }
        return !state.pendingRecordZoneChanges.isEmpty || !state.pendingDatabaseChanges.isEmpty
    }

    // MARK: The process

    func start() {
        process += 1
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: "alice", transport: self, scheduler: world.scheduler,
            engineScheduler: world.scheduler)
        let database = CKContainer(context: context).privateCloudDatabase
        let engine = CKSyncEngine(
            CKSyncEngine.Configuration(database: database, stateSerialization: savedState, delegate: self))
        self.engine = engine
        // what the last state update does not hold is added again.
        engine.state.add(pendingDatabaseChanges: SimulatedWorld.zoneNames.map { .saveZone(CKRecordZone(zoneName: $0)) })
        for id in ids where notes[id]?.isDirty == true {
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }
        for id in deleted.sorted(by: { $0.path < $1.path }) {
            engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
        }
    }

    /// What the app stored stays.
    func crash() {
        engine = nil
        for link in links { link.cut() }
        links = []
    }

    func setOnline(_ isOnline: Bool) {
        self.isOnline = isOnline
        if !isOnline { cutLinks() }
    }

    func cutLinks() {
        for link in links { link.cut() }
        links = []
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let server = isOnline && (world.isCalm || !world.oneIn(10)) ? world.oneOf(world.servers) : nil
        let (link, channel) = SimulatedLink.open(to: server, in: world, observer: observer)
        links.removeAll(where: \.isClosed)
        links.append(link)
        return channel
    }

    // MARK: The user

    private var ids: [CKRecord.ID] { notes.keys.sorted { $0.path < $1.path } }

    /// - Parameter text: unique.
    func edit(_ text: String) {
        let id = CKRecord.ID(
            recordName: world.oneOf(SimulatedWorld.recordNames),
            zoneID: CKRecordZone.ID(zoneName: world.oneOf(SimulatedWorld.zoneNames)))
        edits.insert(text)
        add(text, to: id)
    }

    /// Makes a record of its own, which it will delete.
    func makeDraft(_ text: String) {
        add(text, to: draftID(text))
    }

    func deleteDraft() {
        guard let id = ids.first(where: { $0.recordName.hasPrefix("draft-\(number)-") }) else { return }
        notes[id] = nil
        deleted.insert(id)
        engine?.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        engine?.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
    }

    private func draftID(_ text: String) -> CKRecord.ID {
        CKRecord.ID(recordName: "draft-\(number)-\(text)", zoneID: CKRecordZone.ID(zoneName: "a"))
    }

    private func add(_ text: String, to id: CKRecord.ID) {
        notes[id, default: Note()].edits.insert(text)
        notes[id]?.isDirty = true
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    // MARK: CKSyncEngineDelegate

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await .init(pendingChanges: changes) { id in
            guard let note = self.notes[id] else { return nil }
            let record = note.base?.copy() as? CKRecord ?? CKRecord(recordType: "Note", recordID: id)
            record["text"] = note.edits.sorted().joined(separator: ",")
            return record
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        // An engine of a process that died may be held by a call; nobody hears it any more.
        guard syncEngine === engine else { return }
        switch event {
        case .stateUpdate(let update): savedState = update.stateSerialization
        case .accountChange: sendAll(syncEngine)
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { merge(modification.record, syncEngine) }
            for deletion in changes.deletions { forget(deletion.recordID) }
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { acknowledged(record, syncEngine) }
            for failure in sent.failedRecordSaves { solve(failure, syncEngine) }
        default: break
        }
    }

    private func sendAll(_ engine: CKSyncEngine) {
        engine.state.add(pendingDatabaseChanges: SimulatedWorld.zoneNames.map { .saveZone(CKRecordZone(zoneName: $0)) })
        for id in ids {
            notes[id]?.base = nil
            notes[id]?.isDirty = true
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }
    }

    private func acknowledged(_ record: CKRecord, _ engine: CKSyncEngine) {
        let text = record["text"] as? String ?? ""
        // I-1: said to be saved, so the database has had it.
        if !world.history.hasHad(text, named: record.recordID.recordName, in: record.recordID.zoneID.zoneName) {
            world.history.accuse("I-1: acknowledged, but not written: \(record.recordID.path)")
        }
        merge(record, engine)
    }

    private func merge(_ record: CKRecord, _ engine: CKSyncEngine) {
        guard !deleted.contains(record.recordID) else { return }
        var note = notes[record.recordID] ?? Note()
        let edits = Set((record["text"] as? String ?? "").split(separator: ",").map(String.init))
        note.base = record
        note.edits.formUnion(edits)
        note.isDirty = note.edits != edits
        notes[record.recordID] = note
        if note.isDirty { engine.state.add(pendingRecordZoneChanges: [.saveRecord(record.recordID)]) }
    }

    private func forget(_ id: CKRecord.ID) {
        // Only drafts are ever deleted, by the app that made them.
        if !id.recordName.hasPrefix("draft-") { world.history.accuse("nobody deleted \(id.path)") }
        notes[id] = nil
    }

    private func solve(_ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine) {
        let id = failure.record.recordID
        switch failure.error.code {
        case .serverRecordChanged:
            if let record = failure.error.serverRecord { merge(record, engine) } else { retry(id, engine) }
        case .zoneNotFound, .unknownItem:
            engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: id.zoneID))])
            retry(id, engine)
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .requestRateLimited,
            .notAuthenticated, .operationCancelled, .serverResponseLost, .batchRequestFailed:
            break
        default:
            world.history.accuse("unexpected: \(failure.error.code) for \(id.path)")
        }
    }

    private func retry(_ id: CKRecord.ID, _ engine: CKSyncEngine) {
        guard notes[id] != nil else { return }
        notes[id]?.base = nil
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }
}

extension CKRecord.ID {
    var path: String { "\(zoneID.zoneName)/\(recordName)" }
}
