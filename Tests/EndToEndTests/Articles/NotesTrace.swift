// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// What happens in a history of an article's app, on standard output if `TIDEMARK_TRACE` is set.
enum NotesTrace {
    private static let isOn = ProcessInfo.processInfo.environment["TIDEMARK_TRACE"] != nil

    static func say(_ text: @autoclosure () -> String) {
        if isOn { print(text()) }
    }

    /// What an app hears, and what it has then.
    static func say(_ event: CKSyncEngine.Event, on device: String, _ state: () async -> String) async {
        guard isOn else { return }
        print(([("    \(device): \(event)")] + details(of: event)).joined(separator: "\n      "))
        print("      has \(await state())")
    }

    private static func details(of event: CKSyncEngine.Event) -> [String] {
        switch event {
        case .fetchedDatabaseChanges(let changes):
            changes.deletions.map { "zone \($0.zoneID.zoneName) is gone: \($0.reason)" }
        case .fetchedRecordZoneChanges(let changes):
            changes.modifications.map { "came: \(text($0.record))" }
                + changes.deletions.map { "was deleted: \($0.recordID.recordName)" }
        case .sentRecordZoneChanges(let sent):
            sent.savedRecords.map { "saved: \(text($0))" }
                + sent.failedRecordSaves.map { "not saved: \(text($0.record)), \($0.error)" }
        default:
            []
        }
    }

    private static func text(_ record: CKRecord) -> String {
        "\(record.recordID.recordName) \(record["tags"] as [String]? ?? [])"
    }
}
