// SPDX-License-Identifier: Apache-2.0

extension SyncEngineMachine {
    // MARK: Errands: requests beside the operation

    /// Starts to ask for the user and to look for the subscription, when it is time.
    mutating func startErrands(at moment: SyncEngineMoment) {
        if accountRequest == nil, let due = schedule.accountDue, due <= moment.now {
            let id = newRequestID()
            schedule.accountDue = nil
            accountRequest = id
            outbox.append(.start(id, .currentUser, for: nil))
        }
        let isThrottled = schedule.quietUntil.map { moment.now < $0 } ?? false
        if wantsSubscription, !isThrottled, let due = schedule.subscriptionDue, due <= moment.now {
            let id = newRequestID()
            schedule.subscriptionDue = nil
            subscriptionRequest = id
            outbox.append(.start(id, .ensureSubscription(wantedSubscriptionID), for: snapshot.user))
        }
    }

    /// only with automatic sync, and only while no valid subscription is known.
    var wantsSubscription: Bool {
        guard automaticallySync, isOnline, !schedule.isSuspended, subscriptionRequest == nil, accountRequest == nil,
            accountChange == nil, case .available = account
        else { return false }
        // The account event comes before any other work for the account.
        if case .account = operation { return false }
        return wantedSubscriptionID.map { $0 != snapshot.subscriptionID } ?? (snapshot.subscriptionID == nil)
    }

    /// somebody deleted the subscription on the server. Without one no pushes come, so the engine looks for one
    /// again, or creates it.
    mutating func subscriptionIsGone(_ id: CKSubscription.ID, at moment: SyncEngineMoment) {
        guard automaticallySync, snapshot.subscriptionID == id else { return }
        snapshot.subscriptionID = nil
        schedule.subscriptionDue = moment.now
        noteChange(at: moment)
    }

    mutating func subscriptionAnswered(_ outcome: SyncEngineOutcome, at moment: SyncEngineMoment) {
        switch outcome {
        case .success(.subscription(let id)):
            schedule.subscriptionBackoff.reset()
            guard snapshot.subscriptionID != id else { return }
            snapshot.subscriptionID = id
            noteChange(at: moment)
        case .success:
            preconditionFailure("a subscription was asked for")
        case .failure(let error):
            lastOutcomes.note(error, of: .subscription, at: moment)
            // Whatever the error is: without a subscription no push comes.
            let delay = schedule.subscriptionBackoff.nextDelay(after: error, at: moment)
            schedule.subscriptionDue = moment.now + delay
            noteFailure(error, retryAt: moment.now + delay, at: moment)
        }
    }

    // MARK: Who is signed in

    /// The cloud reports that the account may have changed.
    mutating func accountHinted(at moment: SyncEngineMoment) {
        schedule.accountDue = moment.now
        schedule.accountBackoff.reset()
    }

    mutating func accountAnswered(_ outcome: SyncEngineOutcome, at moment: SyncEngineMoment) {
        switch outcome {
        case .success(.user(let user, let storeLife)):
            schedule.accountBackoff.reset()
            accountFound(user, storeLife, at: moment)
        case .success:
            preconditionFailure("the user was asked for")
        case .failure(let error):
            // an unknown account is no account change. A hint that came meanwhile may be about this very
            // failure; asking at once could go on for ever.
            account = .unavailable(error)
            lastOutcomes.note(error, of: .account, at: moment)
            schedule.accountDue = moment.now + schedule.accountBackoff.nextDelay(after: error, at: moment)
        }
    }

    private mutating func accountFound(_ user: CKRecord.ID?, _ storeLife: UInt64?, at moment: SyncEngineMoment) {
        let wasAvailable = if case .available = account { true } else { false }
        account = user == nil ? .none : .available
        // An account operation under way has already put its user into the snapshot.
        accountChange = Self.change(from: snapshot.user, to: user).map {
            SyncEngineAccountOperation(change: $0, user: user, storeLife: storeLife)
        }
        if accountChange != nil {
            cancelOperation()
            if let id = subscriptionRequest {
                subscriptionRequest = nil
                // The user may be back before the change is told.
                schedule.subscriptionDue = moment.now
                outbox.append(.cancel(id))
            }
        } else if !wasAvailable, let user {
            claimPendingOfNoChange(user, at: moment)
            noteLife(storeLife, at: moment)
            scheduleEverything(at: moment)
        }
    }

    /// After a crash between two account changes, a journal may have changes of a user who is gone again. They are kept
    /// for that user. The app may have been told of the change to them and have deleted its data, so everything is
    /// fetched anew.
    private mutating func claimPendingOfNoChange(_ user: CKRecord.ID, at moment: SyncEngineMoment) {
        guard journaling != nil, snapshot.pendingOwner != SyncEnginePendingOwner(user) else { return }
        if !keepsPending(for: user) { snapshot.setPendingAside() }
        forgetData()
        snapshot.user = user
        noteChange(at: moment)
        claimPending(for: user)
    }

    /// Pending changes stay if they belong to the new user: after a crash a journal may have what they added
    /// already.
    private mutating func forgetAccount(before user: CKRecord.ID?) {
        let keepsPending = keepsPending(for: user)
        guard snapshot.user != nil || !keepsPending else { return }
        if !keepsPending { snapshot.setPendingAside() }
        forgetData()
    }

    /// Forgets everything about the account's data, which is then fetched as for the first time.
    private mutating func forgetData() {
        snapshot.forgetAccount()
        fullFetches = SyncEngineFullFetches()
    }

    private static func change(
        from previous: CKRecord.ID?, to current: CKRecord.ID?
    ) -> CKSyncEngine.Event.AccountChange.ChangeType? {
        switch (previous, current) {
        case (nil, nil): nil
        case (nil, let current?): .signIn(currentUser: current)
        case (let previous?, nil): .signOut(previousUser: previous)
        case (let previous?, let current?):
            previous.recordName == current.recordName
                ? nil : .switchAccounts(previousUser: previous, currentUser: current)
        }
    }

    // MARK: Telling the app

    /// forget first, then report, including what will not be sent. What the handler adds is kept. R-565: the new
    /// state follows.
    mutating func step(_ operation: inout SyncEngineAccountOperation, at moment: SyncEngineMoment) -> SyncEngineAction?
    {
        switch operation.phase {
        case .clearing:
            // changes that were added while nobody was signed in belong to whoever signs in.
            forgetAccount(before: operation.user)
            snapshot.user = operation.user
            noteLife(operation.storeLife, at: moment)
            claimPending(for: operation.user)
            // what an earlier process sent may have been carried out, and its engine may not have known the user.
            let fetchesBeforeSend = schedule.fetchesBeforeSend && !snapshot.pendingRecords.isEmpty
            schedule.forgetAccount()
            schedule.fetchesBeforeSend = fetchesBeforeSend
            repeatedFailures = []
            suspects = [:]
            batchRoom = nil
            passedOver = []
            lastOutcomes = SyncEngineLastOutcomes()
            noteChange(at: moment)
            operation.phase = .flushing
            return .deliver(.accountChange(.init(changeType: operation.change, unsent: snapshot.unsent)))
        case .flushing:
            toldUnsent()
            operation.phase = .ended
            if operation.user != nil {
                scheduleEverything(at: moment)
            } else if hasAnythingToSend {
                scheduleSend(at: moment)
            }
            return stateUpdates.isPending ? deliverStateUpdate() : nil
        case .ended:
            return nil
        }
    }
}
