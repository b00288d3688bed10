// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What becomes of files when records arrive, and of records when they were sent.
extension Syncer {
    // MARK: After sending

    /// The server has it: this is what the file was when it was synced last.
    func saved(_ record: CKRecord) {
        guard let content = FileRecord.Content(record) else { return }
        journal[content.path] = Journal.Entry(
            path: content.path, hash: content.hash, systemFields: record, stat: tree.stat(of: content.path))
        report.detail(content.isDeleted ? "deleted there: \(content.path)" : "sent: \(content.path)")
    }

    func notSaved(_ record: CKRecord, _ error: CKError, syncEngine: CKSyncEngine) {
        let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(record.recordID)
        switch error.code {
        case .serverRecordChanged:
            guard let server = error.serverRecord else { break }
            fetched(server, syncEngine: syncEngine)
        case .zoneNotFound:
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        case .unknownItem:
            // It was on the server once and is not any more: it starts anew, without its tag.
            if var entry = journal[record.recordID] {
                entry.forgetRecord()
                journal[entry.path] = entry
                syncEngine.state.add(pendingRecordZoneChanges: [change])
            }
        case .batchRequestFailed:
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        case .userDeletedZone:
            finish(FolderSyncError.zoneDeleted(zoneID.zoneName))
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .notAuthenticated,
            .requestRateLimited, .operationCancelled, .serverResponseLost, .accountTemporarilyUnavailable:
            break  // The engine keeps these pending and tries again by itself.
        default:
            report.problem(
                "\(journal[record.recordID]?.path ?? record.recordID.recordName): \(error.localizedDescription)")
        }
    }

    // MARK: After fetching

    /// Brings a record and a file together. Three states matter: the file as it is, as it was synced last, and as the
    /// record says.
    func fetched(_ record: CKRecord, syncEngine: CKSyncEngine) {
        guard record.recordID.zoneID == zoneID, record.recordType == FileRecord.type else { return }
        guard let content = FileRecord.Content(record), FileTree.isSafe(content.path),
            FileRecord.id(of: content.path, in: zoneID) == record.recordID
        else {
            report.problem("record \(record.recordID.recordName) is no file of ours", once: true)
            return
        }
        var entry = journal[content.path] ?? Journal.Entry(path: content.path)
        let before = content.hash != nil && content.hash == entry.sending ? content.hash : entry.hash
        let file = tree.look(at: content.path, known: nil)
        // Whatever happens to the file, the next save must carry this version's tag.
        entry.remember(record)
        entry.hash = content.hash
        entry.sending = nil
        let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(record.recordID)

        switch Meeting(file: file.hash, synced: before, record: content.hash) {
        case .equal:
            syncEngine.state.remove(pendingRecordZoneChanges: [change])
        case .takeRecord:
            guard apply(content, expecting: before, syncEngine: syncEngine) else { return }
            syncEngine.state.remove(pendingRecordZoneChanges: [change])
            report.detail(content.isDeleted ? "deleted here: \(content.path)" : "received: \(content.path)")
        case .keepFile:
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        case .keepBoth:
            // `apply` sees that the file is not what was synced last, and moves it aside.
            guard apply(content, expecting: before, syncEngine: syncEngine) else { return }
            syncEngine.state.remove(pendingRecordZoneChanges: [change])
        }
        entry.stat = tree.stat(of: content.path)
        journal[content.path] = entry
    }

    /// Somebody deleted the record itself (not this program, which saves tombstones).
    func fetchedDeletion(_ id: CKRecord.ID, syncEngine: CKSyncEngine) {
        guard var entry = journal[id] else { return }
        let before = entry.hash
        entry.forgetRecord()
        if let before, tree.look(at: entry.path, known: nil).hash == before {
            guard apply(.deleted(entry.path), expecting: before, syncEngine: syncEngine) else { return }
            report.detail("deleted here: \(entry.path)")
        } else if tree.look(at: entry.path, known: nil).hash != nil {
            syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        }
        journal[entry.path] = entry
    }

    /// Makes the file what the record says. A file that is not what was synced last is never replaced: it moves aside,
    /// under a name that says so, and becomes a file to be sent.
    private func apply(
        _ content: FileRecord.Content, expecting hash: String?, syncEngine: CKSyncEngine
    ) -> Bool {
        do {
            let aside = try tree.replace(
                content.path, with: content.data, isExecutable: content.isExecutable, expecting: hash,
                deviceName: deviceName)
            if let aside {
                report.line("conflict: \(content.path); this device's version is kept as \(aside)")
                journal[aside] = Journal.Entry(path: aside)
                syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(FileRecord.id(of: aside, in: zoneID))])
            }
            return true
        } catch {
            report.problem("\(content.path): \(error.localizedDescription)")
            return false
        }
    }
}

/// What to do when a file meets a record: decided by what each of them is, and what they were when they were last equal.
/// A hash that is nil stands for "does not exist".
enum Meeting: Equatable {
    case equal
    case takeRecord
    case keepFile
    case keepBoth

    init(file: String?, synced: String?, record: String?) {
        if file == record {
            self = .equal
        } else if file == synced {
            self = .takeRecord
        } else if record == synced || record == nil {
            // Only the file changed; or it changed here and was deleted there, and an edit outlives a deletion.
            self = .keepFile
        } else if file == nil {
            // Deleted here, edited there.
            self = .takeRecord
        } else {
            self = .keepBoth
        }
    }
}
