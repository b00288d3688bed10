// SPDX-License-Identifier: Apache-2.0

package import TidemarkScheduling

/// The cloud as one sync engine sees it: everything that the engine asks of a server, and nothing else.
///
/// There is one for each engine, with that engine's own device identity. The identity goes with every
/// request, so that pushes about one engine's changes reach the others, even in the same process. The connection
/// implements this on a real socket; tests and the simulation implement it in memory.
///
/// Rules for implementations:
/// - Every method may be called from any executor, and several requests may be under way at once.
/// - Cancelling the calling task ends the request soon, with `operationCancelled`. It may still take effect on the
///   server.
/// - The implementation can safely repeat requests that change data. If it cannot get an answer, the error is
///   `serverResponseLost`.
/// - If the account changes, a request under way fails (`operationCancelled` or `notAuthenticated`). Later requests
///   fail with `notAuthenticated` until ``currentUser()`` has been called again. So nothing of one account is ever sent
///   to another.
/// - Each request names the user for whom the engine decided it. If ``currentUser()`` has found another one meanwhile,
///   the request is not sent, and fails with `notAuthenticated`. The engine may not have heard of it yet.
/// - Without a network a request fails at once with `networkUnavailable`. The engine knows when to try again.
package protocol SyncEngineCloud: AnyObject, Sendable {
    /// Sets the observer. Called once, before any request. It is not called any more after ``close()``.
    ///
    /// If the cloud is known to be unreachable now, the observer is told so.
    func setObserver(_ observer: any SyncEngineCloudObserver)

    /// The user who is signed in; nil if somebody has signed out.
    ///
    /// - Throws: `accountTemporarilyUnavailable` if somebody is signed in but the credential is not valid now;
    ///   `notAuthenticated` if it is unknown who should be signed in; any other error if it cannot be found out now.
    func currentUser() async throws(CKError) -> CKRecord.ID?

    /// The incarnation of the store when ``currentUser()`` was answered; nil: the server does not say.
    var storeLife: UInt64? { get }

    /// Makes sure that the account has a database subscription, so that pushes come.
    ///
    /// - Parameter id: the subscription to use, which is created if it does not exist. Nil: any existing database
    ///   subscription, otherwise a new silent one.
    /// - Returns: the subscription's ID.
    func ensureSubscription(id: CKSubscription.ID?, for user: CKRecord.ID) async throws(CKError) -> CKSubscription.ID

    /// Saves and deletes zones, each with its own result.
    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZoneResults

    /// Saves and deletes records with the policy `ifServerRecordUnchanged`.
    ///
    /// - Parameter atomicByZone: whether the items of one zone succeed or fail together.
    /// - Returns: one result for every item.
    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineRecordResults

    /// One page of the database feed.
    ///
    /// - Parameters:
    ///   - place: where the engine probably reads next, so that this may come in the same round trip. The zone may
    ///     not have changed, and is then not read.
    ///   - asPushed: whether the page may be what a push brought, if nothing else was pushed since. Otherwise it shows
    ///     everything that was committed before the call.
    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage

    /// As above. The answer also says whether the subscription on which the engine relies is gone.
    ///
    /// - Parameter subscriptionID: nil if there is none.
    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        relyingOn subscriptionID: CKSubscription.ID?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage

    /// One page of a zone's feed: whole records, oldest change first.
    ///
    /// - Parameter asOfFeed: whether the page may be one that was read right after the last page of the database feed.
    ///   Otherwise it shows everything that was committed before the call.
    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZonePage

    /// What the server has of a zone, without its records.
    ///
    /// - Parameter name: the name after which a page of names begins, empty for the first page; nil: no names are wanted.
    func inventory(
        of zoneID: CKRecordZone.ID, listingAfter name: String?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineInventory

    /// Of zones of others whose keys were missing: those of which all keys are on this device now.
    func zonesWithKeys(
        among zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> Set<CKRecordZone.ID>

    /// Whether the server wants to be told what the engine has not sent yet.
    var wantsReports: Bool { get }

    /// Tells the server what the engine has not sent yet.
    ///
    /// - Returns: whether it was sent.
    func report(_ report: SyncEngineReport) -> Bool

    /// The engine is gone: drop the observer, and everything that serves this engine alone. Called once, last.
    func close()
}

extension SyncEngineCloud {
    /// For clouds that have no operator.
    package var wantsReports: Bool { false }
    package func report(_ report: SyncEngineReport) -> Bool { false }

    /// For clouds that are never restored.
    package var storeLife: UInt64? { nil }

    /// For clouds that cannot say it.
    package func inventory(
        of zoneID: CKRecordZone.ID, listingAfter name: String?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineInventory {
        throw CKError(.serverRejectedRequest)
    }

    /// For clouds that encrypt nothing.
    package func zonesWithKeys(
        among zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> Set<CKRecordZone.ID> { [] }

    /// For clouds that lose no subscriptions.
    package func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        relyingOn subscriptionID: CKSubscription.ID?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        try await databaseChanges(since: token, expecting: place, asPushed: asPushed, for: user)
    }
}

/// How far an engine has read in a zone's feed.
package struct SyncEngineZonePlace: Sendable, Equatable {
    package let zoneID: CKRecordZone.ID
    /// Nil if it has read nothing yet.
    package let token: CKServerChangeToken?

    package init(zoneID: CKRecordZone.ID, token: CKServerChangeToken?) {
        self.zoneID = zoneID
        self.token = token
    }
}

/// Receives events of a cloud for its engine. Callable from any thread; returns at once.
package protocol SyncEngineCloudObserver: AnyObject, Sendable {
    /// Something changed on the server.
    ///
    /// - Parameter zoneIDs: the changed zones if known; otherwise empty. A hint (I-4): it may be wrong, late or lost.
    func cloudDidReceivePush(zoneIDs: [CKRecordZone.ID])

    /// The app has brought keys to this device, by which records may be readable that were not.
    func cloudDidImportKeys()

    /// The server has become reachable or unreachable.
    func cloudDidChangeConnectivity(isOnline: Bool)

    /// Somebody has signed in or out, or the credential has become valid or invalid. Call
    /// ``SyncEngineCloud/currentUser()`` again.
    func cloudDidChangeAccount()

    /// Another device uses this engine's identity, for example a copy of the device. From now on the engine has a new
    /// one.
    ///
    /// - Parameter identity: 16 bytes, to be stored.
    func cloudDidReplaceDevice(by identity: [UInt8])
}

/// The results of saving and deleting zones.
package struct SyncEngineZoneResults: Sendable {
    package var saves: [CKRecordZone.ID: Result<CKRecordZone, CKError>]
    package var deletes: [CKRecordZone.ID: Result<Void, CKError>]

    package init(
        saves: [CKRecordZone.ID: Result<CKRecordZone, CKError>] = [:],
        deletes: [CKRecordZone.ID: Result<Void, CKError>] = [:]
    ) {
        self.saves = saves
        self.deletes = deletes
    }
}

/// The results of saving and deleting records.
package struct SyncEngineRecordResults: Sendable {
    /// Saved records carry their new tags.
    package var saves: [CKRecord.ID: Result<CKRecord, CKError>]
    package var deletes: [CKRecord.ID: Result<Void, CKError>]

    var hasFailures: Bool {
        saves.values.contains { if case .failure = $0 { true } else { false } }
            || deletes.values.contains { if case .failure = $0 { true } else { false } }
    }

    package init(
        saves: [CKRecord.ID: Result<CKRecord, CKError>] = [:],
        deletes: [CKRecord.ID: Result<Void, CKError>] = [:]
    ) {
        self.saves = saves
        self.deletes = deletes
    }
}

/// One page of the database feed.
package struct SyncEngineDatabasePage: Sendable {
    package var modifications: [CKDatabase.DatabaseChange.Modification]
    package var deletions: [CKDatabase.DatabaseChange.Deletion]
    package var token: CKServerChangeToken
    package var moreComing: Bool
    /// The subscription on which the engine relied, if it is gone.
    package var missingSubscriptionID: CKSubscription.ID?

    var isEmpty: Bool { modifications.isEmpty && deletions.isEmpty }

    package init(
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion],
        token: CKServerChangeToken,
        moreComing: Bool
    ) {
        self.modifications = modifications
        self.deletions = deletions
        self.token = token
        self.moreComing = moreComing
    }
}

/// One page of a zone's feed.
package struct SyncEngineZonePage: Sendable {
    package var modifications: [CKDatabase.RecordZoneChange.Modification]
    package var deletions: [CKDatabase.RecordZoneChange.Deletion]
    /// Records that exist and cannot be delivered. No event reports them.
    package var unreadableRecordIDs: [CKRecord.ID] = []
    /// Whether some of them only wait for keys of the zone.
    package var lacksKeys = false

    var isEmpty: Bool { modifications.isEmpty && deletions.isEmpty }
    package var token: CKServerChangeToken
    package var moreComing: Bool

    package init(
        modifications: [CKDatabase.RecordZoneChange.Modification],
        deletions: [CKDatabase.RecordZoneChange.Deletion],
        token: CKServerChangeToken,
        moreComing: Bool
    ) {
        self.modifications = modifications
        self.deletions = deletions
        self.token = token
        self.moreComing = moreComing
    }
}

/// What a server has of a zone at one moment.
package struct SyncEngineInventory: Sendable {
    /// What a fetch that ends at that moment would get.
    package let token: CKServerChangeToken
    /// How many records live; 0 without a digest.
    package let recordCount: UInt64
    /// As `VersionDigest.bytes`; empty: the server does not know it.
    package let digest: [UInt8]
    /// A page of names, each with its number, by the bytes of the names.
    package var versions: [(name: String, number: UInt64)] = []
    /// Where the next page begins; nil: there is none.
    package var next: String?

    package init(token: CKServerChangeToken, recordCount: UInt64, digest: [UInt8]) {
        self.token = token
        self.recordCount = recordCount
        self.digest = digest
    }
}

/// Where engines of a database run: what makes their clouds, and the scheduler of each engine's task, timers and
/// delegate callbacks. That scheduler is never an I/O loop, because delegates may take their time.
package struct SyncEngineHost: Sendable {
    package let scheduler: any Scheduler
    /// Makes the cloud of one engine. It must not block.
    ///
    /// - Parameters:
    ///   - deviceIdentity: 16 random bytes from the engine's state. They outlive the process, and two engines
    ///     may use one state at the same time: the IDs of requests must differ in each.
    ///   - returningUser: the record name of the user whose stored state the engine continues, if there was one. The
    ///     app may have stored more of this user's data than the state knows: what it fetched without a token may have
    ///     been deleted since. Of any other user it has stored nothing, and must not receive deletions.
    package let makeCloud: @Sendable (_ deviceIdentity: [UInt8], _ returningUser: String?) -> any SyncEngineCloud

    /// Called when an engine begins and ends work, including its delegate's callbacks, for whoever waits until all
    /// engines are idle.
    package let atWork: (@Sendable (_ begins: Bool) -> Void)?

    /// Where engines keep their journals.
    var journalFiles: any JournalFiles = JournalDisk()

    package init(
        scheduler: any Scheduler = GlobalScheduler(), atWork: (@Sendable (_ begins: Bool) -> Void)? = nil,
        makeCloud: @escaping @Sendable (_ deviceIdentity: [UInt8], _ returningUser: String?) -> any SyncEngineCloud
    ) {
        self.scheduler = scheduler
        self.atWork = atWork
        self.makeCloud = makeCloud
    }
}

/// Context of an engine's requests besides their arguments.
package enum SyncEngineRequestContext {
    /// The group of the options with which the request is made, sent for logging only.
    @TaskLocal package static var operationGroup: CKOperationGroup?
}
