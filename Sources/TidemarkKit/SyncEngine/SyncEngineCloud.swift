// SPDX-License-Identifier: Apache-2.0

package import TidemarkScheduling

/// The cloud as one sync engine sees it: everything that the engine asks of a server, and nothing else.
///
/// There is one for each engine, with that engine's own device identity: it goes with every request, so
/// that pushes caused by one engine reach the others, also in the same process. The connection implements this on the
/// real socket; tests and the simulation implement it in memory.
///
/// Rules for implementations:
/// - Every method may be called from any executor, several requests may be under way at once.
/// - Cancelling the calling task ends the request soon, with `operationCancelled`; it may still take effect on the
///   server.
/// - Requests that change data are safe to repeat inside the implementation; when no answer can be had, the
///   error is `serverResponseLost`.
/// - A request under way when the account changes fails (`operationCancelled` or `notAuthenticated`); later ones fail
///   with `notAuthenticated` until ``currentUser()`` has been asked again. So nothing of one account is ever sent to
///   another.
/// - Without a network a request fails at once with `networkUnavailable`; the engine knows when to try again.
package protocol SyncEngineCloud: AnyObject, Sendable {
    /// Whom to tell what happens. Called once, before any request; nobody is told any more after ``close()``.
    ///
    /// If the cloud is known to be out of reach at this time, the observer is told so.
    func setObserver(_ observer: any SyncEngineCloudObserver)

    /// Who is signed in; nil if somebody has signed out.
    ///
    /// - Throws: `accountTemporarilyUnavailable` if somebody is, but their credential is not good at the moment
    ///   `notAuthenticated` if it is not known who should be; anything else if it cannot be found out now.
    func currentUser() async throws(CKError) -> CKRecord.ID?

    /// Makes sure that the account has a database subscription, so that pushes come.
    ///
    /// - Parameter id: the subscription to use, created if it does not exist. Nil: whichever database subscription is
    ///   there already, else a new silent one.
    /// - Returns: the subscription's id.
    func ensureSubscription(id: CKSubscription.ID?) async throws(CKError) -> CKSubscription.ID

    /// Saves and deletes zones; each has a result of its own.
    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID]
    ) async throws(CKError) -> SyncEngineZoneResults

    /// Saves and deletes records with the policy `ifServerRecordUnchanged`.
    ///
    /// - Parameter atomicByZone: whether the items of one zone succeed or fail together.
    /// - Returns: one result for every item.
    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool
    ) async throws(CKError) -> SyncEngineRecordResults

    /// One page of the database feed.
    ///
    /// - Parameters:
    ///   - place: what the engine reads next if nothing else has changed, so that it may be had in the same go.
    ///   - asPushed: whether it may be what a push has brought, if nothing else was pushed since; else it shows all that was
    ///     committed before the call.
    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool
    ) async throws(CKError) -> SyncEngineDatabasePage

    /// As above; the answer also says whether the subscription is gone that the engine relies on.
    ///
    /// - Parameter subscriptionID: nil: none.
    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        relyingOn subscriptionID: CKSubscription.ID?
    ) async throws(CKError) -> SyncEngineDatabasePage

    /// One page of a zone's feed: whole records, oldest change first.
    ///
    /// - Parameter asOfFeed: whether it may be a page that was read right after the last page of the database feed; else it
    ///   shows all that was committed before the call.
    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool
    ) async throws(CKError) -> SyncEngineZonePage

    /// The engine is gone: forget the observer, let go of what serves this engine alone. Called once, last.
    func close()
}

extension SyncEngineCloud {
    /// Of a cloud that loses no subscriptions.
    package func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        relyingOn subscriptionID: CKSubscription.ID?
    ) async throws(CKError) -> SyncEngineDatabasePage {
        try await databaseChanges(since: token, expecting: place, asPushed: asPushed)
    }
}

/// How far an engine has read in a zone's feed.
package struct SyncEngineZonePlace: Sendable, Equatable {
    package let zoneID: CKRecordZone.ID
    /// Nil: nothing yet.
    package let token: CKServerChangeToken?

    package init(zoneID: CKRecordZone.ID, token: CKServerChangeToken?) {
        self.zoneID = zoneID
        self.token = token
    }
}

/// What a cloud tells its engine. Callable from any thread; returns at once.
package protocol SyncEngineCloudObserver: AnyObject, Sendable {
    /// Something changed on the server.
    ///
    /// - Parameter zoneIDs: the zones, as far as known; empty if not known. A hint (I-4): may be wrong, late or lost.
    func cloudDidReceivePush(zoneIDs: [CKRecordZone.ID])

    /// The server has come into reach, or gone out of it.
    func cloudDidChangeConnectivity(isOnline: Bool)

    /// Somebody has signed in or out, or their credential has become good or bad: time to ask
    /// ``SyncEngineCloud/currentUser()``.
    func cloudDidChangeAccount()

    /// Another device has the identity that this engine had, such as a copy of it. From now on this one has another.
    ///
    /// - Parameter identity: 16 bytes, to be kept.
    func cloudDidReplaceDevice(by identity: [UInt8])
}

/// What became of zones saved and deleted.
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

/// What became of records saved and deleted.
package struct SyncEngineRecordResults: Sendable {
    /// Saved records carry their new tags.
    package var saves: [CKRecord.ID: Result<CKRecord, CKError>]
    package var deletes: [CKRecord.ID: Result<Void, CKError>]

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
    /// The subscription that the engine relied on, if it is gone.
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
    /// Records that are there and cannot be delivered: no event tells of them.
    package var unreadableRecordIDs: [CKRecord.ID] = []

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

/// Where engines of a database live: what makes their clouds, and the scheduler on which an engine's task, its timers
/// and its delegate's callbacks run. That scheduler is never an I/O loop, since delegates may take their time.
package struct SyncEngineHost: Sendable {
    package let scheduler: any Scheduler
    /// Makes the cloud of one engine. Must not block.
    ///
    /// - Parameters:
    ///   - deviceIdentity: 16 random bytes, kept in the engine's state. They outlive the process, and a state may be
    ///     used by two engines at a time: what names requests must differ in each.
    ///   - returningUser: the record name of the user whose saved state the engine goes on from, if there was one. The app may
    ///     have stored more of this user's than that state knows of: what it fetched without a token may have ended since. Of
    ///     anybody else it has stored nothing, and is to hear of no ends.
    package let makeCloud: @Sendable (_ deviceIdentity: [UInt8], _ returningUser: String?) -> any SyncEngineCloud

    /// Told when an engine begins and when it ends to be at work, its delegate's callbacks included: for tests, which wait
    /// until nobody is.
    package let atWork: (@Sendable (_ begins: Bool) -> Void)?

    package init(
        scheduler: any Scheduler = GlobalScheduler(), atWork: (@Sendable (_ begins: Bool) -> Void)? = nil,
        makeCloud: @escaping @Sendable (_ deviceIdentity: [UInt8], _ returningUser: String?) -> any SyncEngineCloud
    ) {
        self.scheduler = scheduler
        self.atWork = atWork
        self.makeCloud = makeCloud
    }
}

/// What a request of an engine may want to know besides its arguments.
package enum SyncEngineRequestContext {
    /// The group of the options under which the request is made: sent for logging only.
    @TaskLocal package static var operationGroup: CKOperationGroup?
}
