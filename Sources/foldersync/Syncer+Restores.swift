// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What becomes of files when all records of the folder are fetched anew: because the server was restored from a backup, or has
/// forgotten deletions that this device had not heard of.
extension Syncer: TidemarkSyncEngineDelegate {
    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        guard !hasFailed else { return }
        switch event {
        case .willFetchFromNothing(_, .anotherLife):
            report.line("the server was restored from a backup; what is newer here is sent again")
        case .didFetchFromNothing(let fetch):
            settle(fetch, syncEngine: syncEngine)
            persist()
        case .didFetchZonesFromNothing(let list):
            // It was made after the backup. With `deletionsForgotten` it was deleted, and that is told as ever.
            guard list.reason == .anotherLife, !list.zoneIDsNotFetched(among: [zoneID]).isEmpty else { break }
            remakeZone(syncEngine: syncEngine)
        case .willFetchFromNothing:
            break
        @unknown default:
            break
        }
    }

    /// Records that this device knows, and the server does not.
    private func settle(_ fetch: TidemarkFullFetch, syncEngine: CKSyncEngine) {
        for id in fetch.recordIDsNotFetched(among: journal.recordIDs(in: zoneID)) {
            switch fetch.reason {
            case .anotherLife: keepWithoutRecord(id)
            case .deletionsForgotten: fetchedDeletion(id, syncEngine: syncEngine)
            }
        }
    }

    /// The record is not in the backup, which is no reason to delete the file: it is sent as a new one.
    private func keepWithoutRecord(_ id: CKRecord.ID) {
        guard let path = journal[id]?.path else { return }
        journal[id]?.forgetRecord()
        note([path])
    }

    /// What a record is to the version that was synced here last.
    enum Standing {
        /// It follows from what was synced here last, or is the first that comes of this file.
        case news
        /// The server was restored, and has an older version than what was synced here.
        case wentBack
        /// Which of them is newer cannot be told.
        case unrelated

        init(of record: CKRecord, for entry: Journal.Entry?) {
            guard let entry, entry.tag != nil, let known = entry.record else {
                self = .news
                return
            }
            switch record.versionOrder(relativeTo: known) {
            case .same, .newer: self = .news
            // The same, if nobody said so to the server.
            case .older, .wentBack: self = .wentBack
            case .unrelated: self = .unrelated
            @unknown default: self = .unrelated
            }
        }
    }
}
