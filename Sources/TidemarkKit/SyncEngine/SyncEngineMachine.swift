// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Decides everything for an engine, without network, clock, threads or random numbers of its own.
///
/// Events go in through methods; ``next(at:)`` returns the next action. The driver carries out one action at a time and
/// asks again. Requests run beside it and report to ``requestEnded(_:_:at:)``. So the delegate's callbacks are serial
/// by construction. An operation is a sequence of phases: when `next` is called again, its last action is done.
struct SyncEngineMachine: Sendable {
    enum Account: Sendable {
        case unknown
        case none
        case available
        /// Somebody may be signed in, but nothing can be done for them now.
        case unavailable(CKError)
    }

    let automaticallySync: Bool
    /// The subscription that the app wants; nil for any.
    let wantedSubscriptionID: CKSubscription.ID?

    /// The state that outlives the process. Call ``noteChange(at:)`` after changing it.
    var snapshot: SyncEngineSnapshot
    var stateUpdates = SyncEngineStateUpdates()
    var schedule: SyncEngineSchedule
    var account = Account.unknown
    /// An account change that must still be reported (R-561: old against new, however many were between).
    var accountChange: SyncEngineAccountOperation?
    var isOnline = true

    var operation: SyncEngineOperation?
    /// The zone of another of which the engine last read something new. Pushes of a shared database name no zone,
    /// so this is the likeliest one to have changed.
    var lastZoneOfOther: CKRecordZone.ID?
    var fullFetches = SyncEngineFullFetches()
    /// The request that `operation` waits for.
    var operationRequest: SyncEnginePendingRequest?
    var accountRequest: SyncEngineRequestID?
    var subscriptionRequest: SyncEngineRequestID?
    var requestCount = 0

    /// Calls that wait for their turn.
    var fetchCalls: [(id: SyncEngineCallID, options: CKSyncEngine.FetchChangesOptions, isResync: Bool)] = []
    var sendCalls: [(id: SyncEngineCallID, options: CKSyncEngine.SendChangesOptions)] = []
    var cancelCalls: [SyncEngineCallID] = []
    var heldCalls: [(id: SyncEngineCallID, question: SyncEngineHeldQuestion)] = []

    /// How often the app has added something to send. It shows what is new since the delegate was asked.
    var additionCount = 0
    /// The value of ``additionCount`` after the last addition that was a new change.
    var newsCount = 0
    /// What failed permanently in the last pass, or could not be sent in it.
    var repeatedFailures: Set<SyncEngineItem> = []
    /// Records that may have made the server fail, or whose upload stands still. The value is the most suspects
    /// that may go in one batch with the record.
    var suspects: [CKRecord.ID: Int] = [:]
    /// How many changes a request may have after one whose answer was lost; nil: as many as the app gives.
    var batchRoom: Int?
    /// Zones of others of which records wait for keys to be encrypted.
    var keylessSends: Set<CKRecordZone.ID> = []
    /// Zones of which records wait for keys to be read, and some have been imported since.
    var importedZones: Set<CKRecordZone.ID> = []
    /// What the delegate skipped when it was last asked for everything.
    var passedOver: Set<CKRecord.ID> = []
    /// For the app and its users.
    var lastOutcomes = SyncEngineLastOutcomes()
    /// Actions that must be done at once, before anything else.
    var outbox = Deque<SyncEngineAction>()
    var isStopped = false
    /// What must be written to the journal; nil if there is none.
    var journaling: SyncEngineJournaling?

    /// - Parameter snapshot: from the app's stored state, or a new one.
    init(
        snapshot: SyncEngineSnapshot, automaticallySync: Bool, subscriptionID: CKSubscription.ID?,
        at moment: SyncEngineMoment
    ) {
        self.snapshot = snapshot
        self.automaticallySync = automaticallySync
        wantedSubscriptionID = subscriptionID
        schedule = SyncEngineSchedule(startDue: moment.now + SyncEngineLimits.startDelay)
        // What the last process sent may have been carried out, and a state that was stored before does not say
        // that it was sent.
        schedule.fetchesBeforeSend = snapshot.hasInFlight || !snapshot.pendingRecords.isEmpty
        self.snapshot.restoreInFlight()
        restartFullFetches()
    }

    /// The next action. The action of the last call has been done.
    mutating func next(at moment: SyncEngineMoment) -> SyncEngineAction {
        if !isStopped { journalSettled() }
        while true {
            if let action = outbox.popFirst() { return action }
            if isStopped { return .stop }
            if let start = schedule.startDue, moment.now < start { return .wait(until: start) }
            schedule.startDue = nil

            if let due = stateUpdates.due, due <= moment.now, !owesToken, !owesSignIn { return deliverStateUpdate() }
            startErrands(at: moment)
            if operation == nil { chooseOperation(at: moment) }
            if let action = step(at: moment) { return action }
            // The operation waits for its request, or has just ended, or there is none.
            if !outbox.isEmpty || (operation == nil && isAnythingDue(at: moment)) { continue }
            return .wait(until: nextDue(at: moment))
        }
    }

    /// Whether a page has been delivered whose token is not noted yet. A state that is stored in between would be
    /// behind what the app has. In a zone that is read for the first time, a following deletion would never be reported
    ///
    private var owesToken: Bool {
        if case .fetch(let fetch) = operation, case .tookZonePage = fetch.phase { return true }
        return false
    }

    /// Whether the first event is still to come. While no user is known, it says who has signed in. What the
    /// app adds before is reported after it.
    var owesSignIn: Bool {
        guard snapshot.user == nil else { return false }
        if case .unknown = account { return true }
        return accountChange != nil
    }

    /// Nothing more may happen: the engine is gone, or its delegate is.
    mutating func stop() {
        guard !isStopped else { return }
        isStopped = true
        let requests = [operationRequest?.id, accountRequest, subscriptionRequest].compactMap(\.self)
        let calls = fetchCalls.map(\.id) + sendCalls.map(\.id) + cancelCalls + heldCalls.map(\.id) + operationCallers
        outbox.append(contentsOf: requests.map { .cancel($0) })
        outbox.append(contentsOf: calls.map { .finish($0, .failure(CKError(.operationCancelled))) })
        (fetchCalls, sendCalls, cancelCalls, heldCalls, operation) = ([], [], [], [], nil)
        (operationRequest, accountRequest, subscriptionRequest) = (nil, nil, nil)
    }

    /// A request has ended. Every request does, even a cancelled one.
    mutating func requestEnded(_ id: SyncEngineRequestID, _ outcome: SyncEngineOutcome, at moment: SyncEngineMoment) {
        if operationRequest?.id == id {
            operationRequest?.outcome = outcome
        } else if accountRequest == id {
            accountRequest = nil
            accountAnswered(outcome, at: moment)
        } else if subscriptionRequest == id {
            subscriptionRequest = nil
            subscriptionAnswered(outcome, at: moment)
        }
    }

    /// The next action of the operation; nil if it waits for its request or has ended.
    private mutating func step(at moment: SyncEngineMoment) -> SyncEngineAction? {
        guard let current = operation else { return nil }
        // Taken out of the property, so that its collections are changed in place.
        operation = nil
        switch current {
        case .account(var change):
            let action = step(&change, at: moment)
            if change.phase != .ended { operation = .account(change) }
            return action
        case .fetch(var fetch):
            let action = step(&fetch, at: moment)
            if case .ended = fetch.phase { return action }
            operation = .fetch(fetch)
            return action
        case .send(var send):
            let action = step(&send, at: moment)
            if case .ended = send.phase { return action }
            operation = .send(send)
            return action
        }
    }

    private var operationCallers: [SyncEngineCallID] {
        switch operation {
        case .fetch(let fetch): fetch.callers
        case .send(let send): send.callers
        case .account, nil: []
        }
    }
}

// MARK: Requests

extension SyncEngineMachine {
    mutating func newRequestID() -> SyncEngineRequestID {
        requestCount += 1
        return SyncEngineRequestID(number: requestCount)
    }

    /// Starts the request for which the operation then waits.
    mutating func start(_ request: SyncEngineRequest) -> SyncEngineAction {
        let id = newRequestID()
        operationRequest = SyncEnginePendingRequest(id: id)
        return .start(id, request, for: snapshot.user)
    }

    /// The outcome for which the operation waits, once; nil if it is not there yet.
    mutating func takeOutcome() -> SyncEngineOutcome? {
        guard let outcome = operationRequest?.outcome else { return nil }
        operationRequest = nil
        return outcome
    }

    /// Cancels the request under way. The operation goes on when its outcome arrives.
    mutating func cancelOperationRequest() {
        guard let request = operationRequest, request.outcome == nil, !request.isCancelled else { return }
        operationRequest?.isCancelled = true
        outbox.append(.cancel(request.id))
    }
}

// MARK: State updates

/// When the next `stateUpdate` is due.
struct SyncEngineStateUpdates: Sendable {
    private(set) var due: Duration?
    private var latest: Duration?

    var isPending: Bool { due != nil }

    mutating func noteChange(at now: Duration) {
        let latest = latest ?? now + SyncEngineLimits.stateUpdateDelayMax
        self.latest = latest
        due = min(now + SyncEngineLimits.stateUpdateDelay, latest)
    }

    mutating func clear() {
        due = nil
        latest = nil
    }
}

extension SyncEngineMachine {
    mutating func noteChange(at moment: SyncEngineMoment) {
        stateUpdates.noteChange(at: moment.now)
    }

    /// A `stateUpdate` with the current state. Changes during its delivery make another one.
    mutating func deliverStateUpdate() -> SyncEngineAction {
        stateUpdates.clear()
        let serialization = CKSyncEngine.State.Serialization(snapshot: snapshot)
        return .deliver(.stateUpdate(.init(stateSerialization: serialization)))
    }

    /// a pending state update comes before an operation goes on to its end, and so do the changes of its
    /// handler.
    ///
    /// - Parameter count: how many state updates came so far. The engine does not wait for an app that changes
    ///   something each time.
    mutating func lastStateUpdate(_ count: inout Int) -> SyncEngineAction? {
        guard stateUpdates.isPending, count < SyncEngineLimits.lastStateUpdatesMax else { return nil }
        count += 1
        return deliverStateUpdate()
    }
}
