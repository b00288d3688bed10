// SPDX-License-Identifier: Apache-2.0

/// What an engine knows that must outlive the process. Records themselves are never in it.
struct SyncEngineSnapshot: Sendable {
    static let identityByteCount = 16

    /// The engine's identity as a device: 16 random bytes, made once and kept for good.
    var deviceIdentity: [UInt8]
    /// The user of the last account event.
    var user: CKRecord.ID?
    /// The subscription that was found or made.
    var subscriptionID: CKSubscription.ID?
    var databaseToken: CKServerChangeToken?
    var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// Tokens that have expired, while what they were for is read from its beginning: of the list of zones, and of zones.
    var expiredDatabaseToken: CKServerChangeToken?
    var expiredZoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    /// Zones of which the app may have something although the engine has no token of them: it sent to them, or they were gone
    /// when they were to be read. The next list that names such a zone takes it out.
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

    /// Of accounts that are gone, for the app to hear of. Not stored: the journal says it, and a state that was stored before
    /// has it as pending.
    var unsent: [SyncEngineUnsentChanges] = []

    /// The journal that the engine writes besides, if it does.
    var journalID: String?
    /// Whose the pending changes are. Not stored: the journal says it.
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

    /// forgets all that is known of an account's data. What is pending stays, and the device identity: the server keys
    /// it by account.
    mutating func forgetAccount() {
        restoreInFlight()
        user = nil
        subscriptionID = nil
        databaseToken = nil
        zoneTokens = [:]
        expiredDatabaseToken = nil
        expiredZoneTokens = [:]
        tokenlessZones = []
        unfetchedZones.removeAll()
    }

    mutating func forgetZone(_ zoneID: CKRecordZone.ID) {
        zoneTokens[zoneID] = nil
        expiredZoneTokens[zoneID] = nil
        tokenlessZones.remove(zoneID)
        unfetchedZones.remove(key: zoneID)
    }
}
