// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkWire

/// The cloud of one sync engine: a connection of its own, because each engine is a device.
final class EngineCloud: SyncEngineCloud, CloudConnectionObserver, KeyRingObserver, Sendable {
    private struct State {
        weak var observer: (any SyncEngineCloudObserver)?
        var user: String?
        /// What the app may have stored something of, whatever the engine's tokens say: of it ends are asked for even
        /// without a token, since a process may die between the records and the state that has their token.
        var isReturning: Bool
        var hasFetchedZones = false
        var fetchedZones: Set<CKRecordZone.ID> = []
    }

    private let context: CloudContext
    private let database: CloudDatabase
    private let state: Mutex<State>

    init(context: CloudContext, scope: CKDatabase.Scope, device: [UInt8], isReturning: Bool) {
        self.context = context
        state = Mutex(State(isReturning: isReturning))
        database = CloudDatabase(connection: context.makeConnection(device: device), scope: scope, keys: context.keys)
    }

    func setObserver(_ observer: any SyncEngineCloudObserver) {
        state.withLock { $0.observer = observer }
        context.keys.observe(self)
        if context.hasCredential { database.connection.observe(self) }
    }

    func close() {
        state.withLock { $0.observer = nil }
        database.connection.stop()
    }

    // MARK: Requests

    func currentUser() async throws(CKError) -> CKRecord.ID? {
        guard context.hasCredential else { return nil }
        do {
            let name = try await database.connection.identify()
            state.withLock { $0.user = name }
            return name.isEmpty ? nil : CKRecord.ID(recordName: name)
        } catch {
            // there is a credential, but it is not good at the moment.
            guard error.code == .notAuthenticated else { throw error }
            throw CKError(.accountTemporarilyUnavailable, message: error.localizedDescription)
        }
    }

    func ensureSubscription(id: CKSubscription.ID?) async throws(CKError) -> CKSubscription.ID {
        let existing = try await database.allSubscriptions()
        if let found = existing.first(where: {
            $0.subscriptionType == .database && (id == nil || $0.subscriptionID == id)
        }) {
            return found.subscriptionID
        }
        let subscription = CKDatabaseSubscription(subscriptionID: id ?? "tidemark-sync-engine")
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        let results = try await database.modifySubscriptions(saving: [subscription], deleting: [])
        guard let result = results.saves[subscription.subscriptionID] else { throw CloudDatabase.wrongAnswer }
        return try result.get().subscriptionID
    }

    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID]
    ) async throws(CKError) -> SyncEngineZoneResults {
        try await database.modifyZones(saving: zones, deleting: zoneIDs)
    }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool
    ) async throws(CKError) -> SyncEngineRecordResults {
        // the engine always asks for the check.
        let results = try await database.modifyRecords(
            saving: records, deleting: recordIDs, policy: .ifServerRecordUnchanged, atomically: atomicByZone)
        return SyncEngineRecordResults(saves: results.saves, deletes: results.deletes)
    }

    func databaseChanges(since token: CKServerChangeToken?) async throws(CKError) -> SyncEngineDatabasePage {
        let withEnds = state.withLock { $0.isReturning || $0.hasFetchedZones }
        let page = try await database.databaseChanges(since: token, withEnds: withEnds)
        state.withLock { $0.hasFetchedZones = true }
        return page
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws(CKError) -> SyncEngineZonePage {
        let withEnds = state.withLock { $0.isReturning || $0.fetchedZones.contains(zoneID) }
        let page = try await database.zoneChanges(
            in: zoneID, since: token, withEnds: withEnds, missingAssets: .leaveOut)
        state.withLock { _ = $0.fetchedZones.insert(zoneID) }
        return SyncEngineZonePage(
            modifications: page.modifications.compactMap { try? $0.result.get() }.map { .init(record: $0) },
            deletions: page.deletions, token: page.token, moreComing: page.moreComing)
    }

    // MARK: CloudConnectionObserver

    func connected(userRecordName: String) {
        let (observer, isOther) = state.withLock { state in
            let isOther = state.user != nil && state.user != userRecordName
            return (state.observer, isOther)
        }
        observer?.cloudDidChangeConnectivity(isOnline: true)
        if isOther { observer?.cloudDidChangeAccount() }
    }

    func disconnected() {
        state.withLock { $0.observer }?.cloudDidChangeConnectivity(isOnline: false)
    }

    func refused(_ code: CKError.Code) {
        state.withLock { $0.observer }?.cloudDidChangeAccount()
    }

    func pushed(_ push: WirePush) {
        guard push.database == database.wireScope else { return }
        state.withLock { $0.observer }?.cloudDidReceivePush(zoneIDs: push.zones.map(CKRecordZone.ID.init))
    }

    // MARK: KeyRingObserver

    /// Zones that could not be read are fetched again, and what could not be sent is sent.
    func keysImported() {
        let observer = state.withLock { $0.observer }
        observer?.cloudDidReceivePush(zoneIDs: [])
        observer?.cloudDidChangeConnectivity(isOnline: true)
    }
}
