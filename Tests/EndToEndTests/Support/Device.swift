// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkKit

/// A device with an app that keeps texts in sync: the smallest delegate that is complete, and a record of what it heard.
final class Device: CKSyncEngineDelegate, Sendable {
    private struct State {
        var texts: [CKRecord.ID: String] = [:]
        var records: [CKRecord.ID: CKRecord] = [:]
        /// Records that are sent as they are.
        var whole: [CKRecord.ID: CKRecord] = [:]
        var events: [CKSyncEngine.Event] = []
        var heard: [String] = []
        var serialization: CKSyncEngine.State.Serialization?
        var engine: CKSyncEngine?
        /// Whether the process is to end before it hears what became of records that it sent.
        var diesBeforeAnswer = false
        /// Whether it has ended so: it hears and stores nothing more.
        var isDead = false
    }

    private let state = Mutex(State())
    let database: CKDatabase
    let automatically: Bool
    /// Whether texts are encrypted values.
    let isEncrypted: Bool
    /// Whether the changes of a batch are saved together or not at all.
    let isAtomic: Bool

    init(
        _ container: CKContainer, _ scope: CKDatabase.Scope = .private, automatically: Bool = true,
        isEncrypted: Bool = false, isAtomic: Bool = false
    ) {
        (self.isEncrypted, self.isAtomic) = (isEncrypted, isAtomic)
        database = container.database(with: scope)
        self.automatically = automatically
        start()
    }

    /// A new engine with the state that the last one left, as after a start of the app.
    func start() {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: state.withLock { $0.serialization }, delegate: self)
        configuration.automaticallySync = automatically
        let engine = CKSyncEngine(configuration)
        state.withLock { ($0.engine, $0.diesBeforeAnswer, $0.isDead) = (engine, false, false) }
    }

    /// The process is to end before it hears what became of the next records that it sends. ``start()`` begins another one.
    func dieBeforeAnswer() { state.withLock { $0.diesBeforeAnswer = true } }

    /// The app ends.
    func quit() {
        let engine = state.withLock { state in
            defer { state.engine = nil }
            return state.engine
        }
        withExtendedLifetime(engine) {}
    }

    var engine: CKSyncEngine? { state.withLock { $0.engine } }
    var events: [CKSyncEngine.Event] { state.withLock { $0.events } }
    /// The events as ``CKSyncEngine/Event/told`` puts them at the time: records change later.
    var heard: [String] { state.withLock { $0.heard } }

    /// What this device holds, by record name.
    var texts: [String: String] {
        state.withLock { state in
            Dictionary(state.texts.map { ($0.key.recordName, $0.value) }, uniquingKeysWith: { $1 })
        }
    }

    /// The records that came, those outside of the zone "Secrets" with their zone's name.
    var recordNames: Set<String> {
        state.withLock { state in
            Set(
                state.records.keys.map { id in
                    id.zoneID.zoneName == "Secrets" ? id.recordName : "\(id.recordName) of \(id.zoneID.zoneName)"
                })
        }
    }

    /// For messages of tests that fail.
    var story: String {
        let events = events.suffix(30).map { "    \($0)" }.joined(separator: "\n")
        return "\(texts.sorted { $0.key < $1.key })\n\(engine?.description ?? "no engine")\n\(events)"
    }

    func makeZone(_ zoneID: CKRecordZone.ID) {
        engine?.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
    }

    func write(_ text: String, to name: String, in zoneID: CKRecordZone.ID) {
        let id = CKRecord.ID(recordName: name, zoneID: zoneID)
        state.withLock { $0.texts[id] = text }
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    /// Saves a record as it is, such as a CKShare.
    func save(_ record: CKRecord) {
        let id = record.recordID
        state.withLock { $0.whole[id] = record }
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    /// As it came last, or was saved.
    func record(_ id: CKRecord.ID) -> CKRecord? { state.withLock { $0.records[id] } }

    func delete(_ name: String, in zoneID: CKRecordZone.ID) {
        let id = CKRecord.ID(recordName: name, zoneID: zoneID)
        state.withLock { state in
            state.texts[id] = nil
            state.whole[id] = nil
        }
        engine?.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
    }

    /// What a fetch of all of a zone says is gone is given up (R-552).
    func forget(_ fullFetch: TidemarkFullFetch) {
        state.withLock { state in
            for id in fullFetch.recordIDsNotFetched(among: Array(state.records.keys)) {
                state.texts[id] = nil
                state.records[id] = nil
            }
        }
    }

    // MARK: CKSyncEngineDelegate

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        var batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            self.state.withLock { state in
                if let record = state.whole[id] { return record }
                guard let text = state.texts[id] else { return nil }
                let record = state.records[id] ?? CKRecord(recordType: "Note", recordID: id)
                if self.isEncrypted { record.encryptedValues["secret"] = text } else { record["text"] = text }
                return record
            }
        }
        batch?.atomicByZone = isAtomic
        return batch
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        state.withLock { state in
            if case .sentRecordZoneChanges = event, state.diesBeforeAnswer { state.isDead = true }
            guard !state.isDead else { return }
            state.events.append(event)
            if let told = event.told { state.heard.append(told) }
            switch event {
            case .stateUpdate(let update):
                state.serialization = update.stateSerialization
            case .accountChange(let change):
                // What was of an account that is gone goes with it.
                if case .signIn = change.changeType { break }
                (state.texts, state.records) = ([:], [:])
            case .fetchedRecordZoneChanges(let changes):
                for modification in changes.modifications {
                    let record = modification.record
                    // What was edited here and is still to be sent stays; it goes out on the server's version.
                    let isPending = syncEngine.state.pendingRecordZoneChanges.contains(.saveRecord(record.recordID))
                    if isPending { state.records[record.recordID] = record } else { Self.take(record, &state) }
                }
                for deletion in changes.deletions {
                    state.texts[deletion.recordID] = nil
                    state.records[deletion.recordID] = nil
                }
            case .sentRecordZoneChanges(let sent):
                for record in sent.savedRecords { state.records[record.recordID] = record }
                // The server's version wins in this app.
                for failure in sent.failedRecordSaves {
                    if let record = failure.error.serverRecord { Self.take(record, &state) }
                }
            default: break
            }
        }
    }

    private static func take(_ record: CKRecord, _ state: inout State) {
        state.records[record.recordID] = record
        state.texts[record.recordID] = (record["text"] ?? record.encryptedValues["secret"]) as? String
    }
}
