// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkTelemetry
internal import TidemarkWire

/// The cloud of one sync engine: a connection of its own, because each engine is a device.
final class EngineCloud: SyncEngineCloud, CloudConnectionObserver, CredentialObserver, KeyRingObserver, Sendable {
    private struct State {
        weak var observer: (any SyncEngineCloudObserver)?
        var isClosed = false
        var hasToldAbsence = false
        var user: String?
        /// For the account that ``currentUser()`` found last; its requests fail once that has changed.
        var database: CloudDatabase?
        /// Whose state the engine goes on from; nil: nobody's.
        let returningUser: String?
        /// What the app may have stored something of, whatever the engine's tokens say: of it ends are asked for even
        /// without a token, since a process may die between the records and the state that has their token. Of another user's
        /// the app has nothing: to be told of ends would make it drop what it is to send.
        var isReturning = false
        var hasFetchedZones = false
        var fetchedZones: Set<CKRecordZone.ID> = []
        /// What came with the last page of the database's feed.
        var attached: AttachedPage?
        /// What the last push brought.
        var pushed: (changes: WirePushedChanges, credentialGeneration: Int, at: Duration)?
        /// Pushes that brought nothing, and cuts, and how many of them there were when the feed was last asked for: while there are
        /// more, what pushes bring is not all.
        var gapCount = 0
        var gapsAsked = 0

        init(returningUser: String?) {
            self.returningUser = returningUser
        }

        /// - Parameter name: empty: nobody is signed in.
        mutating func found(_ name: String) {
            guard user != name else { return }
            isReturning = user == nil && name == returningUser
            (hasFetchedZones, fetchedZones, attached, pushed) = (false, [], nil, nil)
            user = name
        }

        /// An engine that takes what it was pushed does so at once.
        private static let pushedAgeMax: Duration = .seconds(2)

        func wantsEnds(of zoneID: CKRecordZone.ID) -> Bool { isReturning || fetchedZones.contains(zoneID) }

        /// What the last push brought, if that is what is asked for. Nothing is kept for later.
        mutating func takePushed(
            since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, in database: CloudDatabase,
            now: Duration, asPushed: Bool
        ) -> SyncEngineDatabasePage? {
            defer { pushed = nil }
            guard asPushed, gapCount == gapsAsked, let pushed, let place, now - pushed.at <= Self.pushedAgeMax,
                pushed.credentialGeneration == database.credentialGeneration,
                pushed.changes.databaseToken == token?.bytes,
                pushed.changes.zoneToken == place.token?.bytes,
                CKRecordZone.ID(pushed.changes.zone) == place.zoneID, pushed.changes.answer.hasThen
            else { return nil }
            attached = AttachedPage(
                place: place, answer: pushed.changes.answer.then, credentialGeneration: pushed.credentialGeneration)
            return SyncEngineDatabasePage(pushed.changes.answer)
        }
    }

    /// A page of a zone's feed that came with one of the database's.
    private struct AttachedPage {
        let place: SyncEngineZonePlace
        let answer: WireFetchZoneChangesAnswer
        let credentialGeneration: Int
    }

    private static let log = Log("sync-engine")

    private let context: CloudContext
    private let scope: CKDatabase.Scope
    private let connection: CloudConnection
    private let state: Mutex<State>

    init(context: CloudContext, scope: CKDatabase.Scope, device: [UInt8], returningUser: String?) {
        self.context = context
        self.scope = scope
        state = Mutex(State(returningUser: returningUser))
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
        if let absence = context.absence { return try nobody(absence) }
        let database = context.database(scope, on: connection)
        let name = try await name(by: database)
        // Somebody has signed out meanwhile; else a server that knows the credential and not the user.
        if name.isEmpty { return try nobody(context.absence ?? .notConfigured("the server does not name the user.")) }
        state.withLock { state in
            state.found(name)
            state.database = database
        }
        database.keys.observe(self)
        return CKRecord.ID(recordName: name)
    }

    private func name(by database: CloudDatabase) async throws(CKError) -> String {
        do {
            return try await database.identify()
        } catch {
            // another credential took the place of the one that was asked for; whose it is has to be asked again.
            guard error.code == .notAuthenticated else { throw error }
            throw CKError(.accountTemporarilyUnavailable, message: error.localizedDescription)
        }
    }

    /// Only who has signed out has no account any more. A credential that is not configured says nothing of the account
    /// whose data the app has: the engine waits, and the log says once what for.
    private func nobody(_ absence: AccountAbsence) throws(CKError) -> CKRecord.ID? {
        let isSignedOut = absence == .signedOut
        let isNew = state.withLock { state in
            state.database = nil
            if isSignedOut { state.found("") }
            defer { state.hasToldAbsence = !isSignedOut }
            return !state.hasToldAbsence
        }
        if isSignedOut { return nil }
        let error = CKError.noAccount(absence)
        if isNew { Self.log.warning("waits for an account", ["why": error.localizedDescription]) }
        throw error
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
        guard let result = results.saves[subscription.subscriptionID] else {
            throw CloudDatabase.wrongAnswer(to: .modifySubscriptions)
        }
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

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool
    ) async throws(CKError) -> SyncEngineDatabasePage {
        try await databaseChanges(since: token, expecting: place, asPushed: asPushed, relyingOn: nil)
    }

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        relyingOn subscriptionID: CKSubscription.ID?
    ) async throws(CKError) -> SyncEngineDatabasePage {
        let database = try database()
        let now = context.scheduler.now
        if let page = state.withLock({ state in
            state.takePushed(since: token, expecting: place, in: database, now: now, asPushed: asPushed)
        }), database.credentialGeneration == connection.credentialGeneration {
            return page
        }
        let (withEnds, zoneWithEnds, gapCount) = state.withLock { state in
            state.attached = nil
            return (
                state.isReturning || state.hasFetchedZones, place.map { state.wantsEnds(of: $0.zoneID) } ?? false,
                state.gapCount
            )
        }
        let zoneRequest = place.map {
            database.zoneChangesRequest(in: $0.zoneID, since: $0.token, withEnds: zoneWithEnds)
        }
        let answer = try await database.databaseChanges(
            since: token, withEnds: withEnds, then: zoneRequest, follows: asPushed, relyingOn: subscriptionID)
        state.withLock { state in
            state.hasFetchedZones = true
            state.gapsAsked = gapCount
            guard let place, let zoneAnswer = answer.zoneAnswer else { return }
            state.attached = AttachedPage(
                place: place, answer: zoneAnswer, credentialGeneration: database.credentialGeneration)
        }
        return answer.page
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool
    ) async throws(CKError) -> SyncEngineZonePage {
        let database = try database()
        let (withEnds, attached) = state.withLock { state in
            defer { state.attached = nil }
            return (state.wantsEnds(of: zoneID), asOfFeed ? state.attached : nil)
        }
        let page: CloudDatabase.ZonePage
        if let attached, attached.place == SyncEngineZonePlace(zoneID: zoneID, token: token),
            attached.credentialGeneration == database.credentialGeneration,
            attached.credentialGeneration == connection.credentialGeneration
        {
            page = try await database.zonePage(attached.answer, in: zoneID, missingAssets: .leaveOut)
        } else {
            page = try await database.zoneChanges(
                in: zoneID, since: token, withEnds: withEnds, missingAssets: .leaveOut)
        }
        state.withLock { _ = $0.fetchedZones.insert(zoneID) }
        var unreadable: [CKRecord.ID] = []
        for case (let recordID, .failure(let error)) in page.modifications {
            // no event tells of it.
            unreadable.append(recordID)
            Self.log.warning("a record cannot be read", ["zone": zoneID.zoneName, "code": "\(error.code)"])
        }
        var result = SyncEngineZonePage(
            modifications: page.modifications.compactMap { try? $0.result.get() }.map { .init(record: $0) },
            deletions: page.deletions, token: page.token, moreComing: page.moreComing)
        result.unreadableRecordIDs = unreadable
        return result
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
        state.withLock { $0.gapCount += 1 }
        state.withLock { $0.observer }?.cloudDidChangeConnectivity(isOnline: false)
    }

    func refused(_ code: CKError.Code) {
        state.withLock { $0.observer }?.cloudDidChangeAccount()
    }

    func pushed(_ push: WirePush) {
        let now = context.scheduler.now
        let (observer, isWanted) = state.withLock { state in
            guard let database = state.database, push.database == database.wireScope else {
                return (state.observer, false)
            }
            if !push.hasChanges { state.gapCount += 1 }
            state.pushed =
                state.gapCount == state.gapsAsked ? (push.changes, database.credentialGeneration, now) : nil
            return (state.observer, true)
        }
        guard isWanted else { return }
        observer?.cloudDidReceivePush(zoneIDs: push.zones.map(CKRecordZone.ID.init))
    }

    func deviceReplaced(by device: [UInt8]) {
        Self.log.info("another device has this identity, such as a copy: this one takes a new one")
        state.withLock { $0.observer }?.cloudDidReplaceDevice(by: device)
    }

    func missedPushes() {
        let observer = state.withLock { state in
            state.gapCount += 1
            state.pushed = nil
            return state.observer
        }
        observer?.cloudDidReceivePush(zoneIDs: [])
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
