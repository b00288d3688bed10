// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension Scheduler {
    /// Suspends for `delay` on this scheduler's clock.
    ///
    /// - Parameter isOver: called once, before the task runs again.
    /// - Throws: `CancellationError` at once when the task is or gets cancelled.
    package func sleep(for delay: Duration, isOver: @escaping @Sendable () -> Void = {}) async throws {
        let wait = Wait(isOver)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard wait.start(continuation) else { return continuation.resume(throwing: CancellationError()) }
                wait.arm(schedule(after: delay) { wait.finish(cancelled: false) })
            }
        } onCancel: {
            wait.finish(cancelled: true)
        }
    }
}

/// One sleep: a continuation that is resumed exactly once, by its timer or by cancellation, whichever is first.
private final class Wait: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var timer: ScheduledTimer?
        var isFinished = false
    }

    private let isOver: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ isOver: @escaping @Sendable () -> Void) {
        self.isOver = isOver
    }

    /// False if cancellation came before the sleep began.
    func start(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
        state.withLock {
            guard !$0.isFinished else { return false }
            $0.continuation = continuation
            return true
        }
    }

    func arm(_ timer: ScheduledTimer) {
        let isFinished = state.withLock {
            $0.timer = timer
            return $0.isFinished
        }
        if isFinished { timer.cancel() }
    }

    func finish(cancelled: Bool) {
        let (continuation, timer, isFirst) = state.withLock { state in
            defer {
                state.continuation = nil
                state.timer = nil
                state.isFinished = true
            }
            return (state.continuation, state.timer, !state.isFinished)
        }
        timer?.cancel()
        if isFirst { isOver() }
        if cancelled { continuation?.resume(throwing: CancellationError()) } else { continuation?.resume() }
    }
}
