// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkWire

/// The cloud of one sync engine: a connection of its own, because each engine is a device.
final class EngineCloud: SyncEngineCloud, CloudConnectionObserver, CredentialObserver, KeyRingObserver, Sendable {
    private struct State {
        weak var observer: (any SyncEngineCloudObserver)?
        var isClosed = false
        var user: String?
        /// For the account that ``currentUser()`` found last; its requests fail once that has changed.
        var database: CloudDatabase?
        /// What the app may have stored something of, whatever the engine's tokens say: of it ends are asked for even
        /// without a token, since a process may die between the records and the state that has their token.
        var isReturning: Bool
        var hasFetchedZones = false
        var fetchedZones: Set<CKRecordZone.ID> = []
    }

    private let context: CloudContext
    private let scope: CKDatabase.Scope
    private let connection: CloudConnection
    private let state: Mutex<State>

    init(context: CloudContext, scope: CKDatabase.Scope, device: [UInt8], isReturning: Bool) {
        self.context = context
        self.scope = scope
        state = Mutex(State(isReturning: isReturning))
        connection = context.makeConnection(device: device)
    }

    func setObserver(_ observer: any SyncEngineCloudObserver) {
        state.withLock { $0.observer = observer }
        context.observeCredential(self)
        if context.hasCredential { connection.observe(self) }
    }

    func close() {
        state.withLock { state in
            state.observer = nil
            state.isClosed = true
        }
        connection.stop()
    }

    // MARK: Requests

    func currentUser() async throws(CKError) -> CKRecord.ID? {
        guard context.hasCredential else {
            state.withLock { $0.database = nil }
            return nil
        }
        let database = context.database(scope, on: connection)
        do {
            let name = try await database.identify()
            state.withLock { state in
                state.user = name
                state.database = name.isEmpty ? nil : database
            }
            database.keys.observe(self)
            return name.isEmpty ? nil : CKRecord.ID(recordName: name)
        } catch {
            // another credential took the place of the one that was asked for; whose it is has to be asked again.
            guard error.code == .notAuthenticated else { throw error }
            throw CKError(.accountTemporarilyUnavailable, message: error.localizedDescription)
        }
    }

    /// Nothing is asked for an account before it is known whose it is.
    private func database() throws(CKError) -> CloudDatabase {
        guard let database = state.withLock({ $0.database }) else { throw CKError.noAccount }
        return database
    }

    func ensureSubscription(id: CKSubscription.ID?) async throws(CKError) -> CKSubscription.ID {
        let database = try database()
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
        try await database().modifyZones(saving: zones, deleting: zoneIDs)
    }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool
    ) async throws(CKError) -> SyncEngineRecordResults {
        // the engine always asks for the check.
        let results = try await database().modifyRecords(
            saving: records, deleting: recordIDs, policy: .ifServerRecordUnchanged, atomically: atomicByZone)
        return SyncEngineRecordResults(saves: results.saves, deletes: results.deletes)
    }

    func databaseChanges(since token: CKServerChangeToken?) async throws(CKError) -> SyncEngineDatabasePage {
        let withEnds = state.withLock { $0.isReturning || $0.hasFetchedZones }
        let page = try await database().databaseChanges(since: token, withEnds: withEnds)
        state.withLock { $0.hasFetchedZones = true }
        return page
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws(CKError) -> SyncEngineZonePage {
        let withEnds = state.withLock { $0.isReturning || $0.fetchedZones.contains(zoneID) }
        let page = try await database().zoneChanges(
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
        let (observer, database) = state.withLock { ($0.observer, $0.database) }
        guard push.database == database?.wireScope else { return }
        observer?.cloudDidReceivePush(zoneIDs: push.zones.map(CKRecordZone.ID.init))
    }

    // MARK: CredentialObserver

    func credentialChanged() {
        // Connections of nobody are not kept up.
        if context.hasCredential, !state.withLock({ $0.isClosed }) { connection.observe(self) }
        state.withLock { $0.observer }?.cloudDidChangeAccount()
    }

    // MARK: KeyRingObserver

    /// Zones that could not be read are fetched again, and what could not be sent is sent.
    func keysImported() {
        let observer = state.withLock { $0.observer }
        observer?.cloudDidReceivePush(zoneIDs: [])
        observer?.cloudDidChangeConnectivity(isOnline: true)
    }
}
