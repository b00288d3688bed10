// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
import TidemarkTestKit

/// An app with one text a record, as small as an app can be; knows nothing of tests but that it tells what it heard.
actor NotesDevice: CKSyncEngineDelegate {
    static let zone = CKRecordZone(zoneName: "Notes")

    private(set) var texts: [String: String] = [:]
    private(set) var events: [String] = []
    private var records: [CKRecord.ID: CKRecord] = [:]
    private var engine: CKSyncEngine?

    init(on device: TestDevice, automatically: Bool = true, subscriptionID: String? = nil) async {
        var configuration = CKSyncEngine.Configuration(
            database: device.container.privateCloudDatabase, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = automatically
        configuration.subscriptionID = subscriptionID
        engine = CKSyncEngine(configuration)
        engine?.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    }

    static func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone.zoneID) }

    func write(_ text: String, to name: String) {
        texts[name] = text
        engine?.state.add(pendingRecordZoneChanges: [.saveRecord(Self.id(name))])
    }

    func sync() async throws {
        try await engine?.fetchChanges()
        try await engine?.sendChanges()
    }

    var pendingCount: Int { engine?.state.pendingRecordZoneChanges.count ?? 0 }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let pending = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in await self.record(id) }
    }

    private func record(_ id: CKRecord.ID) -> CKRecord {
        let record = records[id] ?? CKRecord(recordType: "Note", recordID: id)
        record["text"] = texts[id.recordName]
        return record
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .accountChange(let change):
            switch change.changeType {
            case .signIn: events.append("signIn")
            case .signOut: events.append("signOut")
            case .switchAccounts: events.append("switchAccounts")
            }
            if case .signIn = change.changeType { break }
            (texts, records) = ([:], [:])
        case .fetchedDatabaseChanges(let changes):
            events += changes.deletions.map { "deleted \($0.zoneID.zoneName): \($0.reason)" }
        case .fetchedRecordZoneChanges(let changes):
            // What was edited here and is still to be sent stays.
            let unsent = Set(syncEngine.state.pendingRecordZoneChanges)
            for record in changes.modifications.map(\.record) where !unsent.contains(.saveRecord(record.recordID)) {
                take(record)
            }
            for deletion in changes.deletions { texts[deletion.recordID.recordName] = nil }
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { records[record.recordID] = record }
            for failure in sent.failedRecordSaves {
                events.append("failed \(failure.record.recordID.recordName): \(failure.error.code)")
                if let record = failure.error.serverRecord { take(record) }
            }
        default: break
        }
    }

    private func take(_ record: CKRecord) {
        records[record.recordID] = record
        texts[record.recordID.recordName] = record["text"]
    }
}
