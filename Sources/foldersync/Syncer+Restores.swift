// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What happens to files when all records of the folder are fetched again. Then the server was restored from a backup,
/// or has forgotten deletions of which this device had not heard.
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
            // It was created after the backup. With `deletionsForgotten` it was deleted, which is reported as usual.
            guard list.reason == .anotherLife, !list.zoneIDsNotFetched(among: [zoneID]).isEmpty else { break }
            remakeZone(syncEngine: syncEngine)
        case .willFetchFromNothing:
            break
        @unknown default:
            break
        }
    }

    /// Handles records that this device knows and the server lacks.
    private func settle(_ fetch: TidemarkFullFetch, syncEngine: CKSyncEngine) {
        let ended = subfoldersNotFetched(fetch)
        for id in fetch.recordIDsNotFetched(among: journal.recordIDs(in: zoneID)) {
            switch fetch.reason {
            case .deletionsForgotten where journal[id].map({ $0.path.isBelow(ended) }) == true:
                journal[id]?.zoneEnded()
            case .anotherLife: keepWithoutRecord(id)
            case .deletionsForgotten: fetchedDeletion(id, syncEngine: syncEngine)
            }
        }
    }

    /// The record is not in the backup. That is no reason to delete the file: it is sent as a new one.
    private func keepWithoutRecord(_ id: CKRecord.ID) {
        guard let path = journal[id]?.path else { return }
        journal[id]?.forgetRecord()
        note([path])
    }

    /// The order of a record relative to the version of the last sync.
    enum Standing {
        /// It follows from the version of the last sync, or is the first record of this file.
        case news
        /// The server was restored, and has an older version than the last sync.
        case wentBack
        /// It is unknown which of them is newer.
        case unrelated

        init(of record: CKRecord, for entry: Journal.Entry?) {
            guard let entry, entry.tag != nil, let known = entry.record else {
                self = .news
                return
            }
            switch record.versionOrder(relativeTo: known) {
            case .same, .newer: self = .news
            // The same, if the server was restored without being told.
            case .older, .wentBack: self = .wentBack
            case .unrelated: self = .unrelated
            @unknown default: self = .unrelated
            }
        }
    }
}
