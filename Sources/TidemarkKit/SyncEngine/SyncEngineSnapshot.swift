// SPDX-License-Identifier: Apache-2.0

/// The part of an engine's state that must outlive the process. It never contains records.
struct SyncEngineSnapshot: Sendable {
    static let identityByteCount = 16

    /// The engine's identity as a device: 16 random bytes, created once and then kept.
    var deviceIdentity: [UInt8]
    /// The user of the last account event.
    var user: CKRecord.ID?
    /// The subscription that was found or created.
    var subscriptionID: CKSubscription.ID?
    var databaseToken: CKServerChangeToken?
    /// While there is no token of the list of zones: the incarnation of the store of which the app may have something
    /// all the same. It sent something, or a process ended before its state was stored.
    var storeLife: UInt64?
    var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// Expired tokens, of the list of zones and of zones, while their feeds are read from the beginning.
    var expiredDatabaseToken: CKServerChangeToken?
    var expiredZoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// Zones that the app wants to be read from the beginning, until that has been done.
    var resyncZones: Set<CKRecordZone.ID> = []
    /// Whether it wants that of the list of zones.
    var resyncsZoneList = false
    /// After which tokens records were left out because their keys were missing. Unknown: from the beginning.
    var keylessTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// Zones of which the app may have something although the engine has no token for them: it sent to them, or they
    /// were gone when they should be read. A zone is removed when the next list names it.
    var tokenlessZones: Set<CKRecordZone.ID> = []
    /// In the order in which the server named them.
    var unfetchedZones = KeyedList<CKRecordZone.ID>()
    var pendingRecords = KeyedList<CKSyncEngine.PendingRecordZoneChange>()
    var pendingZones = KeyedList<CKSyncEngine.PendingDatabaseChange>()
    /// The batch that is being sent.
    var inFlightRecords: [CKSyncEngine.PendingRecordZoneChange] = []
    var inFlightZones: [CKSyncEngine.PendingDatabaseChange] = []
    /// Whether the app has changes that it does not list as pending.
    var hasUntrackedChanges = false

    /// Unsent changes of accounts that are gone, of which the app must hear. Not stored: the journal has them, and a
    /// state that was stored before has them as pending.
    var unsent: [SyncEngineUnsentChanges] = []

    /// The journal that the engine also writes, if there is one.
    var journalID: String?
    /// The owner of the pending changes. Not stored: the journal has it.
    var pendingOwner = SyncEnginePendingOwner.unknown

    init(deviceIdentity: [UInt8]) {
        self.deviceIdentity = deviceIdentity
    }

    var hasInFlight: Bool { !inFlightRecords.isEmpty || !inFlightZones.isEmpty }

    /// what was in flight when the process ended may not have arrived.
    mutating func restoreInFlight() {
        pendingRecords.restore(inFlightRecords)
        pendingZones.restore(inFlightZones)
        inFlightRecords = []
        inFlightZones = []
    }

    /// forgets everything about an account's data. Pending changes stay, and so does the device identity, which
    /// the server keeps for each account.
    mutating func forgetAccount() {
        restoreInFlight()
        user = nil
        subscriptionID = nil
        databaseToken = nil
        storeLife = nil
        zoneTokens = [:]
        expiredDatabaseToken = nil
        expiredZoneTokens = [:]
        resyncZones = []
        resyncsZoneList = false
        keylessTokens = [:]
        tokenlessZones = []
        unfetchedZones.removeAll()
    }

    mutating func forgetZone(_ zoneID: CKRecordZone.ID) {
        zoneTokens[zoneID] = nil
        expiredZoneTokens[zoneID] = nil
        resyncZones.remove(zoneID)
        keylessTokens[zoneID] = nil
        tokenlessZones.remove(zoneID)
        unfetchedZones.remove(key: zoneID)
    }
}
