// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The answer to a request under way, for the one task that will wait for it.
final class PendingAnswer: Sendable {
    typealias Outcome = Result<ServerReply, ConnectionMachine.RequestFailure>

    private struct State {
        var id: UInt64 = 0
        var outcome: Outcome?
        var waiter: WaitingTask<Outcome>?
    }

    private let state = Mutex(State())

    /// The id of the request.
    var id: UInt64 {
        get { state.withLock { $0.id } }
        set { state.withLock { $0.id = newValue } }
    }

    /// Whether ``outcome()`` would return at once.
    var isGiven: Bool { state.withLock { $0.outcome != nil } }

    func give(_ outcome: Outcome) {
        let waiter = state.withLock { state in
            state.outcome = outcome
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: outcome)
    }

    /// Waits for the answer. Only one task may.
    func outcome() async -> Outcome {
        await withWaitingTask { task in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiter = task }
                return state.outcome
            }
            if let outcome { task.resume(returning: outcome) }
        }
    }
}
