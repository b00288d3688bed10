// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Those who follow an engine's status. Each has at most one signal waiting, so a slow one costs no memory.
final class SyncEngineStatusWatchers: Sendable {
    private struct State {
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastNumber = 0
        var isEnded = false
    }

    /// So that a change that nobody follows costs one load.
    private let count = Atomic(0)
    private let state = Mutex(State())

    var watcherCount: Int { count.load(ordering: .relaxed) }

    /// Signals now, and after each change, until the end.
    ///
    /// NB: the watcher is known before it reads the status. Whoever changes the status later holds the engine's lock after
    /// that, so it sees the count.
    func watch() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            guard !state.isEnded else { return nil }
            state.lastNumber += 1
            state.watchers[state.lastNumber] = continuation
            count.store(state.watchers.count, ordering: .relaxed)
            return state.lastNumber
        }
        continuation.yield()
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    /// The status may have changed. Not to be called under the engine's lock: a watcher may run at once.
    func changed() {
        guard watcherCount > 0 else { return }
        for watcher in state.withLock({ Array($0.watchers.values) }) { watcher.yield() }
    }

    /// The engine is gone.
    func end() {
        let watchers = state.withLock { state in
            state.isEnded = true
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    private func forget(_ number: Int) {
        state.withLock { state in
            state.watchers[number] = nil
            count.store(state.watchers.count, ordering: .relaxed)
        }
    }
}
