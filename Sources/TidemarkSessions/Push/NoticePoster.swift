// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Tells other servers which zones changed. It gathers notices for a few milliseconds and posts them together, one post
/// at a time, because posting takes a lock that the whole store shares.
final class NoticePoster: Sendable {
    private struct State {
        var waiting = WaitingNotices(countMax: NoticePoster.waitingMax)
        var isPosting = false
        /// Notices that were posted and not yet received back. The store sends posts to every listener, including this
        /// server.
        var echoes: [ZoneNotice: Int] = [:]
    }

    /// Notices of one post. Bounded, because they are in one message.
    private static let noticesMax = 100
    /// While posts follow each other, the gap between them is this many times the delay of the first one. Each post
    /// wakes every server of the store, and delays saves under way.
    private static let slowing = 5
    /// Notices that wait while the store cannot be reached. Further ones are dropped: the other servers' sweep finds
    /// the changes (I-4).
    private static let waitingMax = 10_000

    private let service: CloudService
    private let scheduler: any Scheduler
    private let delay: Duration
    private let state = Mutex(State())

    init(service: CloudService, scheduler: any Scheduler, delay: Duration) {
        self.service = service
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
                let notices = take()
                guard !notices.isEmpty else { return }
                // A failure is not repaired here: the other servers' sweep finds what they were not told (I-4).
                if case .failure = await service.post(notices.map { .zone($0) }) { _ = others(notices) }
                next(after: self.delay * Self.slowing)
            }
        }
    }

    /// Ends the posting when there is nothing left.
    private func take() -> [ZoneNotice] {
        state.withLock { state in
            let taken = state.waiting.take(Self.noticesMax)
            state.isPosting = !taken.isEmpty
            if state.echoes.count > Self.waitingMax { state.echoes = [:] }
            for notice in taken { state.echoes[notice, default: 0] += 1 }
            return taken
        }
    }
}
