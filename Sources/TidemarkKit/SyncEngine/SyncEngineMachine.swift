// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// All that an engine decides, without network, clock, threads or dice of its own.
///
/// Events go in through methods; ``next(at:)`` says what is to be done. The driver does one thing at a time and asks
/// again; requests run beside it and report to ``requestEnded(_:_:at:)``. So the callbacks of the delegate are serial
/// by construction, and an operation is a row of phases: when `next` is called again, what it asked for is
/// done.
struct SyncEngineMachine: Sendable {
    enum Account: Sendable {
        case unknown
        case none
        case available
        /// Somebody may be signed in, but nothing can be done for them now.
        case unavailable(CKError)
    }

    let automaticallySync: Bool
    /// The subscription that the app asked for; nil: any.
    let wantedSubscriptionID: CKSubscription.ID?

    /// What outlives the process. Whoever changes it says so with ``noteChange(at:)``.
    var snapshot: SyncEngineSnapshot
    var stateUpdates = SyncEngineStateUpdates()
    var schedule: SyncEngineSchedule
    var account = Account.unknown
    /// An account change that is yet to be told (R-561: old against new, however many lay between).
    var accountChange: SyncEngineAccountOperation?
    var isOnline = true

    var operation: SyncEngineOperation?
    var fullFetches = SyncEngineFullFetches()
    /// The request that `operation` waits for.
    var operationRequest: SyncEnginePendingRequest?
    var accountRequest: SyncEngineRequestID?
    var subscriptionRequest: SyncEngineRequestID?
    var requestCount = 0

    /// Calls that wait for their turn.
    var fetchCalls: [(id: SyncEngineCallID, options: CKSyncEngine.FetchChangesOptions)] = []
    var sendCalls: [(id: SyncEngineCallID, options: CKSyncEngine.SendChangesOptions)] = []
    var cancelCalls: [SyncEngineCallID] = []

    /// How often the app has added something to send; tells what is new since the delegate was asked.
    var additionCount = 0
    /// What failed for good in the last pass, and how often in a row.
    var repeatedFailures: Set<SyncEngineItem> = []
    /// What the delegate passed over when it was last asked for everything.
    var passedOver: Set<CKRecord.ID> = []
    /// What is to be done at once, before anything else.
    var outbox = Deque<SyncEngineAction>()
    var isStopped = false
    /// What the journal is to hear; nil: there is none.
    var journaling: SyncEngineJournaling?

    /// - Parameter snapshot: from the app's last state, or a new one.
    init(
        snapshot: SyncEngineSnapshot, automaticallySync: Bool, subscriptionID: CKSubscription.ID?,
        at moment: SyncEngineMoment
    ) {
        self.snapshot = snapshot
        self.automaticallySync = automaticallySync
        wantedSubscriptionID = subscriptionID
        schedule = SyncEngineSchedule(startDue: moment.now + SyncEngineLimits.startDelay)
        // What the last process has sent may have been carried out, and a state that was stored before does not say that it
        // was sent.
        schedule.fetchesBeforeSend = snapshot.hasInFlight || !snapshot.pendingRecords.isEmpty
        self.snapshot.restoreInFlight()
        restartFullFetches()
    }

    /// What is to be done now. What the last call asked for has been done.
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

    /// Whether a page has been delivered whose token is not noted yet. A state that is saved in between would be behind
    /// what the app has: in a zone that is read for the first time, a deletion that follows would never be told.
    private var owesToken: Bool {
        if case .fetch(let fetch) = operation, case .tookZonePage = fetch.phase { return true }
        return false
    }

    /// Whether the first event is still to come: while nothing is known of any user, it is who has signed in. What
    /// the app adds before is told after it.
    var owesSignIn: Bool {
        guard snapshot.user == nil else { return false }
        if case .unknown = account { return true }
        return accountChange != nil
    }

    /// Nothing more is to happen: the engine is gone, or its delegate is.
    mutating func stop() {
        guard !isStopped else { return }
        isStopped = true
        let requests = [operationRequest?.id, accountRequest, subscriptionRequest].compactMap(\.self)
        let calls = fetchCalls.map(\.id) + sendCalls.map(\.id) + cancelCalls + operationCallers
        outbox.append(contentsOf: requests.map { .cancel($0) })
        outbox.append(contentsOf: calls.map { .finish($0, .failure(CKError(.operationCancelled))) })
        (fetchCalls, sendCalls, cancelCalls, operation) = ([], [], [], nil)
        (operationRequest, accountRequest, subscriptionRequest) = (nil, nil, nil)
    }

    /// A request has ended; every request does, also if it was cancelled.
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
        // Taken out while it is worked on, so that its collections are changed in place.
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

    /// Starts the request that the operation then waits for.
    mutating func start(_ request: SyncEngineRequest) -> SyncEngineAction {
        let id = newRequestID()
        operationRequest = SyncEnginePendingRequest(id: id)
        return .start(id, request)
    }

    /// The outcome that the operation waits for, once; nil if it is not there yet.
    mutating func takeOutcome() -> SyncEngineOutcome? {
        guard let outcome = operationRequest?.outcome else { return nil }
        operationRequest = nil
        return outcome
    }

    /// Cancels the request under way; the operation goes on when its outcome is there.
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

    /// A `stateUpdate` with the state as it is now; changes that come while it is delivered make another one.
    mutating func deliverStateUpdate() -> SyncEngineAction {
        stateUpdates.clear()
        let serialization = CKSyncEngine.State.Serialization(snapshot: snapshot)
        return .deliver(.stateUpdate(.init(stateSerialization: serialization)))
    }

    /// a pending state update comes before an operation goes on to its end, and so does what its handler changes.
    ///
    /// - Parameter count: how many of them came so far. An app that changes something each time is not waited for.
    mutating func lastStateUpdate(_ count: inout Int) -> SyncEngineAction? {
        guard stateUpdates.isPending, count < SyncEngineLimits.lastStateUpdatesMax else { return nil }
        count += 1
        return deliverStateUpdate()
    }
}
