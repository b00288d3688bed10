// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension SyncEngineMachine {
    mutating func beginFetch(
        reason: CKSyncEngine.SyncReason, options: CKSyncEngine.FetchChangesOptions, callers: [SyncEngineCallID] = [],
        at moment: SyncEngineMoment
    ) {
        // A call for everything also does what was planned.
        let absorbsPlan = options.scope.covers(.all) && schedule.fetchDue.map { $0 <= moment.now } ?? false
        let isWantedByEngine = reason == .scheduled || absorbsPlan
        if isWantedByEngine { schedule.fetchDue = nil }
        var fetch = SyncEngineFetch(
            reason: reason, context: .init(reason: reason, options: options), options: options, callers: callers,
            isWantedByEngine: isWantedByEngine)
        fetch.beginsResync = beginResyncs(in: options.scope, at: moment)
        operation = .fetch(fetch)
    }

    /// The next action of a fetch; nil if it waits for its request or has ended.
    mutating func step(_ fetch: inout SyncEngineFetch, at moment: SyncEngineMoment) -> SyncEngineAction? {
        while true {
            switch fetch.phase {
            case .beginning:
                // the app may drop what it has of a zone when the zone's records are announced.
                if fetch.beginsResync, let action = lastStateUpdate(&fetch.lastUpdateCount) { return action }
                fetch.lastUpdateCount = 0
                fetch.phase = .askingForKeys
                return .deliver(.willFetchChanges(.init(context: fetch.context)))

            case .askingForKeys, .awaitingKeys:
                switch stepKeys(&fetch, at: moment) {
                case .act(let action): return action
                case .wait: return nil
                case .proceed: continue
                }

            case .askingForFeed, .readingFeed, .awaitingFeed, .tookFeedPage, .toldAbsentZones, .closingFullFeed:
                switch stepFeed(&fetch, at: moment) {
                case .act(let action): return action
                case .wait: return nil
                case .proceed: continue
                }

            case .choosingZone, .openingZone, .askingForZone, .continuingZone, .readingZone, .awaitingZone,
                .announcedZone, .tookZonePage, .toldFullFetch, .closingFullFetch:
                switch stepZone(&fetch, at: moment) {
                case .act(let action): return action
                case .wait: return nil
                case .proceed: continue
                }

            case .closing:
                if let action = lastStateUpdate(&fetch.lastUpdateCount) { return action }
                fetch.lastUpdateCount = 0
                fetch.phase = .flushing
                return .deliver(.didFetchChanges(.init(context: fetch.context)))

            case .flushing:
                // changes of the last handler are also reported before a call returns.
                if !fetch.callers.isEmpty, let action = lastStateUpdate(&fetch.lastUpdateCount) { return action }
                fetch.phase = .ended
                endFetch(fetch, at: moment)
                return nil

            case .ended:
                return nil
            }
        }
    }

    /// The state of an operation after one of its parts.
    enum StepOutcome {
        case act(SyncEngineAction), wait, proceed
    }

    // MARK: The database feed

    private mutating func stepFeed(_ fetch: inout SyncEngineFetch, at moment: SyncEngineMoment) -> StepOutcome {
        switch fetch.phase {
        case .askingForFeed:
            if fetch.isCancelled { return close(&fetch) }
            fetch.rereadsFeed = false
            fetch.phase = .readingFeed
            return .act(ask(fetch))

        case .readingFeed:
            if fetch.isCancelled { return close(&fetch) }
            fetch.phase = .awaitingFeed
            // On later pages of a long list no zone comes along: the end of the list decides which one is next.
            let next = fetch.isReadingOn ? nil : nextZone(of: fetch) ?? likelyZone(for: fetch)
            let expected = next.map { SyncEngineZonePlace(zoneID: $0, token: snapshot.zoneTokens[$0]) }
            // A caller wants everything that is on the server by then, and so does a send whose answer was lost.
            let asPushed = fetch.reason == .scheduled && fetch.callers.isEmpty && !schedule.fetchesBeforeSend
            return .act(
                start(
                    .databaseChanges(
                        since: snapshot.databaseToken, expecting: expected, asPushed: asPushed,
                        fetch.options.operationGroup)))

        case .awaitingFeed:
            guard let outcome = takeOutcome() else { return .wait }
            return feedAnswered(outcome, &fetch, at: moment)

        case .tookFeedPage(let token, let moreComing):
            takeDatabaseToken(token, at: moment)
            fetch.isReadingOn = moreComing
            fetch.phase = moreComing ? .askingForFeed : .choosingZone
            guard !moreComing, let reason = fullFeedReason(token, isEnd: true) else { return .proceed }
            let (ended, list) = fateOfUnlistedZones(reason)
            fetch.phase = .toldAbsentZones(ended: ended, reason)
            return .act(.deliverStoreEvent(.didFetchZonesFromNothing(list)))

        case .toldAbsentZones(let ended, let reason):
            fetch.phase = .closingFullFeed
            guard !ended.isEmpty else { return .proceed }
            return .act(
                .deliver(.fetchedDatabaseChanges(.init(modifications: [], deletions: ended, fullFetchReason: reason))))

        case .closingFullFeed:
            closeFullFeed(at: moment)
            fetch.phase = .choosingZone
            return .proceed

        default:
            preconditionFailure("not a phase of the feed")
        }
    }

    /// The zone that the engine reads next if the list names it. Its page may come along for nothing.
    private func likelyZone(for fetch: SyncEngineFetch) -> CKRecordZone.ID? {
        guard let zoneID = lastZoneOfOther, snapshot.zoneTokens[zoneID] != nil, fetch.options.scope.contains(zoneID)
        else { return nil }
        return zoneID
    }

    private mutating func feedAnswered(
        _ outcome: SyncEngineOutcome, _ fetch: inout SyncEngineFetch, at moment: SyncEngineMoment
    ) -> StepOutcome {
        switch outcome {
        case .success(.databasePage(var page)):
            if let id = page.missingSubscriptionID { subscriptionIsGone(id, at: moment) }
            // A server that promises more and brings nothing new would keep the engine here for ever.
            let moreComing = page.moreComing && (!page.isEmpty || page.token != snapshot.databaseToken)
            fetch.phase = .tookFeedPage(page.token, moreComing: moreComing)
            noticeAnotherLife(page.token)
            let reason = fullFeedReason(page.token, isEnd: !moreComing)
            if let reason { noteListed(&page, reason) }
            if page.isEmpty { return .proceed }
            noteZones(of: page, &fetch, at: moment)
            return .act(
                .deliver(
                    .fetchedDatabaseChanges(
                        .init(
                            modifications: page.modifications, deletions: page.deletions, fullFetchReason: reason))))

        case .success:
            preconditionFailure("database changes were asked for")

        case .failure(let error) where error.code == .changeTokenExpired && snapshot.databaseToken != nil:
            // from the beginning, within the same fetch. The app gets all zones again.
            beginFullFeed(at: moment)
            // The server may have been restored, so the engine looks for the subscription again too.
            snapshot.subscriptionID = nil
            schedule.subscriptionDue = moment.now
            fetch.phase = .askingForFeed
            return .proceed

        case .failure(let error):
            // It says more than the earlier errors of single zones, which their ends have reported.
            fetch.zoneErrors = [:]
            fetch.error = error
            return close(&fetch)
        }
    }

    /// deleted zones are forgotten before the app is told. Deletions come first: a zone in both lists has been
    /// created again. R-522: changed zones must be fetched.
    private mutating func noteZones(
        of page: SyncEngineDatabasePage, _ fetch: inout SyncEngineFetch, at moment: SyncEngineMoment
    ) {
        for deletion in page.deletions {
            snapshot.forgetZone(deletion.zoneID)
            fetch.visitedZones.remove(deletion.zoneID)
        }
        for modification in page.modifications where modification.zoneID.zoneName != CKRecordZone.ID.defaultZoneName {
            snapshot.unfetchedZones.add(modification.zoneID)
            snapshot.tokenlessZones.remove(modification.zoneID)
            fetch.visitedZones.remove(modification.zoneID)
        }
        noteChange(at: moment)
    }

    private mutating func takeDatabaseToken(_ token: CKServerChangeToken, at moment: SyncEngineMoment) {
        guard snapshot.databaseToken != token else { return }
        snapshot.databaseToken = token
        snapshot.storeLife = nil
        noteChange(at: moment)
    }

    // MARK: Both feeds

    func ask(_ fetch: SyncEngineFetch) -> SyncEngineAction {
        .askFetchOptions(.init(reason: fetch.reason, options: fetch.options))
    }

    func close(_ fetch: inout SyncEngineFetch) -> StepOutcome {
        fetch.phase = .closing
        return .proceed
    }

    /// Takes the delegate's answer to `askFetchOptions`: scope and priorities. The group stays that of the call
    ///
    mutating func fetchOptionsAnswered(_ options: CKSyncEngine.FetchChangesOptions) {
        guard case .fetch(var fetch) = operation else { return }
        fetch.options.scope = options.scope
        fetch.options.prioritizedZoneIDs = options.prioritizedZoneIDs
        operation = .fetch(fetch)
    }

    // MARK: The end

    /// Decides what follows from the end of the fetch.
    private mutating func endFetch(_ fetch: SyncEngineFetch, at moment: SyncEngineMoment) {
        outbox.append(contentsOf: fetch.callers.map { .finish($0, fetch.result) })
        schedulePeriodicFetch(at: moment)
        noteOutcome(of: fetch, at: moment)
        if fetch.wasPushed { scheduleFetch(at: moment) }
        if fetch.isCancelled {
            // An account change makes new plans. After cancelOperations nothing is planned.
            if fetch.isWantedByEngine, !schedule.isSuspended, accountChange == nil { scheduleFetch(at: moment) }
            return
        }
        guard let error = fetch.error else {
            let leavesOut = leavesZonesOut(fetch)
            // What became of a lost answer may be in a zone that the call did not want.
            if !leavesOut { schedule.fetchesBeforeSend = false }
            askAgainSoon(at: moment)
            fetchWhatIsLeft(of: fetch, at: moment)
            // Automatic sync still wants what a call left out on purpose.
            if leavesOut { scheduleFetch(at: moment) }
            return
        }
        // The result of a lost answer cannot be found out now. Pending changes do not wait for it for ever.
        if !error.isRetriedBySyncEngine { schedule.fetchesBeforeSend = false }
        // Calls that waited for it cannot go on.
        if schedule.fetchesBeforeSend {
            outbox.append(contentsOf: sendCalls.map { .finish($0.id, .failure(error)) })
            sendCalls = []
        }
        // whatever the error is. Otherwise changes of others would wait for the periodic fetch, and nobody would
        // know why.
        let retryAt = moment.now + schedule.fetchBackoff.nextDelay(after: error, at: moment)
        if automaticallySync { schedule.fetchDue = retryAt }
        noteFailure(error, retryAt: retryAt, at: moment)
    }

    /// For the app: an error of a zone says more than one of the whole fetch.
    private mutating func noteOutcome(of fetch: SyncEngineFetch, at moment: SyncEngineMoment) {
        guard !fetch.isCancelled else { return }
        if let zoneID = fetch.zoneErrors.keys.min(by: Self.isInOrder), let error = fetch.zoneErrors[zoneID] {
            lastOutcomes.note(error, of: .zone(zoneID), at: moment)
        } else if let error = fetch.error {
            lastOutcomes.note(error, of: .fetch, at: moment)
        } else {
            lastOutcomes.fetched = moment.now
        }
    }

    /// Plans a fetch of zones that a completed fetch has not read.
    private mutating func fetchWhatIsLeft(of fetch: SyncEngineFetch, at moment: SyncEngineMoment) {
        // those that failed. Nothing is left of those that are gone.
        let failures = fetch.zoneErrors.filter { snapshot.unfetchedZones.contains(key: $0.key) }.values
        if let error = failures.max(by: { ($0.retryAfterSeconds ?? 0) < ($1.retryAfterSeconds ?? 0) }) {
            let retryAt = moment.now + schedule.fetchBackoff.nextDelay(after: error, at: moment)
            if automaticallySync { schedule.fetchDue = min(schedule.fetchDue ?? retryAt, retryAt) }
        } else {
            schedule.fetchBackoff.reset()
        }
    }

    /// Whether a call has left out changed zones that it did not want. A scheduled fetch has done what the engine wants.
    private func leavesZonesOut(_ fetch: SyncEngineFetch) -> Bool {
        fetch.reason == .manual
            && snapshot.unfetchedZones.elements.contains {
                !fetch.visitedZones.contains($0) && !fetch.options.scope.contains($0)
            }
    }
}
