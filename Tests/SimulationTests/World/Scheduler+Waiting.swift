// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkScheduling
import TidemarkTestSupport

extension Scheduler {
    /// Waits on the virtual clock.
    func pass(_ delay: Duration) async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: delay) { continuation.resume() }
        }
    }

    /// The answer, or nil if there is none in time; the work goes on in either case.
    func firstAnswer<Value: Sendable>(
        within patience: Duration, _ work: @escaping @Sendable () async -> Value?
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let once = Once(continuation)
            let timer = schedule(after: patience) { once.resume(nil) }
            run {
                let value = await work()
                timer.cancel()
                once.resume(value)
            }
        }
    }
}

/// A continuation that only the first of several resumes.
private final class Once<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

    init(_ continuation: CheckedContinuation<Value?, Never>) {
        self.continuation = Mutex(continuation)
    }

    func resume(_ value: Value?) {
        let continuation = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: value)
    }
}
