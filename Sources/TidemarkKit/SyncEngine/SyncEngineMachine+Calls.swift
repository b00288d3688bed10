// SPDX-License-Identifier: Apache-2.0

extension SyncEngineMachine {
    // MARK: Calls of the app

    /// The app calls `fetchChanges`.
    mutating func fetchCalled(
        _ id: SyncEngineCallID, _ options: CKSyncEngine.FetchChangesOptions, at moment: SyncEngineMoment
    ) {
        noteAppCall(at: moment)
        guard !isStopped else { return refuse(id) }
        fetchCalls.append((id, options, false))
        askForAccountIfNeeded(at: moment)
        joinFetchCalls()
    }

    /// The app calls `sendChanges`.
    mutating func sendCalled(
        _ id: SyncEngineCallID, _ options: CKSyncEngine.SendChangesOptions, at moment: SyncEngineMoment
    ) {
        noteAppCall(at: moment)
        guard !isStopped else { return refuse(id) }
        sendCalls.append((id, options))
        askForAccountIfNeeded(at: moment)
        joinSendCalls()
    }

    /// The app calls `cancelOperations`.
    mutating func cancelCalled(_ id: SyncEngineCallID, at moment: SyncEngineMoment) {
        schedule.startDue = nil
        guard !isStopped else { return refuse(id) }
        schedule.isSuspended = true
        schedule.fetchDue = nil
        (schedule.sendDue, schedule.askDue) = (nil, nil)
        for call in fetchCalls.map(\.id) + sendCalls.map(\.id) { refuse(call) }
        (fetchCalls, sendCalls) = ([], [])
        cancelCalls.append(id)
        cancelOperation()
    }

    /// The Swift task of a call was cancelled. Its operation goes on if another caller wants it.
    mutating func callerCancelled(_ id: SyncEngineCallID) {
        if fetchCalls.contains(where: { $0.id == id }) || sendCalls.contains(where: { $0.id == id }) {
            fetchCalls.removeAll { $0.id == id }
            sendCalls.removeAll { $0.id == id }
            return refuse(id)
        }
        switch operation {
        case .fetch(var fetch) where fetch.callers.contains(id) && fetch.isJoinable:
            if fetch.callers == [id] && !fetch.isWantedByEngine { return cancelOperation() }
            fetch.callers.removeAll { $0 == id }
            operation = .fetch(fetch)
            refuse(id)
        case .send(var send) where send.callers.contains(id) && send.isJoinable:
            if send.callers == [id] && !send.isWantedByEngine { return cancelOperation() }
            send.callers.removeAll { $0 == id }
            operation = .send(send)
            refuse(id)
        default:
            // It has been answered, or is about to be.
            return
        }
    }

    /// Ends the operation under way, with all its events. An operation that is about to end is left alone.
    mutating func cancelOperation() {
        switch operation {
        case .fetch(var fetch) where fetch.isJoinable:
            fetch.isCancelled = true
            operation = .fetch(fetch)
        case .send(var send) where send.isJoinable:
            send.isCancelled = true
            operation = .send(send)
        default:
            return
        }
        cancelOperationRequest()
    }

    /// calls join the fetch under way if it includes what they want. A resync does not join one that has begun
    /// before it.
    mutating func joinFetchCalls(withResyncs: Bool = false) {
        guard case .fetch(var fetch) = operation, fetch.isJoinable else { return }
        for call in fetchCalls
        where fetch.options.scope.covers(call.options.scope) && (withResyncs || !call.isResync) {
            fetch.callers.append(call.id)
            fetch.rereadsFeed = fetch.rereadsFeed || fetch.hasReadFeed
        }
        fetchCalls.removeAll { call in fetch.callers.contains(call.id) }
        operation = .fetch(fetch)
    }

    /// calls join the send under way if it includes what they want.
    mutating func joinSendCalls() {
        guard case .send(var send) = operation, send.isJoinable else { return }
        let joining = sendCalls.filter { send.context.options.scope.covers($0.options.scope) }.map(\.id)
        guard !joining.isEmpty else { return }
        sendCalls.removeAll { joining.contains($0.id) }
        send.callers += joining
        send.asksAgain = true
        // A failed zone is tried again in another pass, and these callers are told so.
        send.triedZones = send.triedZones.filter { send.itemErrors[.zone($0)] != nil }
        operation = .send(send)
    }

    mutating func refuse(_ id: SyncEngineCallID) {
        outbox.append(.finish(id, .failure(CKError(.operationCancelled))))
    }

    mutating func noteAppCall(at moment: SyncEngineMoment) {
        // The app has its engine, because it calls it.
        schedule.startDue = nil
        resume(at: moment)
    }

    /// if there was no account, a call asks again.
    mutating func askForAccountIfNeeded(at moment: SyncEngineMoment) {
        if case .available = account { return }
        if accountRequest == nil { schedule.accountDue = moment.now }
    }

    // MARK: Pending changes (R-510 … R-520)

    /// - Parameter isInCallback: whether the delegate adds them within one of its callbacks.
    mutating func add(
        _ changes: [CKSyncEngine.PendingRecordZoneChange], isInCallback: Bool, at moment: SyncEngineMoment
    ) {
        guard !changes.isEmpty else { return }
        if !isInCallback, case .send(var send) = operation, case .asking = send.phase {
            // The delegate may have read the record before this change, so one more send is due. That is so whatever is
            // pending for it now, because the change may have been undone and made again since.
            send.touchedRecords.formUnion(changes.map(\.recordID))
            operation = .send(send)
        }
        var isChanged = false
        for change in changes { isChanged = snapshot.pendingRecords.add(change) || isChanged }
        if isChanged { journal(changes.map(\.recordID)) }
        noteAddition(isChanged: isChanged, bringsNews: bringsNews(changes.map { .record($0.recordID) }), at: moment)
    }

    mutating func add(_ changes: [CKSyncEngine.PendingDatabaseChange], at moment: SyncEngineMoment) {
        guard !changes.isEmpty else { return }
        var isChanged = false
        for change in changes { isChanged = snapshot.pendingZones.add(change) || isChanged }
        if isChanged { journal([], changes.map(\.zoneID)) }
        noteAddition(isChanged: isChanged, bringsNews: bringsNews(changes.map { .zone($0.zoneID) }), at: moment)
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange], at moment: SyncEngineMoment) {
        schedule.startDue = nil
        var isChanged = false
        for change in changes { isChanged = snapshot.pendingRecords.remove(change) || isChanged }
        guard isChanged else { return }
        journal(changes.map(\.recordID))
        noteChange(at: moment)
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingDatabaseChange], at moment: SyncEngineMoment) {
        schedule.startDue = nil
        var isChanged = false
        for change in changes { isChanged = snapshot.pendingZones.remove(change) || isChanged }
        guard isChanged else { return }
        journal([], changes.map(\.zoneID))
        noteChange(at: moment)
    }

    /// sets whether the app has changes that it does not list.
    mutating func setUntrackedChanges(_ hasUntrackedChanges: Bool, at moment: SyncEngineMoment) {
        let isChanged = snapshot.hasUntrackedChanges != hasUntrackedChanges
        snapshot.hasUntrackedChanges = hasUntrackedChanges
        if isChanged { journalUntrackedChanges() }
        if hasUntrackedChanges {
            noteAddition(isChanged: isChanged, bringsNews: true, at: moment)
        } else if isChanged {
            noteChange(at: moment)
        }
    }

    /// adding plans a send. New changes do not wait for items that keep failing, or
    /// two seconds at most.
    private mutating func noteAddition(isChanged: Bool, bringsNews: Bool, at moment: SyncEngineMoment) {
        schedule.startDue = nil
        additionCount += 1
        if isChanged { noteChange(at: moment) }
        resume(at: moment)
        if bringsNews, schedule.failureBackoff.failureCount > 0, schedule.sendBackoff.failureCount == 0 {
            schedule.sendDue = nil
        }
        if isChanged, bringsNews {
            newsCount = additionCount
            schedule.sendSoonBesideFailing(at: moment)
        }
        scheduleSend(at: moment)
    }

    private func bringsNews(_ items: [SyncEngineItem]) -> Bool {
        !items.allSatisfy(repeatedFailures.contains)
    }

    // MARK: What the cloud tells

    /// the named zones must be fetched, and a fetch is due at once.
    mutating func pushReceived(_ zoneIDs: [CKRecordZone.ID], at moment: SyncEngineMoment) {
        guard automaticallySync, case .available = account, accountChange == nil else { return }
        resume(at: moment)
        var isChanged = false
        // Without a token the list will name every zone that there is by then.
        if snapshot.databaseToken != nil {
            for zoneID in zoneIDs where zoneID.zoneName != CKRecordZone.ID.defaultZoneName {
                isChanged = snapshot.unfetchedZones.add(zoneID) || isChanged
            }
        }
        if isChanged { noteChange(at: moment) }
        guard case .fetch(var fetch) = operation, fetch.hasReadFeed else { return scheduleFetch(at: moment) }
        fetch.pushedZones.formUnion(zoneIDs)
        fetch.wasPushed = true
        operation = .fetch(fetch)
    }

    /// this engine and another began from one state. Pending changes stay, and so do the tokens, which say what
    /// the app has.
    mutating func deviceReplaced(by identity: [UInt8], at moment: SyncEngineMoment) {
        snapshot.deviceIdentity = identity
        noteChange(at: moment)
    }

    /// I-4: after a gap the engine fetches, because pushes may have been lost. What waits for a network waits no
    /// longer.
    mutating func connectivityChanged(isOnline: Bool, at moment: SyncEngineMoment) {
        let isBack = isOnline && !self.isOnline
        self.isOnline = isOnline
        guard isOnline else { return }
        schedule.busyUntil = nil
        if case .available = account {} else { schedule.accountDue = moment.now }
        if schedule.subscriptionDue != nil { schedule.subscriptionDue = moment.now }
        // If no gap was reported, failures show that there was one.
        let hasFailed = schedule.fetchBackoff.failureCount > 0 || schedule.sendBackoff.failureCount > 0
        guard isBack || hasFailed else { return }
        schedule.fetchBackoff.reset()
        schedule.sendBackoff.reset()
        schedule.accountBackoff.reset()
        schedule.subscriptionBackoff.reset()
        if schedule.sendDue != nil { schedule.sendDue = moment.now }
        askAgainSoon(at: moment)
        scheduleFetch(at: moment)
    }
}
