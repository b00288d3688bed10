// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The heart of the program: the delegate of a `CKSyncEngine`.
///
/// The work is divided as `CKSyncEngine` expects. The engine knows *when* to talk to the server and *what is pending*.
/// This delegate knows the data: it provides records when the engine asks for a batch, applies what the engine has
/// fetched, and resolves conflicts. It stores two things, always together in one ``Journal``: what it knows of each
/// file, and the engine's state.
actor Syncer: CKSyncEngineDelegate {
    let tree: FileTree
    let journal: Journal
    let report: TerminalReport
    let place: FolderPlace
    let zoneID: CKRecordZone.ID
    let deviceName: String
    let missingFiles: MissingFiles?
    /// While it is true, no deletion is sent (``lookForLostFiles()``).
    var holdsDeletions = false
    /// Set right after the engine is made. The engine calls nobody before that.
    private(set) var engine: CKSyncEngine?
    private var stop: CheckedContinuation<Void, any Error>?
    /// Set once there is a reason to stop.
    private var ending: Result<Void, any Error>?
    /// From then on nothing is sent, written or recorded: further events of the engine may be about another account.
    var hasFailed: Bool {
        if case .failure? = ending { true } else { false }
    }
    /// The versions that the engine was given to send; none for a tombstone.
    var underWay: [CKRecord.ID: Journal.Entry.Sent] = [:]
    /// Records that the server refused; the reason has been reported.
    var unsent: Set<CKRecord.ID> = []
    /// Files and directories that should be synced and could not be read at the last check. "" is the folder itself.
    private var unreadable: Set<RelativePath> = []
    /// Files were written since the journal was.
    var hasUnflushedFiles = false

    /// - Parameters:
    ///   - owner: whose zone it is, if somebody else shares the folder (``FolderPlace/owner``).
    ///   - missing: what the person here has said of missing files.
    init(
        tree: FileTree, journal: Journal, zoneName: String, owner: String? = nil, deviceName: String,
        missing: MissingFiles? = nil, report: TerminalReport
    ) {
        self.tree = tree
        self.journal = journal
        self.report = report
        self.deviceName = deviceName
        missingFiles = missing
        place = FolderPlace(zoneName: zoneName, owner: owner)
        zoneID = place.zoneID
    }

    // MARK: Running

    /// Fetches, sends, and fetches again as long as another device's changes block ours.
    func syncOnce() async throws {
        do {
            try await fetchAndSend()
        } catch {
            // The reason for the end says more than its consequences.
            try ending?.get()
            throw error
        }
    }

    private func fetchAndSend() async throws {
        try recover()
        lookForLostFiles()
        let engine = makeEngine(automaticallySync: false)
        try await engine.fetchChanges()
        try ending?.get()
        try await checkAccess(engine)
        try ending?.get()
        try await fetchMissing()
        heedLostFiles()
        try ending?.get()
        scan()
        for attempt in 1... {
            report.show(pending: engine.state.pendingRecordZoneChanges.count)
            do {
                try await engine.sendChanges()
            } catch let error as CKError where error.code == .partialFailure && attempt < 10 {
                // Conflicts were resolved while the events were handled, so their results are pending again.
            }
            try ending?.get()
            try await engine.fetchChanges()
            try ending?.get()
            if engine.state.pendingRecordZoneChanges.isEmpty {
                // Later records may have made room for earlier ones: a directory was removed, and a file has its name.
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

    /// The record names of files that are not in sync for any reason, each once.
    private var notInSync: Set<String> {
        Set(unsent.map(\.recordName)).union(unreadable.union(journal.arrivals.keys).map { FileRecord.name(of: $0) })
    }

    /// Syncs on every change, local or remote, until a signal or a reason to stop.
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
        lookForLostFiles()
        let engine = makeEngine(automaticallySync: true)
        if holdsDeletions {
            // If there is no connection, nobody says that the files are to come again.
            try? await engine.fetchChanges()
            try? await checkAccess(engine)
            heedLostFiles()
        }
        try ending?.get()
        scan()
        report.line("watching \(tree.root) (Ctrl-C ends)")
        let attendant = Task { await attend() }
        defer { attendant.cancel() }
        try await withCheckedThrowingContinuation { stop in
            if let ending { stop.resume(with: ending) } else { self.stop = stop }
        }
        report.finish()
    }

    /// It doubles, because a large file that cannot be placed is fetched each time.
    private static let firstPause = Duration.seconds(10)
    private static let longestPause = Duration.seconds(3_600)

    /// Does what the engine does not do on its own while it runs.
    private func attend() async {
        do {
            _ = try await CKContainer.default().userRecordID()
        } catch {
            // The engine keeps trying silently. A user who has mistyped a token wants to hear of it.
            report.problem("\(error.localizedDescription) Trying again until it works.")
        }
        // If there is no connection, the engine hears of it later.
        if let engine { try? await checkAccess(engine) }
        var pause = Self.firstPause
        while !Task.isCancelled {
            try? await Task.sleep(for: pause)
            // If there is no connection either, it is done later.
            try? await fetchMissing()
            lookAgain()
            let isDone = journal.arrivals.isEmpty && unreadable.isEmpty
            pause = isDone ? Self.firstPause : min(pause * 2, Self.longestPause)
        }
    }

    /// - Parameter error: nil if somebody asked for it.
    func finish(_ error: (any Error)?) {
        let ending = self.ending ?? error.map { .failure($0) } ?? .success(())
        self.ending = ending
        stop?.resume(with: ending)
        stop = nil
    }

    /// Repairs what a crash has left.
    private func recover() throws {
        try tree.recoverLeftovers(journal: journal, deviceName: deviceName)
        for path in journal.arrivals.keys where tree.obstacle(to: path) == nil {
            journal[path]?.recover(tree.look(at: path).version)
        }
    }

    private func makeEngine(automaticallySync: Bool) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: place.database(of: CKContainer.default()),
            stateSerialization: journal.engineState,
            delegate: self)
        configuration.automaticallySync = automaticallySync
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        return engine
    }

    // MARK: What changed here

    /// Checks every file: at the start, and when the watcher lost events.
    func scan() {
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

    /// A file may have been unreadable for a moment, and no event reports that it is readable again.
    func lookAgain() {
        // Only a scan finds what is in a directory.
        if unreadable.contains(where: { $0 == "" || tree.isDirectory($0) }) { return scan() }
        if !unreadable.isEmpty { note(unreadable) }
    }

    private func filesChanged(_ paths: FileWatcher.Paths) {
        switch paths {
        case .everything: scan()
        case .some(let paths): note(paths)
        case .unknown(let error): finish(error)
        }
    }

    /// Adds a pending change for every path whose file differs from its last sync.
    func note(_ paths: Set<RelativePath>) {
        let changed = paths.filter { path in
            let entry = journal[path] ?? Journal.Entry(path: path)
            switch look(at: path, known: entry.stat) {
            case .same: return !entry.sent.isEmpty || newParent(of: entry) != nil
            case .missing: return !holdsDeletions && entry.differs(from: nil) || newParent(of: entry) != nil
            case .file(let file):
                guard !entry.differs(from: file.version) else { return true }
                // The file was touched, not changed. The next check need not read it.
                if entry.version == file.version { journal[path]?.stat = file.stat }
                return newParent(of: entry) != nil
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

    /// Checks a file that must be sent if it has changed, and remembers whether it could be read.
    func look(at path: RelativePath, known: FileTree.Stat? = nil) -> FileTree.Look {
        let look = tree.look(at: path, known: known)
        if case .unreadable(let why) = look {
            cannotRead(path, why)
        } else if unreadable.contains(path), !tree.isDirectory(path) {
            unreadable.remove(path)
        }
        return look
    }

    private func cannotRead(_ path: RelativePath, _ why: String) {
        unreadable.insert(path)
        report.problem("\(path.text.isEmpty ? tree.root : path.text): \(why)", once: true)
    }

    /// Tells the engine that these records are pending.
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
        // Recorded before it is sent: if this program ends before the answer arrives, the next run recognises its own
        // changes.
        persist()
        return hasFailed ? nil : batch
    }

    /// The account's other zones belong to other folders.
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
            zonesDeleted(changes, syncEngine: syncEngine)
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
            guard persist(), sent.failedRecordSaves.contains(where: { isReadOnly($0.error) }) else { return }
            // If the connection is lost, it is done later.
            try? await fetchMissing()
        case .sentDatabaseChanges(let sent):
            for failure in sent.failedZoneSaves {
                report.problem("zone \(failure.zone.zoneID.zoneName): \(failure.error.localizedDescription)")
            }
        case .didFetchChanges, .didSendChanges:
            report.settled(
                pending: syncEngine.state.pendingRecordZoneChanges.count, missing: journal.arrivals.count)
        case .didFetchRecordZoneChanges(let end):
            if end.zoneID == zoneID, end.error == nil { zoneReturned() }
        case .willFetchChanges, .willFetchRecordZoneChanges, .willSendChanges:
            break
        @unknown default:
            break
        }
    }

    /// - Returns: false if it failed; the program then ends.
    @discardableResult func persist() -> Bool {
        // The journal must not be ahead of the files: a file lost in a crash of the machine would look deleted.
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
            makeZone(syncEngine: syncEngine)
            scan()
        case .signOut, .switchAccounts:
            // The files belong to the previous user: they stay, and are not sent for another one.
            journal.forgetEverything()
            persist()
            finish(FolderSyncError.accountChanged)
        @unknown default:
            break
        }
    }

    private func zonesDeleted(_ changes: CKSyncEngine.Event.FetchedDatabaseChanges, syncEngine: CKSyncEngine) {
        guard let deletion = changes.deletions.first(where: { $0.zoneID == zoneID }) else { return }
        switch deletion.reason {
        case .encryptedDataReset:
            remakeZone(syncEngine: syncEngine)
        case .deleted, .purged:
            let isBack = place.isShared && changes.modifications.contains { $0.zoneID == zoneID }
            if isBack { zoneCameBack() } else { zoneEnded() }
        }
    }

    /// Only its owner makes a zone.
    func makeZone(syncEngine: CKSyncEngine) {
        guard !place.isShared else { return }
        syncEngine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
    }

    /// The server lost the data, and the user did not want that: everything is sent again. Of a shared folder the owner's
    /// devices do that, and invite anew.
    func remakeZone(syncEngine: CKSyncEngine) {
        guard !place.isShared else { return zoneEnded() }
        journal.forgetRecords()
        persist()
        makeZone(syncEngine: syncEngine)
        scan()
    }
}
