// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling

/// What an engine has not sent yet, as it tells its server for operators. Numbers only: no names, no data.
package struct SyncEngineReport: Sendable, Equatable {
    /// What the engine waits for before it sends.
    package enum Obstacle: Sendable, Equatable {
        case nothing, connection, account, delay, quota, app
    }

    package let saveCount: Int
    package let deleteCount: Int
    package let databaseChangeCount: Int
    package let wait: Obstacle
    /// The code of the last error; 0: what came after it succeeded.
    package let lastError: Int

    init(_ status: TidemarkSyncStatus) {
        saveCount = status.pendingSaveCount
        deleteCount = status.pendingDeleteCount
        databaseChangeCount = status.pendingDatabaseChangeCount
        let failure = status.lastFailure.flatMap { failure in
            [status.lastSent, status.lastFetched].allSatisfy { $0.map { $0 < failure.date } ?? true } ? failure : nil
        }
        lastError = failure?.error.code.rawValue ?? 0
        let pendingCount = saveCount + deleteCount + databaseChangeCount
        wait =
            if failure?.error.code == .quotaExceeded, pendingCount > 0 { .quota } else {
                status.waits.lazy.compactMap { Obstacle($0.reason) }.first ?? .nothing
            }
    }
}

extension SyncEngineReport.Obstacle {
    /// Nil: it does not keep changes from being sent.
    fileprivate init?(_ reason: TidemarkSyncStatus.Wait.Reason) {
        switch reason {
        case .account: self = .account
        case .network: self = .connection
        case .throttling, .sendRetry: self = .delay
        case .cancellation, .batch: self = .app
        case .fetchRetry, .zone: return nil
        }
    }
}

/// Tells the server of one engine what that has not sent yet: at most once a minute, and only what has changed.
///
/// It looks when the engine rests. The look costs as much as a status, so there is at most one a minute, too.
final class SyncEngineReporter: Sendable {
    private struct State {
        var last: SyncEngineReport?
        var lookedAt: Duration?
        var timer: ScheduledTimer?
        var hasEnded = false
    }

    private static let gap = Duration.seconds(60)

    private let cloud: any SyncEngineCloud
    private let scheduler: any Scheduler
    private let state = Mutex(State())

    init(_ cloud: any SyncEngineCloud, on scheduler: any Scheduler) {
        self.cloud = cloud
        self.scheduler = scheduler
    }

    /// The engine has nothing to do at present. Not to be called under the engine's lock.
    ///
    /// - Parameter status: nil: the engine is gone.
    func engineRests(_ status: @escaping @Sendable () -> TidemarkSyncStatus?) {
        guard cloud.wantsReports else { return }
        let now = scheduler.now
        let looks = state.withLock { state -> Bool in
            guard !state.hasEnded, state.timer == nil else { return false }
            guard let lookedAt = state.lookedAt, now - lookedAt < Self.gap else {
                state.lookedAt = now
                return true
            }
            state.timer = scheduler.schedule(after: lookedAt + Self.gap - now) { [weak self] in
                guard let self else { return }
                self.state.withLock { $0.timer = nil }
                engineRests(status)
            }
            return false
        }
        if looks, let report = status().map(SyncEngineReport.init) { tell(report) }
    }

    private func tell(_ report: SyncEngineReport) {
        guard state.withLock({ $0.last }) != report, cloud.report(report) else { return }
        state.withLock { $0.last = report }
    }

    /// The engine is gone.
    func end() {
        let timer = state.withLock { state in
            state.hasEnded = true
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }
}
