// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What happens to files when records arrive, and to records when they were sent.
extension Syncer {
    // MARK: Sending

    /// The record of the file in its current state. Nil, and no longer pending, if there is nothing to send after all.
    func recordToSave(_ id: CKRecord.ID, syncEngine: CKSyncEngine) -> CKRecord? {
        if var entry = journal[id] {
            switch look(at: entry.path) {
            case .file(let file) where entry.differs(from: file.version):
                entry.sending(file)
                journal[id] = entry
                underWay[id] = entry.sent.last
                return FileRecord.make(from: entry, file: file, in: zoneID, below: parentID(of: entry.path))
            case .missing where !holdsDeletions && entry.differs(from: nil):
                // Deleting a record carries no tag, and would also delete what another device has just written. A
                // tombstone is saved like any other change, so it is checked like an edit.
                underWay[id] = nil
                return FileRecord.makeTombstone(from: entry, in: zoneID, below: parentID(of: entry.path))
            case .unusable(let why):
                report.problem("\(entry.path): \(why)", once: true)
            case .file, .missing, .same, .unreadable:
                guard let parent = newParent(of: entry), let record = FileRecord.makeMove(of: entry, below: parent)
                else {
                    break
                }
                underWay[id] = entry.version.map { Journal.Entry.Sent(version: $0, stat: entry.stat) }
                return record
            }
        }
        syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        return nil
    }

    /// The server has the record: this version is now the last sync of the file.
    func saved(_ record: CKRecord) {
        guard let path = FileRecord.path(of: record) else { return }
        var entry = journal[path] ?? Journal.Entry(path: path)
        // The state when it was read. Whatever was written since is another version.
        let sent = underWay.removeValue(forKey: record.recordID)
        unsent.remove(record.recordID)
        entry.remember(record, version: sent?.version)
        entry.stat = sent?.stat
        entry.answered()
        journal[path] = entry
        report.detail(sent == nil ? "deleted there: \(path)" : "sent: \(path)")
    }

    func notSaved(_ record: CKRecord, _ error: CKError, syncEngine: CKSyncEngine) {
        let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(record.recordID)
        switch error.code {
        case .serverRecordChanged:
            break  // See `solveConflicts`.
        case .zoneNotFound where place.isShared:
            zoneEnded()
        case .zoneNotFound:
            makeZone(syncEngine: syncEngine)
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        case _ where isReadOnly(error):
            mayNotSave(record.recordID)
        case .unknownItem:
            // It was on the server and is gone. It starts anew, without its tag.
            journal[record.recordID]?.forgetRecord()
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        case .batchRequestFailed:
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        case .referenceViolation where forgetSubfolder(above: record.recordID):
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        case .userDeletedZone:
            zoneEnded()
        case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable, .notAuthenticated,
            .requestRateLimited, .operationCancelled, .serverResponseLost, .accountTemporarilyUnavailable:
            break  // The engine keeps these pending and tries again by itself.
        default:
            unsent.insert(record.recordID)
            report.problem(
                "\(journal[record.recordID]?.path.text ?? record.recordID.recordName): \(error.localizedDescription)")
        }
    }

    /// Others were first: the error has the records that they saved.
    func solveConflicts(_ errors: [CKError], syncEngine: CKSyncEngine) {
        let records = errors.filter { $0.code == .serverRecordChanged }.compactMap(\.serverRecord)
        // A large file does not come with an error, but with the next fetch.
        fetched(records.filter(FileRecord.isComplete), syncEngine: syncEngine)
        for record in records { journal[record.recordID]?.answered() }
    }

    // MARK: Fetching

    /// Merges records with files.
    func fetched(_ records: [CKRecord], syncEngine: CKSyncEngine) {
        for case let share as CKShare in records { take(share) }
        defer { putInPlace(records) }
        let arrivals = records.compactMap { record -> Arrival? in
            // The share is a record of the zone, and no file. Nor is a subfolder.
            guard record.recordID.zoneID == zoneID, record.recordType != CKRecord.SystemType.share,
                record.recordType != SubfolderRecord.type
            else { return nil }
            guard let content = FileRecord.Content(record) else {
                cannotReceive(record)
                return nil
            }
            // What this device has saved comes back with the next fetch.
            let entry = journal[content.path]
            if let entry, entry.tag == record.recordChangeTag, entry.version == content.version,
                entry.receiving == nil, entry.zoneHasEnded != true
            {
                return nil
            }
            return Arrival(
                record: record, content: content, standing: Standing(of: record, for: entry),
                isAwaited: entry?.isAwaited == true)
        }
        // This is recorded first. If this program ends before it can record that it has written these files, they must
        // not look like local changes at the next start.
        for content in arrivals.map(\.content) {
            var entry = journal[content.path] ?? Journal.Entry(path: content.path)
            entry.receiving = Journal.Entry.Arrival(version: content.version)
            journal[content.path] = entry
        }
        guard persist() else { return }
        for arrival in arrivals { meet(arrival, syncEngine: syncEngine) }
    }

    /// Remembers a record whose content cannot be read, so that ``fetchMissing()`` fetches it again.
    ///
    /// The entry keeps its old tag. So if the file is edited here meanwhile, the edit does not replace the newer
    /// version.
    private func cannotReceive(_ record: CKRecord) {
        let name = record.recordID.recordName
        guard let path = FileRecord.path(of: record), let tag = record.recordChangeTag,
            record["file"] as? CKAsset != nil
        else { return report.problem("record \(name) is no file of ours", once: true) }
        var entry = journal[path] ?? Journal.Entry(path: path)
        // What was refused here, or came again after the zone's end, has the known tag and must be fetched all the same.
        if entry.tag == tag, entry.receiving?.unreadTag != tag, entry.zoneHasEnded != true {
            // This device has the content already. A version that it could not read is not on the server any more.
            if entry.receiving?.unreadTag != nil { journal[path]?.receiving = nil }
            return
        }
        entry.receiving = Journal.Entry.Arrival(version: nil, unreadTag: tag)
        journal[path] = entry
        report.problem("\(path): its content cannot be read now, or the server has lost it; trying again", once: true)
    }

    /// A record whose file must be written.
    private struct Arrival {
        let record: CKRecord
        let content: FileRecord.Content
        let standing: Standing
        /// Whether an earlier attempt to write the file may have been cut short.
        let isAwaited: Bool
    }

    /// Fetches files that could not be read or written when their records arrived, for example because the disk was
    /// full. The engine does not report a record twice.
    func fetchMissing() async throws {
        let missing = journal.arrivals
        guard let engine, !missing.isEmpty else { return }
        var large: [RelativePath] = []
        var paths = missing.keys.sorted()[...]
        while !paths.isEmpty, !hasFailed {
            let found = try await fetchMissing(
                missing, paths.prefix(Self.missingCountMax), FileRecord.keysWithoutFile, engine)
            large += found
            paths = paths.dropFirst(Self.missingCountMax)
        }
        var fetch = LargeFetch(large)
        while !hasFailed, let group = fetch.nextGroup() {
            do {
                _ = try await fetchMissing(missing, group, nil, engine)
            } catch {
                fetch.failed(error)
            }
        }
        if let failure = fetch.failure { throw failure }
    }

    /// The most files of one request. The small ones are in memory together, a megabyte each.
    private static let missingCountMax = 50

    /// - Parameter keys: nil: with large files.
    /// - Returns: the large files, if they are not fetched.
    private func fetchMissing(
        _ missing: [RelativePath: Journal.Entry.Arrival], _ paths: ArraySlice<RelativePath>,
        _ keys: [CKRecord.FieldKey]?, _ engine: CKSyncEngine
    ) async throws -> [RelativePath] {
        let results = try await engine.database.records(
            for: paths.map { FileRecord.id(of: $0, in: zoneID) }, desiredKeys: keys)
        var (records, large) = ([CKRecord](), [RelativePath]())
        defer { for case .success(let record) in results.values { FileRecord.discardFile(of: record) } }
        // Another account's record may have the same name.
        guard !hasFailed else { return [] }
        for path in paths {
            let id = FileRecord.id(of: path, in: zoneID)
            // The engine may have reported a newer version meanwhile.
            guard let result = results[id], journal[id]?.receiving == missing[path] else { continue }
            switch result {
            case .success(let record) where keys != nil && FileRecord.isLarge(record):
                large.append(path)
            case .success(let record):
                records.append(record)
            case .failure(let error as CKError) where error.code == .unknownItem:
                // Only deletions that the engine has reported. An absent record may be missing in the backup with which
                // the server goes on.
                if missing[path]?.isDeletion == true {
                    fetchedDeletion(id, syncEngine: engine)
                } else if missing[path]?.unreadTag != nil, journal[id]?.tag == nil {
                    // Nothing of it has ever been here.
                    journal[path]?.receiving = nil
                }
            case .failure(let error):
                report.problem("\(path): \(error.localizedDescription)", once: true)
            }
        }
        fetched(records, syncEngine: engine)
        persist()
        return large
    }

    /// Three states matter: the current file, the last sync, and the record.
    private func meet(_ arrival: Arrival, syncEngine: CKSyncEngine) {
        let (record, content, standing) = (arrival.record, arrival.content, arrival.standing)
        var entry = journal[content.path] ?? Journal.Entry(path: content.path)
        // If the answer to a save was lost, this shows that it was carried out.
        let isOurs = entry.sent.contains { $0.version == content.version }
        // The version that was synced here is not the ancestor of a version that does not follow from it.
        let isApart = standing == .unrelated && entry.version != content.version
        let synced = isOurs ? content.version : isApart ? nil : entry.version
        let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(record.recordID)
        var meeting = meeting(at: content.path, synced: synced, record: content.version)
        if standing == .wentBack, meeting != .equal, tree.obstacle(to: content.path) == nil { meeting = .keepFile }
        let mayBeAside = entry.zoneHasEnded == true || arrival.isAwaited && !isOurs
        if givesWay(entry, to: meeting) || mayBeAside && comesAgain(content, meeting) { meeting = .takeRecord }
        switch meeting {
        case .equal:
            syncEngine.state.remove(pendingRecordZoneChanges: [change])
        case .takeRecord, .keepBoth:
            syncEngine.state.remove(pendingRecordZoneChanges: [change])
            // It checks itself whether the file is the last synced version, and gives it another name if not.
            let copyOf = isApart ? entry.version : nil
            guard apply(content, expecting: synced, copyOf: copyOf, syncEngine: syncEngine) else { return }
        case .keepFile:
            syncEngine.state.add(pendingRecordZoneChanges: [change])
        }
        // Whatever happened to the file, the next save must carry this version's tag.
        let refused = entry.refused
        entry.remember(record, version: content.version)
        // What is in the place of a file that was deleted elsewhere has stayed there.
        if content.version == nil { entry.refused = refused }
        if isOurs { entry.answered() }
        journal[content.path] = entry
        if isOurs {
            report.sent(1, pending: syncEngine.state.pendingRecordZoneChanges.count)
        } else {
            report.received(1)
        }
    }

    /// Somebody deleted the record itself (not this program, which saves tombstones).
    func fetchedDeletion(_ id: CKRecord.ID, syncEngine: CKSyncEngine) {
        guard var entry = journal[id] else { return subfolderIsGone(id) }
        switch meeting(at: entry.path, synced: entry.version, record: nil) {
        case .equal: break
        case .keepFile, .keepBoth: syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        case .takeRecord:
            let content = FileRecord.Content(deleted: entry.path)
            entry.receiving = Journal.Entry.Arrival(version: nil)
            journal[id] = entry
            guard apply(content, expecting: entry.version, syncEngine: syncEngine) else { return }
        }
        entry.forgetRecord()
        journal[id] = entry
        report.received(1)
    }

    private func meeting(at path: RelativePath, synced: String?, record: String?) -> Meeting {
        // It is unknown whether there is a file. `apply` reports why nothing can be done, and it is tried again.
        guard tree.obstacle(to: path) == nil else { return .takeRecord }
        return Meeting(file: tree.look(at: path).version, synced: synced, record: record)
    }

    /// Makes the file match the record. A file that differs from the last synced version is never replaced. It gets
    /// another name that says so, and is sent as a new file.
    ///
    /// - Parameter copyOf: a version that other devices may have too. If that one is set aside, its name says so, and
    ///   is the same on all devices.
    private func apply(
        _ content: FileRecord.Content, expecting version: String?, copyOf: String? = nil, syncEngine: CKSyncEngine
    ) -> Bool {
        do {
            hasUnflushedFiles = true
            let isRefused = journal[content.path]?.refused != nil
            for kept in try tree.replace(content, expecting: version, copyOf: copyOf, deviceName: deviceName) {
                if isRefused {
                    keepUnsent(kept)
                    continue
                }
                report.line(
                    kept.path == kept.newPath
                        ? "\(kept.path) was deleted elsewhere and changed here; it is kept"
                        : "conflict: \(kept.path); this device's version is kept as \(kept.newPath)")
                pend(
                    kept.newPath == content.path
                        ? [kept.newPath] : [kept.path, kept.newPath].filter { $0 != content.path })
            }
            report.detail((content.version == nil ? "deleted here: " : "received: ") + content.path.text)
            return true
        } catch {
            report.problem("\(content.path): \(error.localizedDescription)", once: true)
            return false
        }
    }
}
