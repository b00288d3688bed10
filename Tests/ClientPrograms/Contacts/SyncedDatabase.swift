// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// The list of contacts: one JSON file, and an engine that keeps it equal on all devices of the user.
final actor SyncedDatabase: CKSyncEngineDelegate {
    /// What is in the file. Contacts and the engine's state are stored together, so that neither is ahead of the other.
    private struct AppData: Codable {
        var contacts: [String: Contact] = [:]
        var stateSerialization: CKSyncEngine.State.Serialization?
    }

    private static let container = CKContainer.default()

    private var appData: AppData
    private let dataURL: URL
    private let automaticallySync: Bool
    private let changed: @Sendable (_ items: [String: [String: String]], _ pendingCount: Int) -> Void
    private var _syncEngine: CKSyncEngine?

    /// - Parameter changed: told all contacts, and how many changes are still to be sent, whenever they may have changed.
    init(
        dataURL: URL, automaticallySync: Bool = true,
        changed: @escaping @Sendable ([String: [String: String]], Int) -> Void
    ) throws {
        self.dataURL = dataURL
        self.automaticallySync = automaticallySync
        self.changed = changed
        if FileManager.default.fileExists(atPath: dataURL.path) {
            appData = try JSONDecoder().decode(AppData.self, from: Data(contentsOf: dataURL))
        } else {
            appData = AppData()
        }
    }

    var syncEngine: CKSyncEngine {
        if let engine = _syncEngine { return engine }
        var configuration = CKSyncEngine.Configuration(
            database: Self.container.privateCloudDatabase, stateSerialization: appData.stateSerialization,
            delegate: self)
        configuration.automaticallySync = automaticallySync
        let engine = CKSyncEngine(configuration)
        _syncEngine = engine
        return engine
    }

    // MARK: What the user does

    func save(id: String, name: String, phone: String) throws {
        var contact = appData.contacts[id] ?? Contact(id: id, name: name, phone: phone)
        contact.edit(name: name, phone: phone)
        appData.contacts[id] = contact
        try persistLocalData()
        syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(contact.recordID)])
    }

    func delete(id: String) throws {
        guard let contact = appData.contacts.removeValue(forKey: id) else { return }
        try persistLocalData()
        syncEngine.state.add(pendingRecordZoneChanges: [.deleteRecord(contact.recordID)])
    }

    /// Deletes all, here and on the server.
    func deleteEverything() throws {
        try deleteLocalContacts()
        syncEngine.state.add(pendingDatabaseChanges: [.deleteZone(CKRecordZone.ID(zoneName: Contact.zoneName))])
    }

    /// Fetches and sends until nothing is left to send.
    func sync() async throws {
        let engine = syncEngine
        repeat {
            try await engine.fetchChanges()
            do {
                try await engine.sendChanges()
            } catch let error as CKError where error.code == .partialFailure {
                // Each of the failures came as an event, and what is to be sent again is pending again.
            } catch let error as CKError {
                guard let seconds = error.retryAfterSeconds else { throw error }
                try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
            }
        } while !engine.state.pendingRecordZoneChanges.isEmpty || !engine.state.pendingDatabaseChanges.isEmpty
        try await engine.fetchChanges()
    }

    func show() {
        changed(
            appData.contacts.mapValues { ["name": $0.name, "phone": $0.phone] },
            syncEngine.state.pendingRecordZoneChanges.count + syncEngine.state.pendingDatabaseChanges.count)
    }

    // MARK: Local data

    private func persistLocalData() throws {
        try JSONEncoder().encode(appData).write(to: dataURL, options: .atomic)
        show()
    }

    /// An app would tell its user; this program ends, because what it would do next might lose data.
    private func persistOrEnd() {
        do {
            try persistLocalData()
        } catch {
            fatalError("cannot write \(dataURL.path): \(error)")
        }
    }

    private func deleteLocalContacts() throws {
        let pending = syncEngine.state.pendingRecordZoneChanges
        syncEngine.state.remove(pendingRecordZoneChanges: pending)
        appData.contacts = [:]
        try persistLocalData()
    }

    // MARK: CKSyncEngineDelegate

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let event):
            appData.stateSerialization = event.stateSerialization
        case .accountChange(let event):
            handleAccountChange(event)
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions where deletion.zoneID.zoneName == Contact.zoneName {
                appData.contacts = [:]
                syncEngine.state.remove(pendingRecordZoneChanges: syncEngine.state.pendingRecordZoneChanges)
            }
        case .fetchedRecordZoneChanges(let event):
            handleFetchedRecordZoneChanges(event)
        case .sentRecordZoneChanges(let event):
            handleSentRecordZoneChanges(event)
        case .sentDatabaseChanges(let event):
            if event.deletedZoneIDs.contains(where: { $0.zoneName == Contact.zoneName }) { appData.contacts = [:] }
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges, .didFetchChanges,
            .willSendChanges, .didSendChanges:
            // Nothing to do, but what is pending may have changed.
            return show()
        @unknown default:
            return
        }
        persistOrEnd()
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        let contacts = appData.contacts
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
            guard let contact = contacts[recordID.recordName] else {
                // It was deleted meanwhile.
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
                return nil
            }
            let record =
                contact.lastKnownRecord ?? CKRecord(recordType: Contact.recordType, recordID: contact.recordID)
            contact.populate(record)
            return record
        }
    }

    // MARK: Events

    private func handleAccountChange(_ event: CKSyncEngine.Event.AccountChange) {
        switch event.changeType {
        case .signIn:
            // What was made while nobody was signed in belongs to whoever is now.
            let zone = CKRecordZone(zoneName: Contact.zoneName)
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
            syncEngine.state.add(pendingRecordZoneChanges: appData.contacts.values.map { .saveRecord($0.recordID) })
        case .switchAccounts, .signOut:
            appData.contacts = [:]
        @unknown default:
            break
        }
    }

    private func handleFetchedRecordZoneChanges(_ event: CKSyncEngine.Event.FetchedRecordZoneChanges) {
        for modification in event.modifications {
            let record = modification.record
            // It is about to be deleted: there is no use in bringing it back for a moment.
            guard !syncEngine.state.pendingRecordZoneChanges.contains(.deleteRecord(record.recordID)) else { continue }
            // The server may have gone back to a backup, which only the answer to a save tells.
            if appData.contacts[record.recordID.recordName]?.isKnownNewer(than: record) == true {
                syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(record.recordID)])
            }
            take(record)
        }
        for deletion in event.deletions { appData.contacts[deletion.recordID.recordName] = nil }
    }

    private func handleSentRecordZoneChanges(_ event: CKSyncEngine.Event.SentRecordZoneChanges) {
        for record in event.savedRecords {
            appData.contacts[record.recordID.recordName]?.setLastKnownRecordIfNewer(record)
        }
        for failure in event.failedRecordSaves { handleFailedSave(failure.record, failure.error) }
        for recordID in event.deletedRecordIDs
        where !syncEngine.state.pendingRecordZoneChanges.contains(.saveRecord(recordID)) {
            appData.contacts[recordID.recordName] = nil
        }
    }

    private func handleFailedSave(_ record: CKRecord, _ error: CKError) {
        let id = record.recordID.recordName
        switch error.code {
        case .serverRecordChanged:
            guard let serverRecord = error.serverRecord else { return }
            take(serverRecord)
            // Even if its date is not newer: with any other tag, each save would fail like this one.
            appData.contacts[id]?.lastKnownRecord = serverRecord
        case .zoneNotFound:
            appData.contacts[id]?.lastKnownRecord = nil
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: record.recordID.zoneID))])
        case .unknownItem:
            appData.contacts[id]?.lastKnownRecord = nil
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .notAuthenticated,
            .operationCancelled, .requestRateLimited, .serverResponseLost, .accountTemporarilyUnavailable:
            // The engine tries again by itself.
            return
        default:
            fatalError("cannot save \(id): \(error)")
        }
        syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(record.recordID)])
    }

    /// The server's record, as an event or an error brought it.
    private func take(_ record: CKRecord) {
        let id = record.recordID.recordName
        var contact = appData.contacts[id] ?? Contact(id: id, name: "", phone: "")
        contact.merge(from: record)
        contact.setLastKnownRecordIfNewer(record)
        appData.contacts[id] = contact
    }
}
