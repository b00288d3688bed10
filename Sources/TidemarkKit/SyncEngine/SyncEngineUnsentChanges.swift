// SPDX-License-Identifier: Apache-2.0

/// Unsent changes of an account when another took its place. They are never sent for the other account. They
/// are kept until the app has heard of them, or until their account is back.
struct SyncEngineUnsentChanges: Sendable, Equatable {
    let owner: SyncEnginePendingOwner
    var records = KeyedList<CKSyncEngine.PendingRecordZoneChange>()
    var zones = KeyedList<CKSyncEngine.PendingDatabaseChange>()
    /// Whether there were changes that the app does not list.
    var hasUntrackedChanges = false

    var isEmpty: Bool { records.isEmpty && zones.isEmpty && !hasUntrackedChanges }
}

extension SyncEngineSnapshot {
    /// Sets aside what is pending or was in flight: it belongs to a user who is gone.
    mutating func setPendingAside() {
        restoreInFlight()
        let changes = SyncEngineUnsentChanges(
            owner: pendingOwner == .unknown ? SyncEnginePendingOwner(user) : pendingOwner, records: pendingRecords,
            zones: pendingZones, hasUntrackedChanges: hasUntrackedChanges)
        if !changes.isEmpty { unsent.append(changes) }
        pendingRecords.removeAll()
        pendingZones.removeAll()
        hasUntrackedChanges = false
    }

    /// Makes this user's set-aside changes pending again, and those for whoever signs in.
    mutating func takeBackPending(of user: CKRecord.ID?) {
        let owner = SyncEnginePendingOwner(user)
        for changes in unsent where changes.owner == owner || changes.owner == .nobody {
            pendingRecords.restore(changes.records.elements)
            pendingZones.restore(changes.zones.elements)
            hasUntrackedChanges = hasUntrackedChanges || changes.hasUntrackedChanges
        }
        unsent.removeAll { $0.owner == owner || $0.owner == .nobody }
    }
}
