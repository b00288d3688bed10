// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A callback of the app, for code that counts the work under way (``SyncEngineHost/atWork``). While the callback waits
/// for an answer it is not at work: time may have to pass first.
final class CallbackWork: Sendable {
    typealias Report = @Sendable (_ begins: Bool) -> Void

    private struct State {
        var waitCount = 0
        var isOver = false
    }

    /// The callback in which the current task runs or was started; it may be over. Nil if nobody counts.
    @TaskLocal static var current: CallbackWork?

    private let report: Report
    private let state = Mutex(State())

    private init(_ report: @escaping Report) {
        self.report = report
    }

    /// Runs a callback, which its caller has reported as work.
    static func run<Value>(_ report: Report?, _ callback: () async -> Value) async -> Value {
        guard let report else { return await callback() }
        let work = CallbackWork(report)
        defer { work.end() }
        return await $current.withValue(work, operation: callback)
    }

    func waitBegins() {
        let isFirst = state.withLock { state in
            state.waitCount += 1
            return state.waitCount == 1 && !state.isOver
        }
        if isFirst { report(false) }
    }

    func waitEnds() {
        let isLast = state.withLock { state in
            state.waitCount -= 1
            return state.waitCount == 0 && !state.isOver
        }
        if isLast { report(true) }
    }

    /// A task that the callback has started may still wait.
    private func end() {
        let waits = state.withLock { state in
            state.isOver = true
            return state.waitCount > 0
        }
        if waits { report(true) }
    }
}

/// A task that waits, perhaps in a callback. The callback counts as at work again before the task runs.
struct WaitingTask<Value: Sendable>: Sendable {
    private let continuation: CheckedContinuation<Value, Never>
    private let work: CallbackWork?

    fileprivate init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = continuation
        work = CallbackWork.current
        work?.waitBegins()
    }

    func resume(returning value: Value) {
        work?.waitEnds()
        continuation.resume(returning: value)
    }
}

/// Suspends the task until it is resumed, once. Whatever an app may wait for in a callback must wait like this.
func withWaitingTask<Value: Sendable>(_ body: (WaitingTask<Value>) -> Void) async -> Value {
    await withCheckedContinuation { body(WaitingTask($0)) }
}
