// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *Seeing what sync does*.
extension TidemarkSyncStatus {
    var line: String {
        if let wait = waits.first { return wait.line }
        return switch activity {
        case .fetching(let progress): "Receiving: \(progress.recordCount) changes so far"
        case .sending(let progress): "Sending: \(progress.sentCount) of \(progress.total)"
        case .idle where isUpToDate: "Up to date"
        case .idle: "\(pendingSaveCount + pendingDeleteCount) changes to send"
        }
    }
}

extension TidemarkSyncStatus.Wait {
    var line: String {
        switch reason {
        case .account: "Sign in to sync"
        case .network: "No connection: changes are sent later"
        case .throttling, .fetchRetry, .sendRetry: "Trying again \(until.map { "at \($0)" } ?? "soon")"
        case .cancellation, .batch: "Paused"
        case .zone(let zoneID): "\(zoneID.zoneName) is not shared with you any more"
        }
    }
}

extension CKSyncEngine.Event.DidFetchRecordZoneChanges {
    func deletedRecordIDs(among known: [CKRecord.ID]) -> [CKRecord.ID] {
        guard let fullFetch, fullFetch.reason == .deletionsForgotten else { return [] }
        return fullFetch.recordIDsNotFetched(among: known)
    }
}

func follow(_ statuses: TidemarkSyncStatuses, show: (String) async -> Void) async {
    for await status in statuses { await show(status.line) }
}
