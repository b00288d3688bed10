// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that the loop passes, once, to the one task that waits for it.
///
/// The value goes through a lock, not through the continuation. If the continuation is resumed before its task waits,
/// the thread sanitizer does not see how the runtime orders the two, and falsely reports races.
final class Handover<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func give(_ value: Value) {
        let waiter = state.withLock { state in
            state.value = value
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Suspends until ``give(_:)``. It ignores cancellation.
    func take() async -> Value {
        while true {
            if let value = state.withLock({ $0.value }) { return value }
            await withCheckedContinuation { continuation in
                let isGiven = state.withLock { state in
                    if state.value == nil { state.waiter = continuation }
                    return state.value != nil
                }
                if isGiven { continuation.resume() }
            }
        }
    }
}
