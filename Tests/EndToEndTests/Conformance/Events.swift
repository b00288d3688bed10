// SPDX-License-Identifier: Apache-2.0

import TidemarkKit

extension Device {
    /// What the delegate heard that is the same in every cloud: without fetches that brought nothing. How often an engine
    /// looks is a matter of time, since whatever it takes for a sign may come before or after it has looked (I-4).
    var tale: [String] {
        var tale: [String] = []
        for line in heard {
            if line == "did fetch", tale.last?.hasPrefix("will fetch, ") == true {
                tale.removeLast()
            } else {
                tale.append(line)
            }
        }
        return tale
    }
}

extension CKSyncEngine.Event {
    /// The event in words that are the same in every cloud: without users, tags and dates. Nil for states: when they are
    /// told is a matter of time.
    var told: String? {
        switch self {
        case .stateUpdate: nil
        case .accountChange(let change): change.changeType.told
        case .fetchedDatabaseChanges(let changes):
            Self.line(
                "zones", changes.modifications.map(\.zoneID.zoneName),
                changes.deletions.map { "-\($0.zoneID.zoneName) \($0.reason)" })
        case .fetchedRecordZoneChanges(let changes):
            Self.line(
                "records", changes.modifications.map { Self.name($0.record) },
                changes.deletions.map { "-\($0.recordID.recordName) \($0.recordType)" })
        case .sentDatabaseChanges(let sent):
            Self.line(
                "sent zones", sent.savedZones.map(\.zoneID.zoneName), sent.deletedZoneIDs.map { "-\($0.zoneName)" },
                sent.failedZoneSaves.map { "\($0.zone.zoneID.zoneName) \($0.error.code)" })
        case .sentRecordZoneChanges(let sent):
            Self.line(
                "sent records", sent.savedRecords.map(Self.name),
                sent.deletedRecordIDs.map { "-\($0.recordName)" },
                sent.failedRecordSaves.map { "\(Self.name($0.record)) \($0.error.code)" })
        case .willFetchChanges(let event): "will fetch, \(event.context.reason)"
        case .willFetchRecordZoneChanges(let event): "will fetch \(event.zoneID.zoneName)"
        case .didFetchRecordZoneChanges(let event):
            "did fetch \(event.zoneID.zoneName)" + (event.error.map { " \($0.code)" } ?? "")
                + (event.fullFetch.map { ", all of it: \($0.reason)" } ?? "")
        case .didFetchChanges: "did fetch"
        case .willSendChanges(let event): "will send, \(event.context.reason)"
        case .didSendChanges: "did send"
        }
    }

    private static func name(_ record: CKRecord) -> String {
        "\(record.recordID.recordName)=\(record["text"] as? String ?? "")"
    }

    private static func line(_ what: String, _ parts: [String]...) -> String {
        ([what] + parts.flatMap { $0.sorted() }).joined(separator: " ")
    }
}

extension CKSyncEngine.Event.AccountChange.ChangeType {
    fileprivate var told: String {
        switch self {
        case .signIn: "sign in"
        case .signOut: "sign out"
        case .switchAccounts: "switch accounts"
        }
    }
}
