// SPDX-License-Identifier: Apache-2.0

/// Runs work and tells the time: the clock, the timers and the random numbers of everything above the sockets.
///
/// An event loop is a scheduler with real time and its own thread. The simulation is another, with virtual time, one
/// thread, and every choice from a seed. Service, sessions, sync engine and client connection have theirs as a
/// parameter and use nothing else: no `Task.sleep`, no `Date()`, no `SystemRandomNumberGenerator`, no global executor.
/// So a history that fails can be replayed exactly.
package protocol Scheduler: TaskExecutor {
    /// Monotonic time since an arbitrary origin.
    var now: Duration { get }

    /// How long processors have worked for the thread that asks. A clock goes on while others have the processor, so it does not
    /// say how much somebody has cost.
    var processorTime: Duration { get }

    /// As ``now``, with another origin, and it also counts while the machine sleeps.
    var nowWithSleep: Duration { get }

    /// Milliseconds since 1970-01-01 00:00 UTC. It may jump, so use it only for dates that people see.
    var wallClockMilliseconds: Int64 { get }

    /// Runs `work` on this scheduler after `delay`, unless the timer is cancelled first. Callable from any thread.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer

    /// An executor on this scheduler for the work of one owner. The lanes of a scheduler take turns, so an owner with much
    /// work does not make others wait. The work of one lane runs in the order in which it came.
    func makeLane() -> any TaskExecutor

    /// 64 random bits, for identities, jitter and back-off. Secrets come from TidemarkCrypto.
    func randomBits() -> UInt64
}

/// A timer that can be cancelled. A second cancellation, or one after it fired, does nothing.
package struct ScheduledTimer: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    package func cancel() {
        onCancel()
    }
}

extension TaskExecutor {
    /// Starts a task whose every nonisolated step runs on this executor.
    @discardableResult
    package func run<Success: Sendable>(
        _ work: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: self, operation: work)
    }
}

extension Scheduler {
    /// The default, for a scheduler that charges no time.
    package var processorTime: Duration { now }

    /// For schedulers that do not care whose work is next.
    package func makeLane() -> any TaskExecutor { self }

    /// For a scheduler whose machine never sleeps.
    package var nowWithSleep: Duration { now }

    /// 16 random bytes, for a permanent identity.
    package func randomBytes16() -> [UInt8] {
        (0..<2).flatMap { _ in withUnsafeBytes(of: randomBits().bigEndian, Array.init) }
    }

    /// As ``TaskExecutor/run(_:)``, but begins on the caller's thread before this returns, until it first waits. For a caller that
    /// already runs on this scheduler.
    @discardableResult
    package func runAtOnce<Success: Sendable>(
        _ work: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task.immediate(executorPreference: self) { await work() }
    }

    /// As ``TaskExecutor/run(_:)``, for work that throws.
    @discardableResult
    package func runThrowing<Success: Sendable>(
        _ work: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: self, operation: work)
    }
}
