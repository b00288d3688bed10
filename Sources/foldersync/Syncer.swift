// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The heart of the program: the delegate of a `CKSyncEngine`.
///
/// The division of labour is the one that `CKSyncEngine` asks for. The engine knows *when* to talk to the server and *what
/// is pending*; this delegate knows the data: it hands out records when the engine asks for a batch, applies what the
/// engine has fetched, and solves conflicts. It persists two things and always together, in one ``Journal``: what it knows
/// of each file, and the engine's state.
actor Syncer: CKSyncEngineDelegate {
    let tree: FileTree
    let journal: Journal
    let report: Report
    let zoneID: CKRecordZone.ID
    let deviceName: String
    /// Set right after the engine is made; the engine calls nobody before that.
    private(set) var engine: CKSyncEngine?
    private var stop: CheckedContinuation<Void, any Error>?

    init(tree: FileTree, journal: Journal, zoneName: String, deviceName: String, report: Report) {
        self.tree = tree
        self.journal = journal
        self.report = report
        self.deviceName = deviceName
        zoneID = CKRecordZone.ID(zoneName: zoneName)
    }

    // MARK: Running

    /// Fetches, sends, and fetches again while somebody else's changes make ours wait.
    func syncOnce() async throws {
        let engine = makeEngine(automaticallySync: false)
        try tree.recoverLeftovers(journal: journal, deviceName: deviceName)
        try await engine.fetchChanges()
        scan()
        for attempt in 1... {
            report.show(pending: engine.state.pendingRecordZoneChanges.count)
            do {
                try await engine.sendChanges()
            } catch let error as CKError where error.code == .partialFailure && attempt < 10 {
                // Conflicts were solved while the events were handled; what they left is pending again.
            }
            try await engine.fetchChanges()
            if engine.state.pendingRecordZoneChanges.isEmpty { break }
            guard attempt < 10 else { throw FolderSyncError.notSettled }
        }
        report.finish()
    }

    /// Syncs on every change, here or elsewhere, until a signal or a reason to stop.
    func syncUntilInterrupted() async throws {
        let watcher = try FileWatcher(tree: tree) { [weak self] paths in
            Task { await self?.filesChanged(paths) }
        }
        defer { watcher.stop() }
        let signals = InterruptSignals { [weak self] in
            Task { await self?.finish(nil) }
        }
        defer { signals.stop() }
        try tree.recoverLeftovers(journal: journal, deviceName: deviceName)
        _ = makeEngine(automaticallySync: true)
        scan()
        report.line("watching \(tree.root.path) (Ctrl-C ends)")
        try await withCheckedThrowingContinuation { stop = $0 }
        report.finish()
    }

    func finish(_ error: (any Error)?) {
        if let error { stop?.resume(throwing: error) } else { stop?.resume() }
        stop = nil
    }

    private func makeEngine(automaticallySync: Bool) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: CKContainer.default().privateCloudDatabase,
            stateSerialization: journal.engineState,
            delegate: self)
        configuration.automaticallySync = automaticallySync
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        return engine
    }

    // MARK: What changed here

    /// Looks at every file: at the start, and when the watcher lost count.
    private func scan() {
        do {
            note(try tree.files().union(journal.paths))
        } catch {
            report.problem("cannot read \(tree.root.path): \(error.localizedDescription)")
        }
    }

    private func filesChanged(_ paths: FileWatcher.Paths) {
        switch paths {
        case .everything: scan()
        case .some(let paths): note(paths)
        }
    }

    /// Makes a pending change of every path whose file is not as it was synced last.
    private func note(_ paths: Set<String>) {
        let changed = paths.filter { path in
            let entry = journal[path]
            switch tree.look(at: path, known: entry?.stat) {
            case .same: return false
            case .missing: return entry?.hash != nil
            case .file(let file): return file.hash != entry?.hash
            case .unusable(let why):
                report.problem("\(path): \(why)", once: true)
                return false
            }
        }
        guard !changed.isEmpty else { return }
        for path in changed where journal[path] == nil { journal[path] = Journal.Entry(path: path) }
        engine?.state.add(
            pendingRecordZoneChanges: changed.sorted().map { .saveRecord(FileRecord.id(of: $0, in: zoneID)) })
        report.show(pending: engine?.state.pendingRecordZoneChanges.count ?? 0)
    }

    // MARK: CKSyncEngineDelegate

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            await self.recordToSave(id, syncEngine: syncEngine)
        }
        // Before anything leaves: a crash from here on must not forget what was sent.
        persist()
        return batch
    }

    /// The record as the file is now. Nil, and no longer pending, when there is nothing to send after all.
    private func recordToSave(_ id: CKRecord.ID, syncEngine: CKSyncEngine) -> CKRecord? {
        guard let entry = journal[id] else {
            syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
            return nil
        }
        switch tree.look(at: entry.path, known: nil) {
        case .file(let file) where file.hash != entry.hash:
            var entry = entry
            entry.sending = file.hash
            journal[entry.path] = entry
            return FileRecord.make(from: entry, file: file, in: zoneID)
        case .missing where entry.hash != nil:
            // Deleting a record carries no tag and would also delete what another device has just written. A tombstone
            // that is saved like any other change meets the same check as an edit.
            return FileRecord.makeTombstone(from: entry, in: zoneID)
        case .unusable(let why):
            report.problem("\(entry.path): \(why)", once: true)
            fallthrough
        default:
            syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
            return nil
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            journal.engineState = update.stateSerialization
            persist()
        case .accountChange(let change):
            accountChanged(change.changeType, syncEngine: syncEngine)
        case .fetchedDatabaseChanges(let changes):
            zonesDeleted(changes.deletions, syncEngine: syncEngine)
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications { fetched(modification.record, syncEngine: syncEngine) }
            for deletion in changes.deletions { fetchedDeletion(deletion.recordID, syncEngine: syncEngine) }
            report.received(changes.modifications.count + changes.deletions.count)
            persist()
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { saved(record) }
            for failure in sent.failedRecordSaves { notSaved(failure.record, failure.error, syncEngine: syncEngine) }
            report.sent(sent.savedRecords.count, pending: syncEngine.state.pendingRecordZoneChanges.count)
            persist()
        case .sentDatabaseChanges(let sent):
            for failure in sent.failedZoneSaves {
                report.problem("zone \(failure.zone.zoneID.zoneName): \(failure.error.localizedDescription)")
            }
        case .didFetchChanges, .didSendChanges:
            report.settled(pending: syncEngine.state.pendingRecordZoneChanges.count)
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges, .willSendChanges:
            break
        @unknown default:
            break
        }
    }

    private func persist() {
        do {
            try journal.persist()
        } catch {
            finish(FolderSyncError.cannotPersist(error.localizedDescription))
        }
    }

    // MARK: Accounts and zones

    private func accountChanged(
        _ change: CKSyncEngine.Event.AccountChange.ChangeType, syncEngine: CKSyncEngine
    ) {
        switch change {
        case .signIn:
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
            scan()
        case .signOut, .switchAccounts:
            // The files belong to whoever was signed in: they stay, and are not given to somebody else.
            journal.forgetEverything()
            persist()
            finish(FolderSyncError.accountChanged)
        @unknown default:
            break
        }
    }

    private func zonesDeleted(_ deletions: [CKDatabase.DatabaseChange.Deletion], syncEngine: CKSyncEngine) {
        guard let deletion = deletions.first(where: { $0.zoneID == zoneID }) else { return }
        journal.forgetRecords()
        persist()
        switch deletion.reason {
        case .encryptedDataReset:
            // The server lost the data, not the user's will to keep it: send everything again.
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
            scan()
        case .deleted, .purged:
            finish(FolderSyncError.zoneDeleted(zoneID.zoneName))
        }
    }
}
