// SPDX-License-Identifier: Apache-2.0

/// What a journal says when it is read from its beginning.
struct SyncEngineJournalContents: Sendable {
    /// Nil if no line begins it: the file is new, or nothing of it is whole.
    private(set) var id: String?
    private(set) var owner = SyncEnginePendingOwner.nobody
    private(set) var records = KeyedList<CKSyncEngine.PendingRecordZoneChange>()
    private(set) var zones = KeyedList<CKSyncEngine.PendingDatabaseChange>()

    /// Whether the app has changes that it does not list; nil: the journal does not say, since nothing of it does or
    /// it was written by a version that did not.
    private(set) var untracked: Bool?

    /// Of accounts that are gone; the app has not heard of it.
    private(set) var unsent: [SyncEngineUnsentChanges] = []

    /// Lines that cannot be read any more, since the last one that begins a journal. What they said is not known: so nothing that
    /// a state has is done because the journal does not have it.
    private(set) var damagedLineCount = 0

    init() {}

    var isEmpty: Bool { records.isEmpty && zones.isEmpty && untracked != true && unsent.isEmpty }

    /// What a state does not have, whichever of the two is newer.
    var unsentOnly: SyncEngineJournalContents {
        var contents = SyncEngineJournalContents()
        contents.unsent = unsent
        return contents
    }

    /// What is pending in it, as that of its owner.
    var pendingOfOwner: SyncEngineUnsentChanges {
        SyncEngineUnsentChanges(
            owner: owner, records: records, zones: zones, hasUntrackedChanges: untracked == true)
    }

    /// Lines that are damaged are passed over, and counted; but for the last one, if it has no end: it was being written when
    /// the process or the machine ended, so that its call has not returned.
    ///
    /// - Throws: `version` for a journal of a later version of this module.
    init(bytes: [UInt8]) throws(SyncEngineJournalEntry.Damage) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            do throws(SyncEngineJournalEntry.Damage) {
                apply(try SyncEngineJournalEntry(line: line))
            } catch {
                if error == .version { throw error }
                if index + 1 < lines.count { damagedLineCount += 1 }
            }
        }
    }

    mutating func apply(_ entry: SyncEngineJournalEntry) {
        if let begin = entry.begin {
            self = SyncEngineJournalContents()
            id = begin.id
            owner = begin.user.map { .user($0) } ?? .nobody
        }
        for change in entry.put ?? [] {
            if let record = change.recordChange { records.add(record) } else { zones.add(change.zoneChange) }
        }
        for change in entry.drop ?? [] {
            if let record = change.recordID { records.remove(key: record) } else { zones.remove(key: change.zoneID) }
        }
        untracked = entry.untracked ?? untracked
        if entry.told == true { unsent = [] }
        unsent += (entry.unsent ?? []).map(\.changes)
    }

    /// The shortest journal that says the same.
    ///
    /// - Parameter id: the journal's.
    func summary(id: String) -> SyncEngineJournalEntry {
        SyncEngineJournalEntry(
            begin: .init(id: id, user: owner.userName),
            put: zones.elements.map { .init($0) } + records.elements.map { .init($0) }, untracked: untracked,
            unsent: unsent.isEmpty ? nil : unsent.map { .init($0) })
    }
}

/// Whose the pending changes are, as far as a journal says it.
enum SyncEnginePendingOwner: Equatable, Sendable {
    /// There is no journal: those of the user in the state.
    case unknown
    /// They were queued while nobody was signed in.
    case nobody
    case user(String)

    init(_ user: CKRecord.ID?) {
        self = user.map { .user($0.recordName) } ?? .nobody
    }

    var userName: String? {
        if case .user(let name) = self { name } else { nil }
    }
}
