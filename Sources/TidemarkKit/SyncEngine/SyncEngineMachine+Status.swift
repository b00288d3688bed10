// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What the machine remembers only to tell it: when something last succeeded, and what last failed. The rest of a
/// status follows from the machine's state.
struct SyncEngineLastOutcomes: Sendable {
    struct Failure: Sendable {
        let error: CKError
        let subject: TidemarkSyncStatus.Failure.Subject
        let time: Duration
    }

    var sent: Duration?
    var fetched: Duration?
    private(set) var failure: Failure?

    /// A cancelled request did not fail, and a conflict is what the app expects.
    mutating func note(
        _ error: CKError, of subject: TidemarkSyncStatus.Failure.Subject, at moment: SyncEngineMoment
    ) {
        guard error.code != .operationCancelled, error.code != .serverRecordChanged else { return }
        failure = Failure(error: error, subject: subject, time: moment.now)
    }
}

extension SyncEngineMachine {
    /// - Parameter date: of a time on the scheduler's clock.
    func status(at now: Duration, date: (Duration) -> Date) -> TidemarkSyncStatus {
        var status = TidemarkSyncStatus()
        let records = snapshot.unacknowledgedRecords
        status.pendingSaveCount = records.saveCount
        status.pendingDeleteCount = records.deleteCount
        status.pendingDatabaseChangeCount =
            snapshot.pendingZones.count
            + snapshot.inFlightZones.count(where: { !snapshot.pendingZones.contains(key: $0.zoneID) })
        status.hasPendingUntrackedChanges = snapshot.hasUntrackedChanges
        status.unfetchedZoneCount = snapshot.unfetchedZones.count
        status.activity = activity
        status.waits = isStopped ? [] : waits(at: now).map { .init(reason: $0.reason, until: $0.until.map(date)) }
        status.lastSent = lastOutcomes.sent.map(date)
        status.lastFetched = lastOutcomes.fetched.map(date)
        status.lastFailure = lastOutcomes.failure.map {
            .init(error: $0.error, subject: $0.subject, date: date($0.time))
        }
        return status
    }

    private var activity: TidemarkSyncStatus.Activity {
        switch operation {
        case .fetch(let fetch): .fetching(progress(of: fetch))
        case .send(let send): .sending(progress(of: send))
        case .account, nil: .idle
        }
    }

    private func progress(of fetch: SyncEngineFetch) -> TidemarkSyncStatus.FetchProgress {
        var progress = TidemarkSyncStatus.FetchProgress()
        progress.zoneCount = fetch.visitedZones.count
        progress.recordCount = fetch.recordCount
        progress.zoneID = fetch.zoneUnderWay
        guard fetch.hasWholeList else { return progress }
        let open = snapshot.unfetchedZones.elements.count(where: {
            !fetch.visitedZones.contains($0) && fetch.options.scope.contains($0)
        })
        progress.zoneTotal = progress.zoneCount + open
        return progress
    }

    private func progress(of send: SyncEngineSend) -> TidemarkSyncStatus.SendProgress {
        let open = snapshot.pendingRecords.count(in: send.context.options.scope)
        let inFlight = snapshot.inFlightRecords.count(where: { !snapshot.pendingRecords.contains(key: $0.recordID) })
        return .init(sentCount: send.successCount, total: send.successCount + open + inFlight)
    }

    // MARK: What it waits for

    private typealias Waiting = (reason: TidemarkSyncStatus.Wait.Reason, until: Duration?)

    private func waits(at now: Duration) -> [Waiting] {
        func later(_ due: Duration?) -> Duration? { due.flatMap { $0 > now ? $0 : nil } }
        var waits: [Waiting] = []
        switch account {
        case .none: waits.append((.account, nil))
        case .unavailable: waits.append((.account, later(schedule.accountDue)))
        case .unknown, .available: break
        }
        if !isOnline { waits.append((.network, nil)) }
        if schedule.isSuspended { waits.append((.cancellation, nil)) }
        if let quiet = later(schedule.quietUntil) { waits.append((.throttling, quiet)) }
        if schedule.fetchBackoff.failureCount > 0, let due = later(schedule.fetchDue) {
            waits.append((.fetchRetry, later(dueByItself(schedule.fetchDue)) ?? due))
        }
        if schedule.sendBackoff.failureCount + schedule.failureBackoff.failureCount > 0,
            let due = later(schedule.sendDue)
        {
            waits.append((.sendRetry, later(dueByItself(schedule.sendDue)) ?? due))
        }
        if case .send(let send) = operation, case .asking = send.phase {
            waits.append((.batch, nil))
        } else if let due = later(schedule.askDue) {
            waits.append((.batch, due))
        }
        for zoneID in zonesWithoutAccess { waits.append((.zone(zoneID), nil)) }
        return waits
    }

    /// When something that is planned may begin, after a pause for which the server asked.
    private func dueByItself(_ due: Duration?) -> Duration? {
        due.map { max($0, schedule.quietUntil ?? $0) }
    }

    /// zones of other users that were gone when they should be read. One that is listed again is unfetched.
    private var zonesWithoutAccess: [CKRecordZone.ID] {
        snapshot.tokenlessZones.filter {
            $0.isOfOther && snapshot.expiredZoneTokens[$0] != nil && !snapshot.unfetchedZones.contains(key: $0)
        }.sorted(by: Self.isInOrder)
    }
}

extension SyncEngineFetch {
    /// Whether the list of changed zones has been read to its end.
    fileprivate var hasWholeList: Bool {
        switch phase {
        case .beginning, .askingForKeys, .awaitingKeys, .askingForFeed, .readingFeed, .awaitingFeed, .tookFeedPage,
            .toldAbsentZones, .closingFullFeed:
            false
        default: true
        }
    }

    fileprivate var zoneUnderWay: CKRecordZone.ID? {
        switch phase {
        case .askingForZone(let zoneID), .continuingZone(let zoneID), .readingZone(let zoneID),
            .awaitingZone(let zoneID), .announcedZone(let zoneID, _), .tookZonePage(let zoneID, _, _),
            .toldFullFetch(let zoneID, _):
            zoneID
        default: nil
        }
    }
}

extension SyncEngineSnapshot {
    /// What the server has not acknowledged. A record that was changed again while it is being sent counts once.
    fileprivate var unacknowledgedRecords: (saveCount: Int, deleteCount: Int) {
        let saveCount = pendingRecords.saveCount
        var counts = (saveCount: saveCount, deleteCount: pendingRecords.count - saveCount)
        // At most as many as one request has.
        for change in inFlightRecords where !pendingRecords.contains(key: change.recordID) {
            if change.isCountedSave { counts.saveCount += 1 } else { counts.deleteCount += 1 }
        }
        return counts
    }
}
