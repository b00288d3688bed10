// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkTelemetry

/// The file that makes pending changes durable before the state that contains them is stored. It is a copy of
/// everything that the engine must still send, updated line by line.
///
/// Lines are written in the order in which the engine's lock was held. All who wait at the same time share the wait for
/// the disk. When most of the file is out of date, a new file is written beside it and then replaces it.
final class SyncEngineJournal: Sendable {
    private struct State {
        /// Changed after the file was out of date for a while: states that were stored meanwhile say that the old one
        /// does not count.
        var id = ""
        var contents = SyncEngineJournalContents()
        var file: FileHandle?
        var lock: Int32 = -1
        var byteCount = 0
        /// The size of the file when it was last rewritten.
        var summaryByteCount = 0
        /// Lines that were written; the next property counts those known to be durable.
        var written = 0
        var synced = 0
        /// Whether the file is missing, or may end in the middle of a line.
        var isBroken = true
        var error: CKError?
    }

    let url: URL
    private let state = Locked(State())
    private let syncing = Locked(())
    private let files: any JournalFiles
    private static let log = Log("sync-engine")

    /// A smaller file is not worth rewriting.
    private static let compactionBytesMin = 64 * 1024
    /// The most times by which a file may exceed the size of its last summary.
    private static let compactionFactor = 4

    /// Reads the journal of an engine that has ended, and combines it with the stored state.
    ///
    /// - Parameter files: where the journal is.
    init(_ url: URL, restoring snapshot: inout SyncEngineSnapshot, files: any JournalFiles = JournalDisk()) {
        self.url = url
        self.files = files
        var found = SyncEngineJournalContents()
        do throws(CKError) {
            let lock = try files.lock(url)
            state.withLock { $0.lock = lock }
            found = try Self.read(url)
        } catch {
            // Another engine may continue it, or a later version. Next time it counts besides the state.
            snapshot.journalID = SyncEngineSnapshot.besideJournal
            state.withLock { $0.error = error }
            // A file that was not read is never replaced.
            release()
            Self.log(error)
            return
        }
        if found.damagedLineCount > 0 { files.keepAside(url, damagedLineCount: found.damagedLineCount) }
        let isOutOfDate = snapshot.hasLeft(found)
        let id = isOutOfDate ? Self.newID() : found.id ?? Self.newID()
        snapshot.restore(isOutOfDate ? found.unsentOnly : found)
        let contents = SyncEngineJournalContents(of: snapshot, id: id)
        state.withLock { state in
            state.id = id
            state.contents = contents
        }
        // Only whole lines from now on.
        append([])
    }

    /// Why changes are not durable at present; nil while they are.
    var error: CKError? { state.withLock { $0.error } }

    /// Whether this engine has the file open.
    var isOpen: Bool { state.withLock { $0.lock >= 0 } }

    /// The identity of the journal when it was last up to date.
    var id: String { state.withLock { $0.id } }

    /// As ``id``; nil while the journal is out of date.
    var currentID: String? { state.withLock { $0.error == nil ? $0.id : nil } }

    /// Closes the file, so that another engine can open it.
    func release() {
        state.withLock { state in
            state.file = nil
            if state.lock >= 0 { close(state.lock) }
            state.lock = -1
        }
    }

    // MARK: Writing

    /// Writes lines, which are durable after ``sync()``. Call it in the order of the events.
    func append(_ entries: [SyncEngineJournalEntry]) {
        let failure: CKError? = state.withLock { state in
            let hadError = state.error != nil
            for entry in entries { state.contents.apply(entry) }
            guard state.lock >= 0 else { return nil }
            do {
                if state.isBroken {
                    try rewrite(&state)
                    return nil
                }
                guard let file = state.file, !entries.isEmpty else { return nil }
                let bytes = entries.flatMap { $0.line() }
                state.isBroken = true
                try files.write(bytes, to: file)
                state.isBroken = false
                state.byteCount += bytes.count
                state.written += 1
                if isWorthCompacting(state) { try rewrite(&state) }
                return nil
            } catch {
                // What the file lacks is in `contents`, and is written with the next change.
                state.isBroken = true
                state.error = Self.failure("cannot be written", url, Self.noRoom, error)
                return hadError ? nil : state.error
            }
        }
        if let failure { Self.log(failure) }
    }

    /// Returns when everything that was appended before is on the disk.
    func sync() {
        let target = state.withLock { $0.written }
        let failure: CKError? = syncing.withLock { _ in
            let (file, written, isDone) = state.withLock { ($0.file, $0.written, $0.synced >= target) }
            guard !isDone, let file else { return nil }
            do {
                try files.synchronize(file)
                state.withLock { $0.synced = max($0.synced, written) }
                return nil
            } catch {
                // NB: after a failed fsync the kernel may have dropped the bytes, and reports it only once. So they are
                // written again.
                let failure = Self.failure("cannot be made durable", url, Self.noRoom, error)
                state.withLock { state in
                    state.isBroken = true
                    state.file = nil
                    state.error = failure
                }
                return failure
            }
        }
        if let failure { Self.log(failure) }
    }

    private func isWorthCompacting(_ state: State) -> Bool {
        state.byteCount > max(Self.compactionBytesMin, Self.compactionFactor * state.summaryByteCount)
    }

    /// Writes the summary to a new file, which then replaces the old one: it appears completely or not at all.
    private func rewrite(_ state: inout State) throws {
        let temporary = url.path + ".new"
        files.remove(temporary)
        let file = try files.create(temporary)
        let id = state.error == nil ? state.id : Self.newID()
        let bytes = state.contents.summary(id: id).line()
        try files.write(bytes, to: file)
        try files.synchronize(file)
        try files.replace(url, by: temporary)
        files.synchronizeDirectory(of: url)
        state.file = file
        state.id = id
        state.byteCount = bytes.count
        state.summaryByteCount = bytes.count
        state.written += 1
        state.synced = state.written
        state.isBroken = false
        state.error = nil
    }

    // MARK: The file

    private static func newID() -> String { Hex.encode(SecureRandom.bytes(8)) }

    private static func read(_ url: URL) throws(CKError) -> SyncEngineJournalContents {
        guard FileManager.default.fileExists(atPath: url.path) else { return SyncEngineJournalContents() }
        guard let data = FileManager.default.contents(atPath: url.path) else {
            throw failure("cannot be read", url, "Check who may read it.")
        }
        do throws(SyncEngineJournalEntry.Damage) {
            return try SyncEngineJournalContents(bytes: [UInt8](data))
        } catch {
            throw failure("was written by a later version", url, "Update the app.")
        }
    }

    private static func log(_ error: CKError) {
        log.error("pending changes are not durable", ["why": error.localizedDescription])
    }

    private static let noRoom = "Make room on the disk. The next change writes what the file lacks."

    /// What is wrong with the journal, and what to do.
    static func failure(_ what: String, _ url: URL, _ advice: String, _ cause: (any Error)? = nil) -> CKError {
        let reason = cause.map { " (\($0))" } ?? ""
        return CKError(.internalError, message: "The journal \(what): \(url.path)\(reason). \(advice)")
    }
}

extension SyncEngineSnapshot {
    /// Combines a stored state and a journal.
    ///
    /// A journal that the state knows has all pending changes, and decides what is no longer pending. A journal that it
    /// does not know is newer, and adds to the state: the process ended before a state was stored. Changes of different
    /// users are never mixed: then the state counts, and the rest is set aside.
    ///
    /// A journal with damaged lines is incomplete, so it adds too.
    fileprivate mutating func restore(_ journal: SyncEngineJournalContents) {
        restoreInFlight()
        pendingOwner = SyncEnginePendingOwner(user)
        unsent = journal.unsent
        guard journal.id != nil || !journal.isEmpty else { return }
        // The line that begins it is damaged, so its owner is unknown.
        let owner = journal.id == nil ? pendingOwner : journal.owner
        if let id = journal.id, id == journalID, journal.damagedLineCount == 0 {
            pendingRecords = journal.records
            pendingZones = journal.zones
            hasUntrackedChanges = journal.untracked ?? hasUntrackedChanges
        } else {
            // changes without an owner belong to whoever signs in.
            guard user == nil || owner == pendingOwner || owner == .nobody else {
                if !journal.pendingOfOwner.isEmpty { unsent.append(journal.pendingOfOwner) }
                return
            }
            // the newest change of a record holds.
            let isNewer = journalID == Self.besideJournal
            for change in journal.records.elements where !(isNewer && pendingRecords.contains(key: change.key)) {
                pendingRecords.add(change)
            }
            for change in journal.zones.elements where !(isNewer && pendingZones.contains(key: change.key)) {
                pendingZones.add(change)
            }
            hasUntrackedChanges = hasUntrackedChanges || journal.untracked == true
            guard user == nil else { return }
        }
        pendingOwner = owner
    }

    /// Whether the state is newer than everything in the journal: it was stored while the journal could not be written,
    /// or by an engine without one.
    fileprivate func hasLeft(_ journal: SyncEngineJournalContents) -> Bool {
        journal.id.map { journalID == Self.left($0) } ?? false
    }

    /// A value for the state that says that it was stored while the journal could not be opened, so it is newer.
    static let besideJournal = "?"

    /// A value for the state that says that the journal with this identity is out of date.
    static func left(_ id: String) -> String { id.hasPrefix("!") ? id : "!" + id }
}

extension SyncEngineJournalContents {
    /// The contents of the journal of an engine in this state.
    init(of snapshot: SyncEngineSnapshot, id: String) {
        self.init()
        apply(
            SyncEngineJournalEntry(
                begin: .init(id: id, user: snapshot.pendingOwner.userName),
                put: snapshot.pendingZones.elements.map { .init($0) }
                    + snapshot.pendingRecords.elements.map { .init($0) },
                untracked: snapshot.hasUntrackedChanges,
                unsent: snapshot.unsent.isEmpty ? nil : snapshot.unsent.map { .init($0) }))
    }
}
