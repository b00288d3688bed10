// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkTelemetry
internal import TidemarkWire

/// The cloud of one sync engine. It has a separate connection, because each engine is a device.
final class EngineCloud: SyncEngineCloud, CloudConnectionObserver, CredentialObserver, KeyRingObserver, Sendable {
    /// The user who was signed in at the last call of ``currentUser()``.
    private struct Account {
        let user: String
        /// Its requests fail once there is another credential.
        let database: CloudDatabase
    }

    private struct State {
        weak var observer: (any SyncEngineCloudObserver)?
        var isClosed = false
        var hasToldAbsence = false
        var account: Account?
        var feed: FeedFollowMachine
        var pageRoom = PageRoom()
    }

    private static let log = Log("sync-engine")

    private let context: CloudContext
    private let scope: CKDatabase.Scope
    private let connection: CloudConnection
    private let state: Mutex<State>

    init(context: CloudContext, scope: CKDatabase.Scope, device: [UInt8], returningUser: String?) {
        self.context = context
        self.scope = scope
        state = Mutex(State(feed: FeedFollowMachine(returningUser: returningUser)))
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
        // The name may be that of another credential already, or of another user by the same one.
        guard generationInForce(of: database) != nil else { throw Self.mustAskAgain(.otherAccount) }
        state.withLock { state in
            state.feed.found(name)
            state.account = Account(user: name, database: database)
        }
        database.keys.observe(self)
        return CKRecord.ID(recordName: name)
    }

    var storeLife: UInt64? { connection.storeLife }

    var wantsReports: Bool { connection.wantsReports }

    func report(_ report: SyncEngineReport) -> Bool { connection.report(WirePendingReport(report)) }

    private func name(by database: CloudDatabase) async throws(CKError) -> String {
        do {
            return try await database.identify()
        } catch {
            // another credential took the place of the one that was asked for; whose it is has to be asked again.
            guard error.code == .notAuthenticated else { throw error }
            throw Self.mustAskAgain(error)
        }
    }

    private static func mustAskAgain(_ error: CKError) -> CKError {
        CKError(.accountTemporarilyUnavailable, message: error.localizedDescription)
    }

    /// There is no account only after a sign-out. A credential that is not configured says nothing about the account
    /// whose data the app has. The engine waits, and the log gives the reason once.
    private func nobody(_ absence: AccountAbsence) throws(CKError) -> CKRecord.ID? {
        let isSignedOut = absence == .signedOut
        let isNew = state.withLock { state in
            state.account = nil
            if isSignedOut { state.feed.found("") }
            defer { state.hasToldAbsence = !isSignedOut }
            return !state.hasToldAbsence
        }
        if isSignedOut { return nil }
        let error = CKError.noAccount(absence)
        if isNew { Self.log.warning("waits for an account", ["why": error.localizedDescription]) }
        throw error
    }

    /// No request is made before the account's user is known, and none that was decided for another user. This cloud may know of a switch
    /// before the engine does.
    private func database(for user: CKRecord.ID) throws(CKError) -> CloudDatabase {
        guard let account = state.withLock({ $0.account }) else { throw CKError.noAccount }
        guard account.user == user.recordName else { throw CKError.otherAccount }
        return account.database
    }

    func ensureSubscription(id: CKSubscription.ID?, for user: CKRecord.ID) async throws(CKError) -> CKSubscription.ID {
        let database = try database(for: user)
        let existing = try await database.allSubscriptions()
        let usable = existing.first { subscription in
            guard let subscription = subscription as? CKDatabaseSubscription else { return false }
            // One that an app narrowed to a record type would not tell of the others. A name is the app's choice.
            return id.map { $0 == subscription.subscriptionID } ?? (subscription.recordType == nil)
        }
        if let usable { return usable.subscriptionID }
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
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZoneResults {
        try await database(for: user).modifyZones(saving: zones, deleting: zoneIDs)
    }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineRecordResults {
        // the engine always asks for the check.
        let results = try await database(for: user).modifyRecords(
            saving: records, deleting: recordIDs, policy: .ifServerRecordUnchanged, atomically: atomicByZone)
        return SyncEngineRecordResults(saves: results.saves, deletes: results.deletes)
    }

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        try await databaseChanges(since: token, expecting: place, asPushed: asPushed, relyingOn: nil, for: user)
    }

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        relyingOn subscriptionID: CKSubscription.ID?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        let database = try database(for: user)
        let (generation, now) = (generationInForce(of: database), context.scheduler.now)
        let step = state.withLock {
            $0.feed.databasePage(since: token, expecting: place, asPushed: asPushed, generation: generation, at: now)
        }
        switch step {
        case .apply(let answer): return SyncEngineDatabasePage(answer)
        case .fetch(let fetch):
            let zoneRequest = place.map {
                database.zoneChangesRequest(
                    in: $0.zoneID, since: $0.token, limit: pageRoom.limit, withEnds: fetch.zoneWithEnds)
            }
            let answer = try await database.databaseChanges(
                since: token, withEnds: fetch.withEnds, then: zoneRequest, follows: asPushed, relyingOn: subscriptionID)
            state.withLock {
                $0.feed.answered(fetch, then: answer.zoneAnswer, generation: database.credentialGeneration)
            }
            return answer.page
        }
    }

    /// Nil: another credential has taken its place.
    private func generationInForce(of database: CloudDatabase) -> Int? {
        database.credentialGeneration == connection.credentialGeneration ? database.credentialGeneration : nil
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZonePage {
        let database = try database(for: user)
        let generation = generationInForce(of: database)
        let step = state.withLock {
            $0.feed.zonePage(.init(zoneID: zoneID, token: token), asOfFeed: asOfFeed, generation: generation)
        }
        let page =
            switch step {
            case .apply(let answer): try await database.zonePage(answer, in: zoneID, missingAssets: .leaveOut)
            case .fetch(let withEnds):
                try await fetchZoneChanges(in: zoneID, since: token, withEnds: withEnds, from: database)
            }
        state.withLock { $0.feed.fetched(zoneID) }
        var unreadable: [CKRecord.ID] = []
        var lacksKeys = false
        for case (let recordID, .failure(let error)) in page.modifications {
            // no event tells of it.
            unreadable.append(recordID)
            // the keys of the zone, rather than a key that the zone does not have any more.
            if error.code == .serverRejectedRequest { lacksKeys = true }
            Self.log.warning("a record cannot be read", ["zone": zoneID.zoneName, "code": "\(error.code)"])
        }
        var result = SyncEngineZonePage(
            modifications: page.modifications.compactMap { try? $0.result.get() }.map { .init(record: $0) },
            deletions: page.deletions, token: page.token, moreComing: page.moreComing)
        result.unreadableRecordIDs = unreadable
        result.lacksKeys = scope == .shared && lacksKeys
        return result
    }

    func zonesWithKeys(
        among zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> Set<CKRecordZone.ID> {
        Set(zoneIDs).subtracting(try await database(for: user).fetchKeys(of: zoneIDs).keys)
    }

    func inventory(
        of zoneID: CKRecordZone.ID, listingAfter name: String?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineInventory {
        try await database(for: user).inventory(of: zoneID, listingAfter: name)
    }

    private func fetchZoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, withEnds: Bool, from database: CloudDatabase
    ) async throws(CKError) -> CloudDatabase.FetchedZonePage {
        do throws(CKError) {
            let page = try await database.zoneChanges(
                in: zoneID, since: token, limit: pageRoom.limit, withEnds: withEnds, missingAssets: .leaveOut)
            state.withLock { $0.pageRoom.pageCame() }
            return page
        } catch {
            if error.code == .networkFailure { state.withLock { $0.pageRoom.pageDidNotCome() } }
            throw error
        }
    }

    private var pageRoom: PageRoom { state.withLock { $0.pageRoom } }

    // MARK: CloudConnectionObserver

    func connected(userRecordName: String, generation: Int) {
        let (observer, isOther) = state.withLock { state in
            let isOther = state.feed.user != nil && state.feed.user != userRecordName
            return (state.observer, isOther)
        }
        observer?.cloudDidChangeConnectivity(isOnline: true)
        if isOther { observer?.cloudDidChangeAccount() }
    }

    func disconnected() {
        missed()?.cloudDidChangeConnectivity(isOnline: false)
    }

    func refused(_ code: CKError.Code) {
        state.withLock { $0.observer }?.cloudDidChangeAccount()
    }

    func pushed(_ push: WirePush, generation: Int) { pushed(push) }

    func pushed(_ push: WirePush) {
        // It is for the app. An engine gets the same change by its own subscription.
        if push.kind == .query { return }
        let now = context.scheduler.now
        let (observer, isWanted) = state.withLock { state in
            guard let database = state.account?.database, push.database == database.wireScope else {
                return (state.observer, false)
            }
            state.feed.pushed(
                push.hasChanges ? push.changes : nil, generation: database.credentialGeneration, at: now)
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
        missed()?.cloudDidReceivePush(zoneIDs: [])
    }

    private func missed() -> (any SyncEngineCloudObserver)? {
        state.withLock { state in
            state.feed.missed()
            return state.observer
        }
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
        observer?.cloudDidImportKeys()
        observer?.cloudDidReceivePush(zoneIDs: [])
        observer?.cloudDidChangeConnectivity(isOnline: true)
    }
}
