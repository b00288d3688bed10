// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Tells other servers which zones moved: gathers what comes within a few milliseconds and posts it at once, one post at
/// a time, because posting takes a lock that the whole store shares (design, *Many servers*).
final class NoticePoster: Sendable {
    private struct State {
        var waiting: Set<ZoneNotice> = []
        var isPosting = false
        /// Posted and not yet heard from the store, which tells its posts to everybody who listens, us among them.
        var echoes: [ZoneNotice: Int] = [:]
    }

    /// Notices of one post: bounded, for they travel in one message.
    private static let noticesMax = 100
    /// While posts follow each other they are so many times as far apart as the first is from what it tells: each costs every
    /// server of the store a wake-up, and the saves on the way some time.
    private static let slowing = 5
    /// Notices that wait while the store cannot be reached. What is more is dropped: the others' sweep finds it (I-4).
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
            for notice in notices where state.waiting.count < Self.waitingMax { state.waiting.insert(notice) }
            defer { state.isPosting = true }
            return !state.isPosting
        }
        if mustStart { next(after: delay) }
    }

    /// Of notices that were heard, those that are not our own.
    ///
    /// If another server's is taken for ours because it says the same, ours is heard later and told in its place.
    func others(_ heard: [ZoneNotice]) -> [ZoneNotice] {
        state.withLock { state in
            heard.filter { notice in
                guard let count = state.echoes[notice] else { return true }
                state.echoes[notice] = count > 1 ? count - 1 : nil
                return false
            }
        }
    }

    /// Echoes may have been lost: none is waited for any longer.
    func forgetEchoes() {
        state.withLock { $0.echoes = [:] }
    }

    private func next(after delay: Duration) {
        _ = scheduler.schedule(after: delay) { [self] in
            scheduler.run { [self] in
                let notices = take()
                guard !notices.isEmpty else { return }
                // A failure is not repaired here: the others' sweep finds what they were not told (I-4).
                if case .failure = await service.post(notices.map { .zone($0) }) { _ = others(notices) }
                next(after: self.delay * Self.slowing)
            }
        }
    }

    /// Ends the posting when there is nothing left.
    private func take() -> [ZoneNotice] {
        state.withLock { state in
            let taken = Array(
                state.waiting.sorted { ($0.database, $0.zoneName, $0.life) < ($1.database, $1.zoneName, $1.life) }
                    .prefix(Self.noticesMax))
            state.waiting.subtract(taken)
            state.isPosting = !taken.isEmpty
            if state.echoes.count > Self.waitingMax { state.echoes = [:] }
            for notice in taken { state.echoes[notice, default: 0] += 1 }
            return taken
        }
    }
}
