// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkTelemetry

/// A value that arrives once, for everybody who waits for it. A repeated request waits for the outcome of the first.
package final class Answer<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    /// The request that waits first, for the log: others do its work.
    let request = RequestTrace.current

    package init() {}

    /// Suspends until ``give(_:)``. It ignores cancellation, because every request is bounded by its deadline.
    package func value() async -> Value {
        while true {
            // Read under the lock also after the wait. The thread sanitizer does not see the order in which a
            // continuation is resumed before its task waits.
            if let value = state.withLock({ $0.value }) { return value }
            await withUnsafeContinuation { continuation in
                let isGiven = state.withLock { state in
                    if state.value == nil { state.waiters.append(continuation) }
                    return state.value != nil
                }
                if isGiven { continuation.resume() }
            }
        }
    }

    /// The first value counts. Later ones are dropped.
    package func give(_ value: Value) {
        let waiters = state.withLock { state in
            guard state.value == nil else { return [] as [UnsafeContinuation<Void, Never>] }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
