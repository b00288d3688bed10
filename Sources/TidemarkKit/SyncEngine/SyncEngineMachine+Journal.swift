// SPDX-License-Identifier: Apache-2.0

/// What must be written into the journal, in the order of the events.
///
/// The journal has all changes that are pending or in flight. A sent change leaves it only when the delegate has
/// handled its result. Otherwise a change that the server refused would be lost if the process ended before the app
/// heard of it.
struct SyncEngineJournaling: Sendable {
    /// The journal's identity when it was last up to date.
    var id: String
    var entries: [SyncEngineJournalEntry] = []
    /// What was sent and is reported in the event that is being delivered.
    var settledRecords: [CKRecord.ID] = []
    var settledZones: [CKRecordZone.ID] = []
}

extension SyncEngineMachine {
    /// From now on the journal records what is pending.
    mutating func beginJournal(id: String, at moment: SyncEngineMoment) {
        journaling = SyncEngineJournaling(id: id)
        journalIs(id, at: moment)
    }

    /// Sets the journal's current identity; nil if it cannot be written and is out of date. The state says which.
    mutating func journalIs(_ id: String?, at moment: SyncEngineMoment) {
        guard let known = journaling?.id else { return }
        journaling?.id = id ?? known
        let told = id ?? SyncEngineSnapshot.left(known)
        guard snapshot.journalID != told else { return }
        snapshot.journalID = told
        noteChange(at: moment)
    }

    /// Returns what must be written, once.
    mutating func takeJournalEntries() -> [SyncEngineJournalEntry] {
        guard let entries = journaling?.entries, !entries.isEmpty else { return [] }
        journaling?.entries = []
        return entries
    }

    /// Records what must now be sent of these records and zones, which may be nothing.
    mutating func journal(_ recordIDs: [CKRecord.ID], _ zoneIDs: [CKRecordZone.ID] = []) {
        guard journaling != nil, !recordIDs.isEmpty || !zoneIDs.isEmpty else { return }
        let recordsInFlight = KeyedList(snapshot.inFlightRecords)
        let zonesInFlight = KeyedList(snapshot.inFlightZones)
        var put: [SyncEngineJournalEntry.Change] = []
        var drop: [SyncEngineJournalEntry.Change] = []
        for id in recordIDs {
            if let change = snapshot.pendingRecords[id] ?? recordsInFlight[id] {
                put.append(.init(change))
            } else {
                drop.append(.init(id))
            }
        }
        for id in zoneIDs {
            if let change = snapshot.pendingZones[id] ?? zonesInFlight[id] {
                put.append(.init(change))
            } else {
                drop.append(.init(id))
            }
        }
        journaling?.entries.append(
            SyncEngineJournalEntry(put: put.isEmpty ? nil : put, drop: drop.isEmpty ? nil : drop))
    }

    /// Records whether the app has changes that it does not list.
    mutating func journalUntrackedChanges() {
        journaling?.entries.append(SyncEngineJournalEntry(untracked: snapshot.hasUntrackedChanges))
    }

    /// These were sent. The journal records it when the event that reports them has been handled.
    mutating func journalWhenTold(_ recordIDs: [CKRecord.ID], _ zoneIDs: [CKRecordZone.ID] = []) {
        journaling?.settledRecords += recordIDs
        journaling?.settledZones += zoneIDs
    }

    /// The delegate has handled the last event.
    mutating func journalSettled() {
        guard let settled = journaling, !settled.settledRecords.isEmpty || !settled.settledZones.isEmpty else { return }
        journaling?.settledRecords = []
        journaling?.settledZones = []
        journal(settled.settledRecords, settled.settledZones)
    }

    // MARK: Whose changes are pending

    /// Whether the pending changes belong to this user, who is signed in now.
    func keepsPending(for user: CKRecord.ID?) -> Bool {
        switch snapshot.pendingOwner {
        case .unknown: snapshot.user == nil
        case .nobody: true
        case .user(let name): name == user?.recordName
        }
    }

    /// Makes the pending changes this user's. The journal begins anew with them.
    mutating func claimPending(for user: CKRecord.ID?) {
        snapshot.takeBackPending(of: user)
        guard let id = journaling?.id else { return }
        snapshot.pendingOwner = SyncEnginePendingOwner(user)
        let contents = SyncEngineJournalContents(of: snapshot, id: id)
        journaling?.entries.append(contents.summary(id: id))
    }

    /// The app has handled the event that says what will not be sent any more.
    mutating func toldUnsent() {
        guard !snapshot.unsent.isEmpty else { return }
        snapshot.unsent = []
        journaling?.entries.append(SyncEngineJournalEntry(told: true))
    }
}
