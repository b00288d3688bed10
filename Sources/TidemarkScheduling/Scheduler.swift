// SPDX-License-Identifier: Apache-2.0

/// Where work runs and what time it is there: the clock, the timers and the dice of everything above the sockets.
///
/// An event loop is one (real time, its own thread); the simulation is another (virtual time, one thread, every choice
/// from a seed). Service, sessions, sync engine and client connection take theirs as a parameter and use nothing else:
/// no `Task.sleep`, no `Date()`, no `SystemRandomNumberGenerator`, no global executor. That is what makes a failing
/// history replay exactly.
package protocol Scheduler: TaskExecutor {
    /// Monotonic time since an arbitrary start.
    var now: Duration { get }

    /// As ``now``, from another start, and it goes on while the machine sleeps.
    var nowWithSleep: Duration { get }

    /// Milliseconds since 1970-01-01 00:00 UTC. May jump: for dates that people see, and nothing else.
    var wallClockMilliseconds: Int64 { get }

    /// Runs `work` on this scheduler after `delay`, unless the timer is cancelled before. Callable from any thread.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer

    /// 64 random bits: for identities, jitter and back-off; secrets come from TidemarkCrypto.
    func randomBits() -> UInt64
}

/// A timer that has been set and can be taken back. Cancelling twice, or after it fired, does nothing.
package struct ScheduledTimer: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    package func cancel() {
        onCancel()
    }
}

extension Scheduler {
    /// Of a scheduler whose machine never sleeps.
    package var nowWithSleep: Duration { now }

    /// 16 random bytes that name something for good.
    package func randomBytes16() -> [UInt8] {
        (0..<2).flatMap { _ in withUnsafeBytes(of: randomBits().bigEndian, Array.init) }
    }

    /// Starts a task whose every nonisolated step runs on this scheduler.
    @discardableResult
    package func run<Success: Sendable>(
        _ work: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: self, operation: work)
    }

    /// As ``run(_:)``, but begins before this returns, on the caller's thread, as far as it need not wait: for a caller that
    /// runs on this scheduler anyway.
    @discardableResult
    package func runAtOnce<Success: Sendable>(
        _ work: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task.immediate(executorPreference: self) { await work() }
    }

    /// As ``run(_:)``, for work that throws.
    @discardableResult
    package func runThrowing<Success: Sendable>(
        _ work: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: self, operation: work)
    }
}
