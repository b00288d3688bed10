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
    /// Set once there is a reason to stop.
    private var ending: Result<Void, any Error>?
    /// From then on nothing is sent, written or written down: what the engine still tells may be of another account.
    var hasFailed: Bool {
        if case .failure? = ending { true } else { false }
    }
    /// What the engine was given to send; nothing for a tombstone.
    var underWay: [CKRecord.ID: Journal.Entry.Sent] = [:]
    /// What the server refused, and why was told.
    var unsent: Set<CKRecord.ID> = []
    /// What is to be synced and could not be read when it was looked at last; the folder itself if it could not be.
    private var unreadable: Set<RelativePath> = []
    /// Files were written since the journal was.
    var hasUnflushedFiles = false

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
        do {
            try await fetchAndSend()
        } catch {
            // What ended it says more than what followed from that.
            try ending?.get()
            throw error
        }
    }

    private func fetchAndSend() async throws {
        try recover()
        let engine = makeEngine(automaticallySync: false)
        try await engine.fetchChanges()
        try ending?.get()
        try await fetchMissing()
        scan()
        for attempt in 1... {
            report.show(pending: engine.state.pendingRecordZoneChanges.count)
            do {
                try await engine.sendChanges()
            } catch let error as CKError where error.code == .partialFailure && attempt < 10 {
                // Conflicts were solved while the events were handled; what they left is pending again.
            }
            try ending?.get()
            try await engine.fetchChanges()
            try ending?.get()
            if engine.state.pendingRecordZoneChanges.isEmpty {
                // What came later may have made room for what came first: a directory went, and a file has its name.
                try await fetchMissing()
                try ending?.get()
                if engine.state.pendingRecordZoneChanges.isEmpty { break }
            }
            guard attempt < 10 else { throw FolderSyncError.notSettled }
        }
        report.settled(pending: 0, missing: journal.arrivals.count)
        report.finish()
        guard tree.isInPlace else { throw FolderSyncError.moved(tree.root) }
        let count = notInSync.count
        guard count == 0 else { throw FolderSyncError.incomplete(count) }
    }

    /// The names of the records of files that are not in sync for any reason; each once.
    private var notInSync: Set<String> {
        Set(unsent.map(\.recordName)).union(unreadable.union(journal.arrivals.keys).map { FileRecord.name(of: $0) })
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
        try recover()
        _ = makeEngine(automaticallySync: true)
        scan()
        report.line("watching \(tree.root) (Ctrl-C ends)")
        let attendant = Task { await attend() }
        defer { attendant.cancel() }
        try await withCheckedThrowingContinuation { stop in
            if let ending { stop.resume(with: ending) } else { self.stop = stop }
        }
        report.finish()
    }

    /// It doubles, because a large file that finds no place is fetched each time.
    private static let firstPause = Duration.seconds(10)
    private static let longestPause = Duration.seconds(3_600)

    /// What the engine does not do by itself while it runs.
    private func attend() async {
        do {
            _ = try await CKContainer.default().userRecordID()
        } catch {
            // It tries until it works, and in silence; whoever has mistyped a token wants to hear of it.
            report.problem("\(error.localizedDescription) Trying again until it works.")
        }
        var pause = Self.firstPause
        while !Task.isCancelled {
            try? await Task.sleep(for: pause)
            // If there is no connection either, another time will do.
            try? await fetchMissing()
            lookAgain()
            let isDone = journal.arrivals.isEmpty && unreadable.isEmpty
            pause = isDone ? Self.firstPause : min(pause * 2, Self.longestPause)
        }
    }

    /// - Parameter error: nil: because somebody asked for it.
    func finish(_ error: (any Error)?) {
        let ending = self.ending ?? error.map { .failure($0) } ?? .success(())
        self.ending = ending
        stop?.resume(with: ending)
        stop = nil
    }

    /// Brings in order what a crash has left.
    private func recover() throws {
        try tree.recoverLeftovers(journal: journal, deviceName: deviceName)
        for path in journal.arrivals.keys where tree.obstacle(to: path) == nil {
            journal[path]?.recover(tree.look(at: path).version)
        }
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
        unreadable = []
        var failures: [(path: RelativePath, why: String)] = []
        do {
            let files = try tree.files(
                onSkipped: { report.problem($0, once: true) }, onUnreadable: { failures.append((path: $0, why: $1)) })
            note(files.union(journal.paths))
            for failure in failures { cannotRead(failure.path, failure.why) }
        } catch {
            unreadable.insert("")
            report.problem("cannot read \(tree.root): \(error.localizedDescription)")
        }
    }

    /// What could not be read may have been so for a moment, of which nothing tells.
    private func lookAgain() {
        if unreadable.contains("") { return scan() }
        if !unreadable.isEmpty { note(unreadable) }
    }

    private func filesChanged(_ paths: FileWatcher.Paths) {
        switch paths {
        case .everything: scan()
        case .some(let paths): note(paths)
        case .unknown(let error): finish(error)
        }
    }

    /// Makes a pending change of every path whose file is not as it was synced last.
    func note(_ paths: Set<RelativePath>) {
        let changed = paths.filter { path in
            let entry = journal[path] ?? Journal.Entry(path: path)
            switch look(at: path, known: entry.stat) {
            case .same: return !entry.sent.isEmpty
            case .missing: return entry.differs(from: nil)
            case .file(let file):
                guard !entry.differs(from: file.version) else { return true }
                // It was touched, not changed: the next look need not read it.
                journal[path]?.stat = file.stat
                return false
            case .unusable(let why):
                report.problem("\(path): \(why)", once: true)
                return false
            case .unreadable:
                return false
            }
        }
        pend(changed.sorted())
        report.show(pending: engine?.state.pendingRecordZoneChanges.count ?? 0)
    }

    /// Looks at a file that is to be sent if it has changed, and remembers whether it could be read.
    func look(at path: RelativePath, known: FileTree.Stat? = nil) -> FileTree.Look {
        let look = tree.look(at: path, known: known)
        if case .unreadable(let why) = look { cannotRead(path, why) } else { unreadable.remove(path) }
        return look
    }

    private func cannotRead(_ path: RelativePath, _ why: String) {
        unreadable.insert(path)
        report.problem("\(path.text.isEmpty ? tree.root : path.text): \(why)", once: true)
    }

    /// The engine will ask for these records.
    func pend(_ paths: [RelativePath]) {
        guard !paths.isEmpty else { return }
        for path in paths where journal[path] == nil { journal[path] = Journal.Entry(path: path) }
        engine?.state.add(pendingRecordZoneChanges: paths.map { .saveRecord(FileRecord.id(of: $0, in: zoneID)) })
    }

    // MARK: CKSyncEngineDelegate

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        guard !hasFailed else { return nil }
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            await self.recordToSave(id, syncEngine: syncEngine)
        }
        // What is about to be sent is written down first: if this program ends before the answer comes, the next run
        // knows its own changes when it meets them.
        persist()
        return hasFailed ? nil : batch
    }

    /// The account's other zones are other folders.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        var options = context.options
        options.scope = .zoneIDs([zoneID])
        return options
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard !hasFailed else { return }
        switch event {
        case .stateUpdate(let update):
            journal.engineState = update.stateSerialization
            persist()
        case .accountChange(let change):
            accountChanged(change.changeType, syncEngine: syncEngine)
        case .fetchedDatabaseChanges(let changes):
            zonesDeleted(changes.deletions, syncEngine: syncEngine)
        case .fetchedRecordZoneChanges(let changes):
            let records = changes.modifications.map(\.record)
            fetched(records, syncEngine: syncEngine)
            records.forEach(FileRecord.discardFile)
            for deletion in changes.deletions { fetchedDeletion(deletion.recordID, syncEngine: syncEngine) }
            persist()
        case .sentRecordZoneChanges(let sent):
            for record in sent.savedRecords { saved(record) }
            for failure in sent.failedRecordSaves where !hasFailed {
                notSaved(failure.record, failure.error, syncEngine: syncEngine)
            }
            guard !hasFailed else { return }
            solveConflicts(sent.failedRecordSaves.map(\.error), syncEngine: syncEngine)
            report.sent(sent.savedRecords.count, pending: syncEngine.state.pendingRecordZoneChanges.count)
            persist()
        case .sentDatabaseChanges(let sent):
            for failure in sent.failedZoneSaves {
                report.problem("zone \(failure.zone.zoneID.zoneName): \(failure.error.localizedDescription)")
            }
        case .didFetchChanges, .didSendChanges:
            report.settled(
                pending: syncEngine.state.pendingRecordZoneChanges.count, missing: journal.arrivals.count)
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges, .willSendChanges:
            break
        @unknown default:
            break
        }
    }

    /// - Returns: false: it could not be done, and the program ends.
    @discardableResult func persist() -> Bool {
        // The journal must not be ahead of the files: a file that a crash of the machine took away would look deleted.
        if hasUnflushedFiles { tree.flush() }
        hasUnflushedFiles = false
        do {
            try journal.persist()
            return true
        } catch {
            finish(FolderSyncError.cannotPersist(error.localizedDescription))
            return false
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
        switch deletion.reason {
        case .encryptedDataReset:
            remakeZone(syncEngine: syncEngine)
        case .deleted, .purged:
            zoneEnded()
        }
    }

    /// The server lost the data, not the user's will to keep it: everything is sent again.
    func remakeZone(syncEngine: CKSyncEngine) {
        journal.forgetRecords()
        persist()
        syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
        scan()
    }

    /// Somebody wanted the zone to go: nothing is sent again unless the person here starts anew. That start is like the
    /// first one, which creates the zone: the engine's state goes, too.
    func zoneEnded() {
        journal.forgetEverything()
        persist()
        finish(FolderSyncError.zoneDeleted(zoneID.zoneName))
    }
}
