// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Posts to one bus. It gathers notices for a few milliseconds and posts them together, one post at a time and not more often than
/// the bus bears (``PostingPace``).
final class PostingLine: Sendable {
    private struct State {
        var notices: PostedNotices
        /// Whether a post is under way, or the next one is scheduled.
        var isPosting = false
        var isUnderWay = false
        /// From then on nothing waits for its time.
        var isFlushed = false
        var onEnd: CheckedContinuation<Void, Never>?
    }

    /// After a failure the bus is left alone for so long at least.
    private static let failurePause = Duration.seconds(1)
    /// Notices of one kind that are posted together at the end.
    private static let lastCountMax = 1_000

    private let bus: any NoticeBus
    private let scheduler: any Scheduler
    private let delay: Duration
    private let state: Mutex<State>

    /// - Parameter delay: how long the notices of the first post are gathered.
    init(_ bus: any NoticeBus, scheduler: any Scheduler, delay: Duration) {
        self.bus = bus
        self.scheduler = scheduler
        self.delay = delay
        state = Mutex(State(notices: PostedNotices(returnsOwn: bus.returnsOwn)))
    }

    /// From any thread.
    func add(_ change: (inout PostedNotices) -> Void) {
        let mustStart = state.withLock { state in
            change(&state.notices)
            defer { state.isPosting = true }
            return !state.isPosting
        }
        if mustStart { next(after: delay) }
    }

    /// Looks at what was posted. From any thread.
    func take<Value: Sendable>(_ look: (inout PostedNotices) -> Value) -> Value {
        state.withLock { look(&$0.notices) }
    }

    private func next(after delay: Duration) {
        _ = scheduler.schedule(after: delay) { [self] in scheduler.run { [self] in await post() } }
    }

    private func post() async {
        let pace = bus.pace
        let post = state.withLock { state -> PostedNotices.Post? in
            guard !state.isFlushed else { return nil }
            let post = state.notices.take(pace.noticesMax)
            state.isPosting = !post.isEmpty
            state.isUnderWay = state.isPosting
            return post.isEmpty ? nil : post
        }
        guard let post else { return }
        let isHeard = await bus.publish(post.notices)
        let onEnd = state.withLock { state in
            if !isHeard { state.notices.failed(post) }
            state.isUnderWay = false
            defer { state.onEnd = nil }
            return state.onEnd
        }
        onEnd?.resume()
        next(after: isHeard ? pace.interval : max(pace.interval, Self.failurePause))
    }

    /// Posts all that waits, at once. For a server that stops, and only once. It gives up at the first failure.
    func flush() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                state.isFlushed = true
                if state.isUnderWay { state.onEnd = continuation }
                return !state.isUnderWay
            }
            if isFree { continuation.resume() }
        }
        while true {
            let post = state.withLock { $0.notices.take(Self.lastCountMax) }
            guard !post.isEmpty, await bus.publish(post.notices) else { return }
        }
    }
}
