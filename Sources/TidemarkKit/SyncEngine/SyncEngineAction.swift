// SPDX-License-Identifier: Apache-2.0

/// What the state machine wants the driver to do next.
enum SyncEngineAction: Sendable {
    /// Call the delegate's `handleEvent`, then ask for the next action.
    case deliver(CKSyncEngine.Event)
    /// Call the delegate's `handleStoreEvent`, if it has one, then ask for the next action.
    case deliverStoreEvent(TidemarkStoreEvent)
    /// Ask the delegate, and pass its answer to ``SyncEngineMachine/fetchOptionsAnswered(_:)``.
    case askFetchOptions(CKSyncEngine.FetchChangesContext)
    /// Ask the delegate, and pass its answer to ``SyncEngineMachine/batchAnswered(_:)``.
    case askBatch(CKSyncEngine.SendChangesContext)
    /// Ask the delegate what it has of a zone, and give the question its answer.
    case askHeld(SyncEngineHeldQuestion)
    /// Start the request without waiting for it. Pass its outcome to ``SyncEngineMachine/requestEnded(_:_:at:)``.
    ///
    /// It is for the user of the engine's state when it was decided, and must not be done for another one. Only
    /// the question who is signed in is for nobody.
    case start(SyncEngineRequestID, SyncEngineRequest, for: CKRecord.ID?)
    /// Cancel the request. Its outcome must still be reported.
    case cancel(SyncEngineRequestID)
    /// Resume the app's call.
    case finish(SyncEngineCallID, Result<Void, CKError>)
    /// Nothing to do before this time, or with nil, before something happens.
    case wait(until: Duration?)
    /// Nothing to do any more.
    case stop
}

/// A request of one engine.
struct SyncEngineRequestID: Hashable, Sendable {
    let number: Int
}

/// A waiting call of the app: `fetchChanges`, `sendChanges` or `cancelOperations`.
struct SyncEngineCallID: Hashable, Sendable {
    let number: Int
}

/// A request of the engine to its cloud.
enum SyncEngineRequest: Sendable {
    case currentUser
    case ensureSubscription(CKSubscription.ID?)
    case modifyZones(saving: [CKRecordZone], deleting: [CKRecordZone.ID], CKOperationGroup)
    case modifyRecords(CKSyncEngine.RecordZoneChangeBatch, CKOperationGroup)
    case databaseChanges(
        since: CKServerChangeToken?, expecting: SyncEngineZonePlace?, asPushed: Bool, CKOperationGroup)
    case zoneChanges(in: CKRecordZone.ID, since: CKServerChangeToken?, asOfFeed: Bool, CKOperationGroup)
    case zonesWithKeys(among: [CKRecordZone.ID])
}

/// The cloud's answer, one case for each kind of request.
enum SyncEngineAnswer: Sendable {
    case user(CKRecord.ID?, storeLife: UInt64? = nil)
    case subscription(CKSubscription.ID)
    case zoneResults(SyncEngineZoneResults)
    case recordResults(SyncEngineRecordResults)
    case databasePage(SyncEngineDatabasePage)
    case zonePage(SyncEngineZonePage)
    case zonesWithKeys(Set<CKRecordZone.ID>)
}

typealias SyncEngineOutcome = Result<SyncEngineAnswer, CKError>
