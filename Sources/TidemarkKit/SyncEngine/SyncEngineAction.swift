// SPDX-License-Identifier: Apache-2.0

/// What the state machine wants done next.
enum SyncEngineAction: Sendable {
    /// Call the delegate's `handleEvent`, then ask for the next action.
    case deliver(CKSyncEngine.Event)
    /// Call `handleStoreEvent` of a delegate that has it, then ask for the next action.
    case deliverStoreEvent(TidemarkStoreEvent)
    /// Ask the delegate, give the answer to ``SyncEngineMachine/fetchOptionsAnswered(_:)``.
    case askFetchOptions(CKSyncEngine.FetchChangesContext)
    /// Ask the delegate, give the answer to ``SyncEngineMachine/batchAnswered(_:)``.
    case askBatch(CKSyncEngine.SendChangesContext)
    /// Start the request without waiting for it; give its outcome to ``SyncEngineMachine/requestEnded(_:_:at:)``.
    case start(SyncEngineRequestID, SyncEngineRequest)
    /// Cancel the request; its outcome is still to be reported.
    case cancel(SyncEngineRequestID)
    /// Resume the app's call.
    case finish(SyncEngineCallID, Result<Void, CKError>)
    /// Nothing to do before this time (nil: before something happens).
    case wait(until: Duration?)
    /// Nothing to do ever again.
    case stop
}

/// A request of one engine.
struct SyncEngineRequestID: Hashable, Sendable {
    let number: Int
}

/// A call of the app that waits: `fetchChanges`, `sendChanges`, `cancelOperations`.
struct SyncEngineCallID: Hashable, Sendable {
    let number: Int
}

/// What the engine asks of its cloud.
enum SyncEngineRequest: Sendable {
    case currentUser
    case ensureSubscription(CKSubscription.ID?)
    case modifyZones(saving: [CKRecordZone], deleting: [CKRecordZone.ID], CKOperationGroup)
    case modifyRecords(CKSyncEngine.RecordZoneChangeBatch, CKOperationGroup)
    case databaseChanges(
        since: CKServerChangeToken?, expecting: SyncEngineZonePlace?, asPushed: Bool, CKOperationGroup)
    case zoneChanges(in: CKRecordZone.ID, since: CKServerChangeToken?, asOfFeed: Bool, CKOperationGroup)
}

/// What the cloud answers, one case for each kind of request.
enum SyncEngineAnswer: Sendable {
    case user(CKRecord.ID?)
    case subscription(CKSubscription.ID)
    case zoneResults(SyncEngineZoneResults)
    case recordResults(SyncEngineRecordResults)
    case databasePage(SyncEngineDatabasePage)
    case zonePage(SyncEngineZonePage)
}

typealias SyncEngineOutcome = Result<SyncEngineAnswer, CKError>
