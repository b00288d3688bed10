// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import TidemarkKit

// Events and requests as short lines, so that a test can compare a whole history.

func zone(_ name: String) -> CKRecordZone.ID { CKRecordZone.ID(zoneName: name) }

/// "A/1" → record 1 of zone A.
func recordID(_ path: String) -> CKRecord.ID {
    let parts = path.split(separator: "/")
    return CKRecord.ID(recordName: String(parts[1]), zoneID: zone(String(parts[0])))
}

func user(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: "_\(name)") }

/// "A/1" is saved, "-A/1" is deleted.
func change(_ text: String) -> CKSyncEngine.PendingRecordZoneChange {
    text.hasPrefix("-") ? .deleteRecord(recordID(String(text.dropFirst()))) : .saveRecord(recordID(text))
}

/// "A" is saved, "-A" is deleted.
func zoneChange(_ text: String) -> CKSyncEngine.PendingDatabaseChange {
    text.hasPrefix("-") ? .deleteZone(zone(String(text.dropFirst()))) : .saveZone(CKRecordZone(zoneName: text))
}

extension CKSyncEngine.PendingRecordZoneChange {
    var text: String {
        switch self {
        case .saveRecord(let id): id.text
        case .deleteRecord(let id): "-\(id.text)"
        }
    }
}

extension CKSyncEngine.PendingDatabaseChange {
    var text: String { isSave ? zoneID.zoneName : "-\(zoneID.zoneName)" }
}

extension CKRecord.ID {
    var text: String { "\(zoneID.zoneName)/\(recordName)" }
}

func words(_ parts: [String]) -> String { parts.joined(separator: " ") }

extension CKSyncEngine.Event {
    var text: String {
        switch self {
        case .stateUpdate: "stateUpdate"
        case .accountChange(let event): "accountChange \(event.changeType.text)"
        case .willFetchChanges(let event): "willFetch(\(event.context.reason))"
        case .didFetchChanges: "didFetch"
        case .willFetchRecordZoneChanges(let event): "willFetch \(event.zoneID.zoneName)"
        case .didFetchRecordZoneChanges(let event):
            words(["didFetch", event.zoneID.zoneName] + (event.error.map { ["\($0.code)"] } ?? []))
        case .fetchedDatabaseChanges(let event):
            words(
                ["zones"] + event.deletions.map { "-\($0.zoneID.zoneName)" }
                    + event.modifications.map { "+\($0.zoneID.zoneName)" })
        case .fetchedRecordZoneChanges(let event):
            words(
                ["records"] + event.modifications.map { "+\($0.record.recordID.text)" }
                    + event.deletions.map { "-\($0.recordID.text)" })
        case .willSendChanges(let event): "willSend(\(event.context.reason))"
        case .didSendChanges: "didSend"
        case .sentDatabaseChanges(let event): event.text
        case .sentRecordZoneChanges(let event): event.text
        }
    }
}

extension TidemarkStoreEvent {
    var text: String {
        switch self {
        case .willFetchFromNothing(let zoneID, let reason): "all of \(zoneID.zoneName): \(reason)"
        case .didFetchFromNothing(let fetch): "had all of \(fetch.zoneID.zoneName): \(fetch.reason)"
        case .didFetchZonesFromNothing(let list):
            words(["had all zones: \(list.reason)"] + list.absent.map { "-\($0.zoneName)" })
        }
    }
}

extension CKSyncEngine.Event.AccountChange.ChangeType {
    var text: String {
        switch self {
        case .signIn(let current): "signIn \(current.recordName)"
        case .signOut(let previous): "signOut \(previous.recordName)"
        case .switchAccounts(let previous, let current): "switch \(previous.recordName) \(current.recordName)"
        }
    }
}

extension CKSyncEngine.Event.SentDatabaseChanges {
    var text: String {
        words(
            ["sentZones"] + savedZones.map { "+\($0.zoneID.zoneName)" }
                + failedZoneSaves.map { "!+\($0.zone.zoneID.zoneName):\($0.error.code)" }
                + deletedZoneIDs.map { "-\($0.zoneName)" }
                + failedZoneDeletes.map { "!-\($0.zoneName):\($1.code)" }.sorted())
    }
}

extension CKSyncEngine.Event.SentRecordZoneChanges {
    var text: String {
        words(
            ["sent"] + savedRecords.map { "+\($0.recordID.text)" }
                + failedRecordSaves.map { "!+\($0.record.recordID.text):\($0.error.code)" }
                + deletedRecordIDs.map { "-\($0.text)" }
                + failedRecordDeletes.map { "!-\($0.text):\($1.code)" }.sorted())
    }
}

extension SyncEngineRequest {
    var text: String {
        func text(_ token: CKServerChangeToken?) -> String { token?.text ?? "nil" }
        switch self {
        case .currentUser: return "→ user"
        case .ensureSubscription(let id): return "→ subscription(\(id ?? "any"))"
        case .modifyZones(let saving, let deleting, _):
            return words(["→ zones"] + saving.map { "+\($0.zoneID.zoneName)" } + deleting.map { "-\($0.zoneName)" })
        case .modifyRecords(let batch, _):
            let atomic = batch.atomicByZone ? ["atomic"] : []
            return words(["→ records"] + batch.changes.map(\.text) + atomic)
        case .databaseChanges(let token, _, _, _): return "→ feed(\(text(token)))"
        case .zoneChanges(let zoneID, let token, _, _): return "→ \(zoneID.zoneName)(\(text(token)))"
        case .zonesWithKeys(let zoneIDs): return words(["→ keys"] + zoneIDs.map(\.zoneName))
        }
    }
}
