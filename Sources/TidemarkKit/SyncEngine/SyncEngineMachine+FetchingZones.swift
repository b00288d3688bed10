// SPDX-License-Identifier: Apache-2.0

extension SyncEngineMachine {
    /// One step within the zones of a fetch: choose, ask, open, read page by page, close.
    mutating func stepZone(_ fetch: inout SyncEngineFetch, at moment: SyncEngineMoment) -> StepOutcome {
        switch fetch.phase {
        case .choosingZone:
            return chooseZone(&fetch)

        case .openingZone:
            return openZone(&fetch)

        case .askingForZone(let zoneID):
            if fetch.isCancelled { return endZone(zoneID, error: CKError(.operationCancelled), &fetch) }
            fetch.phase = .continuingZone(zoneID)
            return .act(ask(fetch))

        case .continuingZone(let zoneID):
            // a zone that the delegate no longer wants stays unfetched.
            if !fetch.options.scope.contains(zoneID) { return endZone(zoneID, error: nil, &fetch) }
            fetch.phase = .readingZone(zoneID)
            return .proceed

        case .readingZone(let zoneID):
            return readZone(zoneID, &fetch)

        case .awaitingZone(let zoneID):
            guard let outcome = takeOutcome() else { return .wait }
            return zoneAnswered(outcome, zoneID, &fetch, at: moment)

        case .announcedZone(let zoneID, let page):
            return deliver(page, zoneID, &fetch)

        case .tookZonePage(let zoneID, let token, let moreComing):
            return pageTaken(token, moreComing: moreComing, zoneID, &fetch, at: moment)

        case .toldFullFetch(let zoneID, let fullFetch):
            return endZone(zoneID, error: nil, fullFetch: fullFetch, &fetch)

        case .closingFullFetch(let zoneID):
            closeFullFetch(of: zoneID, at: moment)
            fetch.phase = .choosingZone
            return .proceed

        default:
            preconditionFailure("not a phase of a zone")
        }
    }

    private mutating func chooseZone(_ fetch: inout SyncEngineFetch) -> StepOutcome {
        if fetch.isCancelled || fetch.error != nil { return close(&fetch) }
        if nextZone(of: fetch) != nil {
            fetch.phase = .openingZone
            return .act(ask(fetch))
        }
        guard fetch.rereadsFeed else { return close(&fetch) }
        fetch.phase = .askingForFeed
        return .proceed
    }

    /// first the zones that the app prefers, in its order, then the others in the order of the feed.
    func nextZone(of fetch: SyncEngineFetch) -> CKRecordZone.ID? {
        func isOpen(_ zoneID: CKRecordZone.ID) -> Bool {
            !fetch.visitedZones.contains(zoneID) && fetch.options.scope.contains(zoneID)
        }
        let preferred = fetch.options.prioritizedZoneIDs.first {
            snapshot.unfetchedZones.contains(key: $0) && isOpen($0)
        }
        return preferred ?? snapshot.unfetchedZones.elements.first(where: isOpen)
    }

    private mutating func openZone(_ fetch: inout SyncEngineFetch) -> StepOutcome {
        if fetch.isCancelled { return close(&fetch) }
        // The delegate's answer may have changed the choice.
        guard let zoneID = nextZone(of: fetch) else {
            fetch.phase = .choosingZone
            return .proceed
        }
        fetch.phase = .readingZone(zoneID)
        return .act(.deliver(.willFetchRecordZoneChanges(.init(zoneID: zoneID))))
    }

    private mutating func readZone(_ zoneID: CKRecordZone.ID, _ fetch: inout SyncEngineFetch) -> StepOutcome {
        if fetch.isCancelled { return endZone(zoneID, error: CKError(.operationCancelled), &fetch) }
        fetch.phase = .awaitingZone(zoneID)
        // What was pushed after the feed was requested may be missing in the page that came with it.
        let asOfFeed = fetch.pushedZones.remove(zoneID) == nil
        let token = snapshot.zoneTokens[zoneID]
        return .act(start(.zoneChanges(in: zoneID, since: token, asOfFeed: asOfFeed, fetch.options.operationGroup)))
    }

    private mutating func zoneAnswered(
        _ outcome: SyncEngineOutcome, _ zoneID: CKRecordZone.ID, _ fetch: inout SyncEngineFetch,
        at moment: SyncEngineMoment
    ) -> StepOutcome {
        switch outcome {
        case .success(.zonePage(let page)):
            if let action = announcement(of: page, zoneID) {
                fetch.phase = .announcedZone(zoneID, page)
                return .act(action)
            }
            return deliver(page, zoneID, &fetch)

        case .success:
            preconditionFailure("changes of a zone were asked for")

        case .failure(let error) where error.code == .changeTokenExpired && snapshot.zoneTokens[zoneID] != nil:
            // from the beginning, within the same fetch. The app gets all living records again.
            beginFullFetch(of: zoneID, at: moment)
            fetch.phase = .askingForZone(zoneID)
            return .proceed

        case .failure(let error):
            if error.code == .zoneNotFound, zoneID.isOfOther {
                loseAccess(to: zoneID, at: moment)
            } else if error.code == .zoneNotFound || error.code == .userDeletedZone {
                // the zone is gone, and the list of zones will report it. If the store is restored before that,
                // the list is of another incarnation and says nothing of this zone: then the app hears of it as absent.
                snapshot.forgetZone(zoneID)
                snapshot.tokenlessZones.insert(zoneID)
                noteChange(at: moment)
            }
            return endZone(zoneID, error: error, &fetch)
        }
    }

    private mutating func deliver(
        _ page: SyncEngineZonePage, _ zoneID: CKRecordZone.ID, _ fetch: inout SyncEngineFetch
    ) -> StepOutcome {
        var page = page
        if page.lacksKeys { noteKeyless(zoneID) }
        // As for the database feed: no endless series of empty pages.
        let moreComing = page.moreComing && (!page.isEmpty || page.token != snapshot.zoneTokens[zoneID])
        fetch.phase = .tookZonePage(zoneID, page.token, moreComing: moreComing)
        noteFetched(&page, zoneID)
        fetch.recordCount += page.modifications.count + page.deletions.count
        if page.isEmpty { return .proceed }
        return .act(
            .deliver(
                .fetchedRecordZoneChanges(
                    .init(
                        modifications: page.modifications, deletions: page.deletions,
                        fullFetchReason: fullFetchReason(of: zoneID),
                        isResync: fullFetches.zones[zoneID]?.isResync ?? false))))
    }

    /// The delegate has handled the page's event.
    private mutating func pageTaken(
        _ token: CKServerChangeToken, moreComing: Bool, _ zoneID: CKRecordZone.ID, _ fetch: inout SyncEngineFetch,
        at moment: SyncEngineMoment
    ) -> StepOutcome {
        takeZoneToken(token, zoneID, at: moment)
        if moreComing {
            fetch.phase = .askingForZone(zoneID)
            return .proceed
        }
        // what was pushed after the page was requested is not in it.
        if !fetch.pushedZones.contains(zoneID), snapshot.unfetchedZones.remove(key: zoneID) {
            noteChange(at: moment)
        }
        guard let fullFetch = endedFullFetch(of: zoneID, token) else { return endZone(zoneID, error: nil, &fetch) }
        fetch.phase = .toldFullFetch(zoneID, fullFetch)
        return .act(.deliverStoreEvent(.didFetchFromNothing(fullFetch)))
    }

    private mutating func takeZoneToken(
        _ token: CKServerChangeToken, _ zoneID: CKRecordZone.ID, at moment: SyncEngineMoment
    ) {
        guard snapshot.zoneTokens[zoneID] != token else { return }
        snapshot.zoneTokens[zoneID] = token
        if zoneID.isOfOther { lastZoneOfOther = zoneID }
        noteChange(at: moment)
    }

    /// exactly one end for each beginning. R-550: other zones go on, unless the error concerns all.
    private mutating func endZone(
        _ zoneID: CKRecordZone.ID, error: CKError?, fullFetch: TidemarkFullFetch? = nil, _ fetch: inout SyncEngineFetch
    ) -> StepOutcome {
        fetch.visitedZones.insert(zoneID)
        if let error {
            fetch.zoneErrors[zoneID] = error
            if error.isRetriedBySyncEngine { fetch.error = error }
        }
        fetch.phase = fullFetch == nil ? .choosingZone : .closingFullFetch(zoneID)
        return .act(
            .deliver(.didFetchRecordZoneChanges(.init(zoneID: zoneID, error: error, fullFetch: fullFetch))))
    }
}
