// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension SyncEngineMachine {
    mutating func beginSend(
        reason: CKSyncEngine.SyncReason, options: CKSyncEngine.SendChangesOptions, callers: [SyncEngineCallID] = [],
        at moment: SyncEngineMoment
    ) {
        // A call for everything also does what was planned.
        let absorbsPlan = options.scope.covers(.all) && schedule.plannedSend != nil
        if absorbsPlan { (schedule.sendDue, schedule.askDue, schedule.sendWaitsForItems) = (nil, nil, false) }
        schedule.lastSendStart = moment.now
        operation = .send(
            SyncEngineSend(
                reason: reason, context: .init(reason: reason, options: options), callers: callers,
                isWantedByEngine: reason == .scheduled || absorbsPlan))
    }

    /// The next action of a send; nil if it waits for its request or has ended.
    mutating func step(_ send: inout SyncEngineSend, at moment: SyncEngineMoment) -> SyncEngineAction? {
        while true {
            switch send.phase {
            case .beginning:
                send.phase = .sendingZones
                return .deliver(.willSendChanges(.init(context: send.context)))

            case .sendingZones:
                if let action = sendZonesOrAsk(&send, at: moment) { return action }

            case .awaitingZones(let changes):
                guard let outcome = takeOutcome() else { return nil }
                return .deliver(.sentDatabaseChanges(settle(changes, outcome, &send, at: moment)))

            case .asking:
                if let action = sendBatch(&send, at: moment) { return action }

            case .awaitingRecords(let batch):
                guard let outcome = takeOutcome() else { return nil }
                if let action = settle(batch, outcome, &send, at: moment) { return action }

            case .closing:
                if let action = lastStateUpdate(&send.lastUpdateCount) { return action }
                send.lastUpdateCount = 0
                send.phase = .flushing
                return .deliver(.didSendChanges(.init(context: send.context)))

            case .flushing:
                // changes of the last handler are also reported before a call returns.
                if !send.callers.isEmpty, let action = lastStateUpdate(&send.lastUpdateCount) { return action }
                send.phase = .ended
                endSend(send, at: moment)
                return nil

            case .ended:
                return nil
            }
        }
    }

    // MARK: Zones

    /// zones before records, so that a zone and its records can be added together. This includes zones that are
    /// added while the pass is under way.
    private mutating func sendZonesOrAsk(
        _ send: inout SyncEngineSend, at moment: SyncEngineMoment
    ) -> SyncEngineAction? {
        if send.isCancelled {
            send.phase = .closing
            return nil
        }
        let options = send.context.options
        // As many as one request may have. The rest follows when this runs again.
        let changes = Array(zonesDue(in: send).prefix(SyncEngineLimits.batchItemsMax))
        guard !changes.isEmpty else {
            send.phase = .asking
            send.batch = nil
            send.touchedRecords = []
            send.additionsSeen = additionCount
            send.asksAgain = false
            return .askBatch(send.context)
        }
        for change in changes {
            snapshot.pendingZones.remove(change)
            send.triedZones.insert(change.zoneID)
        }
        snapshot.inFlightZones = changes
        noteChange(at: moment)
        send.phase = .awaitingZones(changes)
        return start(
            .modifyZones(
                saving: changes.compactMap(\.zoneToSave), deleting: changes.compactMap(\.zoneIDToDelete),
                options.operationGroup))
    }

    /// Changes of zones that the pass has not tried.
    private func zonesDue(in send: SyncEngineSend) -> [CKSyncEngine.PendingDatabaseChange] {
        snapshot.pendingZones.elements.filter {
            send.context.options.scope.contains($0) && !send.triedZones.contains($0.zoneID)
        }
    }

    // MARK: Records

    /// Takes the delegate's answer to `askBatch`. R-590: later changes of the records have no effect.
    mutating func batchAnswered(_ batch: CKSyncEngine.RecordZoneChangeBatch?) {
        guard case .send(var send) = operation, case .asking = send.phase else { return }
        send.batch = batch?.copied()
        operation = .send(send)
    }

    private mutating func sendBatch(_ send: inout SyncEngineSend, at moment: SyncEngineMoment) -> SyncEngineAction? {
        guard !send.isCancelled, let batch = send.batch, !batch.isEmpty else {
            // zones that were added while the delegate was asked belong to this pass, and it is asked once more.
            let goesOn = !send.isCancelled && (send.asksAgain || !zonesDue(in: send).isEmpty)
            send.isExhausted = !send.isCancelled && !goesOn
            send.phase = goesOn ? .sendingZones : .closing
            return nil
        }
        send.batch = nil
        guard batch.recordIDs.allSatisfy(send.context.options.scope.contains) else {
            // nothing of it is sent, and its changes stay pending.
            send.requestError = CKError(.invalidArguments)
            send.phase = .closing
            return nil
        }
        if let code = batch.refusal {
            takeInFlight(batch, send, at: moment)
            return settle(batch, .failure(CKError(code)), &send, at: moment)
        }
        let part = part(of: batch, send)
        takeInFlight(part, send, at: moment)
        send.phase = .awaitingRecords(part)
        return start(.modifyRecords(part, send.context.options.operationGroup))
    }

    /// from now on these changes are in flight. They are pending again only if they are added again.
    private mutating func takeInFlight(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, _ send: SyncEngineSend, at moment: SyncEngineMoment
    ) {
        snapshot.inFlightRecords = batch.changes
        // R-517 also holds for changes that were never pending.
        if journaling != nil { journal(batch.recordIDs.filter { !snapshot.pendingRecords.contains(key: $0) }) }
        for change in batch.changes where !send.touchedRecords.contains(change.recordID) {
            snapshot.pendingRecords.remove(change)
        }
        noteChange(at: moment)
    }

    // MARK: The end

    /// Decides what follows from the end of the pass.
    private mutating func endSend(_ send: SyncEngineSend, at moment: SyncEngineMoment) {
        outbox.append(contentsOf: send.callers.map { .finish($0, send.result) })
        let failedBefore = repeatedFailures
        repeatedFailures = send.stuckItems
        // A lost request may have been carried out. Its outcome is fetched first, so that the app does not meet its own
        // change as a conflict.
        if send.lostAnswer { schedule.fetchesBeforeSend = true }
        if send.isCancelled {
            // An account change makes new plans. After cancelOperations nothing is planned.
            if !schedule.isSuspended, accountChange == nil, hasAnythingToSend { scheduleSend(at: moment) }
        } else if let error = send.retriedError {
            retrySend(after: error, send, at: moment)
        } else if !repeatedFailures.isEmpty {
            // the rest goes at once. If the same items fail again and again, the engine slows down.
            let isRepeated = !failedBefore.isDisjoint(with: repeatedFailures)
            if !isRepeated { schedule.failureBackoff.reset() }
            let delay = isRepeated ? schedule.failureBackoff.nextDelay(at: moment) : .zero
            // the server answered, so the next network failure would be the first in a row.
            schedule.sendBackoff.reset()
            guard automaticallySync, hasAnythingToSend else { return }
            planSend(at: moment.now + delay, after: send)
        } else if send.isExhausted {
            endExhausted(send, at: moment)
        }
    }

    private mutating func retrySend(after error: CKError, _ send: SyncEngineSend, at moment: SyncEngineMoment) {
        // a batch before the lost one was answered, so this is the first failure in a row.
        if error.code == .serverResponseLost, send.successCount > 0 { schedule.sendBackoff.reset() }
        let retryAt = moment.now + schedule.sendBackoff.nextDelay(after: error, at: moment)
        noteFailure(error, retryAt: retryAt, at: moment)
        guard automaticallySync else { return }
        let isPlanned = !send.context.options.scope.covers(.all) && schedule.sendDue != nil
        planSend(at: retryAt, after: send)
        schedule.sendWaitsForItems = send.failsByItems && (!isPlanned || schedule.sendWaitsForItems)
        if newsCount > send.additionsSeen { schedule.sendSoonBesideFailing(at: moment) }
        guard send.lostAnswer else { return }
        schedule.fetchDue = min(retryAt, schedule.fetchDue ?? retryAt)
    }

    /// Decides when the rest of a send is tried again. A send of a part only does not bring forward what waits for
    /// another reason: the time that the server asked for, or items that keep failing.
    private mutating func planSend(at due: Duration, after send: SyncEngineSend) {
        let earliest = send.context.options.scope.covers(.all) ? nil : schedule.sendDue
        schedule.sendDue = max(due, earliest ?? due)
    }

    /// The delegate had no more, and nothing failed.
    private mutating func endExhausted(_ send: SyncEngineSend, at moment: SyncEngineMoment) {
        schedule.sendBackoff.reset()
        schedule.failureBackoff.reset()
        // A pass sends no zone twice. A zone that was added again after it was sent waits for the next pass.
        if additionCount != send.additionsSeen || send.leavesZones(of: snapshot) {
            if hasAnythingToSend { scheduleSend(at: moment) }
            return
        }
        // Only the answer to a question about everything shows that nothing is left.
        guard send.context.options.scope.covers(.all) else { return }
        schedule.sendDue = nil
        planQuestion(at: moment)
        // an app that could not read what is pending may not have read the rest either.
        guard passedOver.isEmpty, snapshot.hasUntrackedChanges else { return }
        snapshot.hasUntrackedChanges = false
        journalUntrackedChanges()
        noteChange(at: moment)
    }
}

extension SyncEngineMachine {
    /// the delegate may have skipped a change because it could not read its store for a moment. It is asked
    /// again, later each time, so that an app that never sends the change is seldom asked.
    private mutating func planQuestion(at moment: SyncEngineMoment) {
        let records = Set(snapshot.pendingRecords.elements.map(\.recordID))
        if !records.isSubset(of: passedOver) { schedule.askBackoff.reset() }
        passedOver = records
        guard automaticallySync, !records.isEmpty else { return schedule.askDue = nil }
        schedule.askDue = moment.now + schedule.askBackoff.nextDelay(at: moment)
    }
}

extension SyncEngineSend {
    fileprivate func leavesZones(of snapshot: SyncEngineSnapshot) -> Bool {
        snapshot.pendingZones.elements.contains { context.options.scope.contains($0) }
    }
}

extension CKSyncEngine.PendingDatabaseChange {
    var zoneToSave: CKRecordZone? {
        if case .saveZone(let zone) = self { zone } else { nil }
    }

    var zoneIDToDelete: CKRecordZone.ID? {
        if case .deleteZone(let zoneID) = self { zoneID } else { nil }
    }
}
