// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Tells other servers which zones changed. It gathers notices for a few milliseconds and posts them together, one post
/// at a time and not more often than the bus bears (``PostingPace``).
final class NoticePoster: Sendable {
    private struct State {
        var waiting = WaitingNotices(countMax: NoticePoster.waitingMax)
        var isPosting = false
        /// Notices that were posted and not yet received back, if the bus sends them to this server too.
        var echoes: [ZoneNotice: Int] = [:]
    }

    /// Notices that wait while the bus cannot be reached. Further ones are dropped: the other servers' sweep finds the
    /// changes (I-4).
    private static let waitingMax = 10_000

    private let bus: any NoticeBus
    private let scheduler: any Scheduler
    private let delay: Duration
    private let state = Mutex(State())

    /// - Parameter delay: how long the notices of the first post are gathered.
    init(bus: any NoticeBus, scheduler: any Scheduler, delay: Duration) {
        self.bus = bus
        self.scheduler = scheduler
        self.delay = delay
    }

    func post(_ notices: [ZoneNotice]) {
        let mustStart = state.withLock { state in
            for notice in notices { state.waiting.add(notice) }
            defer { state.isPosting = true }
            return !state.isPosting
        }
        if mustStart { next(after: delay) }
    }

    /// The received notices that are not our own.
    ///
    /// If another server's notice equals one of ours, it is taken for ours. Then ours arrives later and takes its
    /// place.
    func others(_ heard: [ZoneNotice]) -> [ZoneNotice] {
        state.withLock { state in
            heard.filter { notice in
                guard let count = state.echoes[notice] else { return true }
                state.echoes[notice] = count > 1 ? count - 1 : nil
                return false
            }
        }
    }

    /// Echoes may have been lost: stop waiting for them.
    func forgetEchoes() {
        state.withLock { $0.echoes = [:] }
    }

    private func next(after delay: Duration) {
        _ = scheduler.schedule(after: delay) { [self] in
            scheduler.run { [self] in
                let pace = bus.pace
                let notices = take(pace.noticesMax)
                guard !notices.isEmpty else { return }
                // A failure is not repaired here: the other servers' sweep finds what they were not told (I-4).
                if await !bus.publish(notices.map { .zone($0) }) { _ = others(notices) }
                next(after: pace.interval)
            }
        }
    }

    /// Ends the posting when there is nothing left.
    private func take(_ count: Int) -> [ZoneNotice] {
        state.withLock { state in
            let taken = state.waiting.take(count)
            state.isPosting = !taken.isEmpty
            guard bus.returnsOwn else { return taken }
            if state.echoes.count > Self.waitingMax { state.echoes = [:] }
            for notice in taken { state.echoes[notice, default: 0] += 1 }
            return taken
        }
    }
}
