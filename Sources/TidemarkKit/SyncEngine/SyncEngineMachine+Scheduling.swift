// SPDX-License-Identifier: Apache-2.0

/// When the engine acts on its own. Times are on the scheduler's clock; nil if nothing is planned.
struct SyncEngineSchedule: Sendable {
    /// Nothing happens before this time unless the app calls.
    var startDue: Duration?
    var fetchDue: Duration?
    var sendDue: Duration?
    /// Whether the send waits for its time only because some items failed, each for itself.
    var sendWaitsForItems = false
    /// When the delegate is asked again for changes that it skipped.
    var askDue: Duration?
    /// When to fetch in case pushes were lost.
    var periodicFetchDue: Duration?
    /// When to ask for the user.
    var accountDue: Duration? = .zero
    /// When to look for the subscription.
    var subscriptionDue: Duration? = .zero
    /// Until when the server asked for no requests.
    var throttledUntil: Duration?
    /// Until when a busy server wanted no connection. One that is open shows that this is over.
    var busyUntil: Duration?
    /// Set after an answer was lost, even together with its process, or was no longer waited for: the engine fetches the
    /// server's state before it sends more.
    var fetchesBeforeSend = false
    /// Set by `cancelOperations`: nothing begins until there is a change, a push or a call.
    var isSuspended = false
    /// When the last send began.
    var lastSendStart: Duration?

    var fetchBackoff = SyncEngineBackoff()
    var sendBackoff = SyncEngineBackoff()
    var accountBackoff = SyncEngineBackoff()
    var subscriptionBackoff = SyncEngineBackoff()
    /// For items that fail permanently again and again.
    var failureBackoff = SyncEngineBackoff()
    /// For changes that the delegate skips again and again.
    var askBackoff = SyncEngineBackoff()

    /// When the next send takes place, for whatever reason.
    var plannedSend: Duration? { [sendDue, askDue].compactMap(\.self).min() }

    /// Before this time nothing begins by itself.
    var quietUntil: Duration? { [throttledUntil, busyUntil].compactMap(\.self).max() }

    init(startDue: Duration?) {
        self.startDue = startDue
    }

    /// Brings a send forward for a new change if it waits only for items that failed, each for itself. The send tries
    /// those items again, too, so it keeps a distance from the last one.
    mutating func sendSoonBesideFailing(at moment: SyncEngineMoment) {
        guard sendWaitsForItems, let due = sendDue else { return }
        sendDue = min(due, max(moment.now, (lastSendStart ?? .zero) + SyncEngineLimits.failingSendInterval))
    }

    /// Another account is a new start. What was planned, cancelled, failed or asked for by the server
    /// belonged to the account before.
    mutating func forgetAccount() {
        let (accountDue, accountBackoff) = (accountDue, accountBackoff)
        self = SyncEngineSchedule(startDue: startDue)
        (self.accountDue, self.accountBackoff) = (accountDue, accountBackoff)
    }
}

extension SyncEngineMachine {
    // MARK: Choosing

    /// Begins the next operation if one is due. The order is account changes, calls of the app, and then fetch
    /// before send.
    mutating func chooseOperation(at moment: SyncEngineMoment) {
        outbox.append(contentsOf: cancelCalls.map { .finish($0, .success(())) })
        cancelCalls = []
        if let change = accountChange {
            accountChange = nil
            operation = .account(change)
            return
        }
        guard !isAccountQuestionOpen(at: moment) else { return }
        guard case .available = account else { return refuseCalls() }
        if beginManualOperation(at: moment) { return }
        if isFetchDue(at: moment) { return beginFetch(reason: .scheduled, options: .init(), at: moment) }
        if isSendDue(at: moment) { beginScheduledSend(at: moment) }
    }

    private mutating func beginManualOperation(at moment: SyncEngineMoment) -> Bool {
        if !fetchCalls.isEmpty {
            let first = fetchCalls.removeFirst()
            beginFetch(reason: .manual, options: first.options, callers: [first.id], at: moment)
            joinFetchCalls(withResyncs: true)
            return true
        }
        if !sendCalls.isEmpty, schedule.fetchesBeforeSend {
            // First fetch what the server has of the changes whose answer was lost, so that the app does not meet its
            // own change as a conflict.
            beginFetch(reason: .scheduled, options: .init(), at: moment)
            return true
        }
        if !sendCalls.isEmpty {
            let first = sendCalls.removeFirst()
            beginSend(reason: .manual, options: first.options, callers: [first.id], at: moment)
            joinSendCalls()
            return true
        }
        return false
    }

    private mutating func beginScheduledSend(at moment: SyncEngineMoment) {
        (schedule.sendDue, schedule.askDue, schedule.sendWaitsForItems) = (nil, nil, false)
        // a scheduled send with nothing to send does not take place.
        guard hasAnythingToSend else { return }
        beginSend(reason: .scheduled, options: .init(), at: moment)
    }

    /// without an account a call fails, and the app gets no events for it.
    private mutating func refuseCalls() {
        var error = CKError(.notAuthenticated)
        if case .unavailable(let reason) = account { error = reason }
        let calls = fetchCalls.map(\.id) + sendCalls.map(\.id)
        outbox.append(contentsOf: calls.map { .finish($0, .failure(error)) })
        (fetchCalls, sendCalls) = ([], [])
    }

    var hasAnythingToSend: Bool {
        !snapshot.pendingRecords.isEmpty || !snapshot.pendingZones.isEmpty || snapshot.hasUntrackedChanges
    }

    // MARK: Due times

    /// Whether scheduled work may run at all. Throttling is checked separately.
    private var isSchedulingOpen: Bool {
        guard automaticallySync, isOnline, !schedule.isSuspended, subscriptionRequest == nil, case .available = account
        else { return false }
        return true
    }

    private var fetchDue: Duration? {
        guard isSchedulingOpen else { return nil }
        // A send that waits for a fetch needs one to be planned: nothing else would end its wait.
        let planned = schedule.fetchDue ?? (schedule.fetchesBeforeSend ? schedule.plannedSend : nil)
        let due = [planned, schedule.periodicFetchDue].compactMap(\.self).min()
        return due.map { max($0, schedule.quietUntil ?? $0) }
    }

    private var sendDue: Duration? {
        guard isSchedulingOpen, !schedule.fetchesBeforeSend else { return nil }
        return schedule.plannedSend.map { max($0, schedule.quietUntil ?? $0) }
    }

    private func isFetchDue(at moment: SyncEngineMoment) -> Bool {
        fetchDue.map { $0 <= moment.now } ?? false
    }

    private func isSendDue(at moment: SyncEngineMoment) -> Bool {
        sendDue.map { $0 <= moment.now } ?? false
    }

    /// While the user is unknown, nothing else begins.
    func isAccountQuestionOpen(at moment: SyncEngineMoment) -> Bool {
        accountRequest != nil || schedule.accountDue.map { $0 <= moment.now } ?? false
    }

    /// Whether an operation could begin now.
    func isAnythingDue(at moment: SyncEngineMoment) -> Bool {
        if accountChange != nil || !cancelCalls.isEmpty { return true }
        if isAccountQuestionOpen(at: moment) { return false }
        return !fetchCalls.isEmpty || !sendCalls.isEmpty || isFetchDue(at: moment) || isSendDue(at: moment)
    }

    /// When to ask again if nothing happens before.
    func nextDue(at moment: SyncEngineMoment) -> Duration? {
        var dues = owesSignIn ? [] : [stateUpdates.due]
        if accountRequest == nil { dues.append(schedule.accountDue) }
        if wantsSubscription { dues.append(schedule.subscriptionDue.map { max($0, schedule.quietUntil ?? $0) }) }
        if operation == nil, !isAccountQuestionOpen(at: moment) { dues += [fetchDue, sendDue] }
        return dues.compactMap(\.self).min()
    }

    // MARK: Triggers

    /// Something new happened: automatic sync goes on after `cancelOperations`.
    mutating func resume(at moment: SyncEngineMoment) {
        guard schedule.isSuspended else { return }
        schedule.isSuspended = false
        // The cancelled operation may have been a fetch that already knew of changes.
        scheduleFetch(at: moment)
        if hasAnythingToSend { scheduleSend(at: moment) }
    }

    /// Plans a fetch as soon as possible.
    mutating func scheduleFetch(at moment: SyncEngineMoment) {
        guard automaticallySync else { return }
        schedule.fetchDue = moment.now
    }

    /// plans a send if none is planned: at once if the engine was idle, otherwise a moment after the last
    /// one began.
    mutating func scheduleSend(at moment: SyncEngineMoment) {
        guard automaticallySync, schedule.sendDue == nil else { return }
        let earliest = schedule.lastSendStart.map { $0 + SyncEngineLimits.sendInterval }
        schedule.sendDue = max(moment.now, earliest ?? moment.now)
    }

    /// the server answered, so the delegate may by now have what it skipped.
    mutating func askAgainSoon(at moment: SyncEngineMoment) {
        if schedule.askDue != nil { schedule.askDue = moment.now }
    }

    /// A new start with the user who is signed in: first what is on the server, then what is pending.
    mutating func scheduleEverything(at moment: SyncEngineMoment) {
        guard automaticallySync else { return }
        schedule.fetchDue = moment.now
        schedule.sendDue = hasAnythingToSend ? moment.now : nil
    }

    mutating func schedulePeriodicFetch(at moment: SyncEngineMoment) {
        guard automaticallySync else { return }
        // Between nine tenths and eleven tenths, so that devices that started together do not stay together.
        schedule.periodicFetchDue = moment.now + SyncEngineLimits.fetchInterval * (0.9 + moment.fraction / 5)
    }

    /// Notes what an error says about the whole engine: throttling, the account.
    mutating func noteFailure(_ error: CKError, retryAt: Duration, at moment: SyncEngineMoment) {
        if error.concernsAccount { schedule.accountDue = moment.now }
        let isThrottled = error.code == .requestRateLimited || error.code == .serviceUnavailable
        guard isThrottled, !error.isOfMissingKeys, error.retryAfterSeconds != nil else { return }
        if error.isGreetingRefused {
            schedule.busyUntil = retryAt
        } else {
            schedule.throttledUntil = max(retryAt, schedule.throttledUntil ?? retryAt)
        }
    }
}
