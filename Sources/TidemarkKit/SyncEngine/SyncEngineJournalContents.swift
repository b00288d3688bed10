// SPDX-License-Identifier: Apache-2.0

/// The content of a journal, read from its beginning.
struct SyncEngineJournalContents: Sendable {
    /// Nil if no line begins it: the file is new, or has no whole line.
    private(set) var id: String?
    private(set) var owner = SyncEnginePendingOwner.nobody
    private(set) var records = KeyedList<CKSyncEngine.PendingRecordZoneChange>()
    private(set) var zones = KeyedList<CKSyncEngine.PendingDatabaseChange>()

    /// Whether the app has changes that it does not list. Nil if the journal does not say, because it is empty
    /// or of an older version.
    private(set) var untracked: Bool?

    /// Unsent changes of accounts that are gone, of which the app has not heard yet.
    private(set) var unsent: [SyncEngineUnsentChanges] = []

    /// Lines since the last beginning that cannot be read. Their content is unknown, so a change in a state is not
    /// considered done just because the journal lacks it.
    private(set) var damagedLineCount = 0

    init() {}

    var isEmpty: Bool { records.isEmpty && zones.isEmpty && untracked != true && unsent.isEmpty }

    /// What a state does not have, whichever of the two is newer.
    var unsentOnly: SyncEngineJournalContents {
        var contents = SyncEngineJournalContents()
        contents.unsent = unsent
        return contents
    }

    /// Its pending changes, as those of its owner.
    var pendingOfOwner: SyncEngineUnsentChanges {
        SyncEngineUnsentChanges(
            owner: owner, records: records, zones: zones, hasUntrackedChanges: untracked == true)
    }

    /// Skips damaged lines, and counts them. The last line is not counted if it has no end: it was being written when
    /// the process or the machine ended, so its call has not returned.
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

    /// The shortest journal with the same content.
    ///
    /// - Parameter id: the identity of the journal.
    func summary(id: String) -> SyncEngineJournalEntry {
        SyncEngineJournalEntry(
            begin: .init(id: id, user: owner.userName),
            put: zones.elements.map { .init($0) } + records.elements.map { .init($0) }, untracked: untracked,
            unsent: unsent.isEmpty ? nil : unsent.map { .init($0) })
    }
}

/// The owner of pending changes, as far as a journal says.
enum SyncEnginePendingOwner: Equatable, Sendable {
    /// There is no journal: they belong to the user in the state.
    case unknown
    /// They were added while nobody was signed in.
    case nobody
    case user(String)

    init(_ user: CKRecord.ID?) {
        self = user.map { .user($0.recordName) } ?? .nobody
    }

    var userName: String? {
        if case .user(let name) = self { name } else { nil }
    }
}
