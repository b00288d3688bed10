// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that arrives once, and everybody who waits for it: a repeated request waits for the first one's.
final class Answer<Value: Sendable>: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Value, Never>])
        case given(Value)
    }

    private let state = Mutex(State.waiting([]))

    /// Suspends until ``give(_:)``; does not heed cancellation, because every request is bounded by its deadline.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let given: Value? = state.withLock { state in
                switch state {
                case .given(let value): return value
                case .waiting(let waiters):
                    state = .waiting(waiters + [continuation])
                    return nil
                }
            }
            if let given { continuation.resume(returning: given) }
        }
    }

    /// The first value counts; later ones are dropped.
    func give(_ value: Value) {
        let waiters: [CheckedContinuation<Value, Never>] = state.withLock { state in
            guard case .waiting(let waiters) = state else { return [] }
            state = .given(value)
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }
}
