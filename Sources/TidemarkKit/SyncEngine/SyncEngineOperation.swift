// SPDX-License-Identifier: Apache-2.0

/// Something that can fail in a send.
enum SyncEngineItem: Hashable, Sendable {
    case zone(CKRecordZone.ID)
    case record(CKRecord.ID)

    /// The ID in the errors that the app gets.
    var id: AnyHashable {
        switch self {
        case .zone(let zoneID): AnyHashable(zoneID)
        case .record(let recordID): AnyHashable(recordID)
        }
    }
}

/// What an engine is doing: one thing at a time, so that events never mix.
enum SyncEngineOperation: Sendable {
    case account(SyncEngineAccountOperation)
    case fetch(SyncEngineFetch)
    case send(SyncEngineSend)
}

/// The one request for which an operation waits.
struct SyncEnginePendingRequest: Sendable {
    let id: SyncEngineRequestID
    var outcome: SyncEngineOutcome?
    var isCancelled = false
}

/// Reports an account change to the app (R-560 … R-566).
struct SyncEngineAccountOperation: Sendable {
    enum Phase: Sendable {
        case clearing, flushing, ended
    }

    let change: CKSyncEngine.Event.AccountChange.ChangeType
    let user: CKRecord.ID?
    let storeLife: UInt64?
    var phase = Phase.clearing
}

/// One fetch, from `willFetchChanges` to `didFetchChanges`.
struct SyncEngineFetch: Sendable {
    enum Phase: Sendable {
        case beginning
        /// About to ask whether there are keys now that were missing.
        case askingForKeys, awaitingKeys
        /// About to ask the delegate, then to read a page of the database feed.
        case askingForFeed, readingFeed, awaitingFeed
        /// The delegate has handled the page, so its token may be used.
        case tookFeedPage(CKServerChangeToken, moreComing: Bool)
        /// The list of all zones has been read, and the app is told which zones it lacks.
        case toldAbsentZones(ended: [CKDatabase.DatabaseChange.Deletion], TidemarkFullFetch.Reason)
        case closingFullFeed
        /// About to ask the delegate, then to open the next zone.
        case choosingZone, openingZone
        /// About to ask the delegate, then to read a further page of the zone.
        case askingForZone(CKRecordZone.ID), continuingZone(CKRecordZone.ID)
        case readingZone(CKRecordZone.ID), awaitingZone(CKRecordZone.ID)
        /// The app knows that this is the first page of a full fetch.
        case announcedZone(CKRecordZone.ID, SyncEngineZonePage)
        case tookZonePage(CKRecordZone.ID, CKServerChangeToken, moreComing: Bool)
        /// A full fetch has been reported once, and twice.
        case toldFullFetch(CKRecordZone.ID, TidemarkFullFetch)
        case closingFullFetch(CKRecordZone.ID)
        case closing, flushing, ended
    }

    let reason: CKSyncEngine.SyncReason
    /// The context at the beginning, which `didFetchChanges` carries.
    let context: CKSyncEngine.FetchChangesContext
    /// The delegate's last answer.
    var options: CKSyncEngine.FetchChangesOptions
    var phase = Phase.beginning
    var callers: [SyncEngineCallID] = []
    /// Whether the engine itself wants this fetch, so that it goes on when its callers are cancelled.
    var isWantedByEngine: Bool
    var isCancelled = false
    /// Whether something is read from the beginning in it because the app asked for that.
    var beginsResync = false
    /// State updates since the phase began that ends the operation or answers its callers.
    var lastUpdateCount = 0

    /// Zones that are not opened again in this fetch: fetched, or failed.
    var visitedZones: Set<CKRecordZone.ID> = []
    /// Zones pushed since the fetch began. They stay unfetched whatever is read now.
    var pushedZones: Set<CKRecordZone.ID> = []
    /// Whether a push came: one more fetch follows.
    var wasPushed = false
    /// Whether a caller joined after the feed was requested. Then it is read once more, so that the caller gets
    /// everything that was on the server at the time of the call.
    var rereadsFeed = false
    /// Whether the last page of the feed said that there are more.
    var isReadingOn = false

    /// Records and deletions that were fetched.
    var recordCount = 0
    /// Failures of zones, for the callers.
    var zoneErrors: [CKRecordZone.ID: CKError] = [:]
    /// The failure that ended the fetch early.
    var error: CKError?

    /// The result for the callers.
    var result: Result<Void, CKError> {
        if isCancelled { return .failure(CKError(.operationCancelled)) }
        if let error, zoneErrors.isEmpty { return .failure(error) }
        if let error = CKError.combining(zoneErrors.map { ($0, $1) }, unwrapsSingle: true) { return .failure(error) }
        return .success(())
    }
}

/// One send, from `willSendChanges` to `didSendChanges`.
struct SyncEngineSend: Sendable {
    enum Phase: Sendable {
        case beginning, sendingZones
        case awaitingZones([CKSyncEngine.PendingDatabaseChange])
        /// The delegate is being asked for a batch, or has just answered.
        case asking
        case awaitingRecords(CKSyncEngine.RecordZoneChangeBatch)
        case closing, flushing, ended
    }

    let reason: CKSyncEngine.SyncReason
    let context: CKSyncEngine.SendChangesContext
    var phase = Phase.beginning
    var callers: [SyncEngineCallID] = []
    var isWantedByEngine: Bool
    var isCancelled = false
    /// State updates since the phase began that ends the operation or answers its callers.
    var lastUpdateCount = 0

    /// The delegate's answer to the last question.
    var batch: CKSyncEngine.RecordZoneChangeBatch?
    /// Whether a caller joined since the delegate was last asked. The caller wants changes that the delegate may not
    /// have known, so it is asked once more.
    var asksAgain = false
    /// Zones whose change was tried. They are not tried again in this pass, unless a caller joins who wants a later
    /// change of one.
    var triedZones: Set<CKRecordZone.ID> = []
    /// Pending saves and deletes that the app added again while it was asked for a batch. The batch may hold them in an
    /// earlier state, so they stay pending.
    var touchedRecords: Set<CKRecord.ID> = []
    /// The count of additions when the delegate was last asked.
    var additionsSeen = 0
    /// Whether the delegate answered that there is no more.
    var isExhausted = false

    /// Failures of records and zones, for the callers.
    var itemErrors: [SyncEngineItem: CKError] = [:]
    /// The failure of a request as a whole.
    var requestError: CKError?
    /// A failure that the engine retries: the one with the longest retry-after.
    var retriedError: CKError?
    /// Items that failed in a way that the app must handle.
    var failedForGood: Set<SyncEngineItem> = []
    /// Whether each failure that the engine retries is of an item for itself. Others need not wait for it.
    var failsByItems = true
    /// Records that were sent before a pending change that must come first.
    var waiting: [CKRecord.ID: SyncEngineWaiting] = [:]
    /// How many records were saved or deleted.
    var successCount = 0
    /// Whether something that failed may have been carried out.
    var lostAnswer = false

    /// The result for the callers.
    var result: Result<Void, CKError> {
        if isCancelled { return .failure(CKError(.operationCancelled)) }
        if let requestError { return .failure(requestError) }
        let errors = itemErrors.map { ($0.id, $1) } + waiting.map { (AnyHashable($0), $1.error) }
        if let error = CKError.combining(errors, unwrapsSingle: false) { return .failure(error) }
        return .success(())
    }

    /// Items with which the next pass may well fail again.
    var stuckItems: Set<SyncEngineItem> { failedForGood.union(waiting.keys.map { .record($0) }) }

    var isJoinable: Bool {
        switch phase {
        case .closing, .flushing, .ended: false
        default: !isCancelled
        }
    }
}

extension SyncEngineFetch {
    var isJoinable: Bool {
        switch phase {
        case .closing, .flushing, .ended: false
        default: !isCancelled
        }
    }

    /// Whether the database feed has already been requested.
    var hasReadFeed: Bool {
        switch phase {
        case .beginning, .askingForKeys, .awaitingKeys, .askingForFeed, .readingFeed: false
        default: true
        }
    }
}
