// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Synchronization
package import TidemarkScheduling

/// A scheduler whose time stands still until a test moves it: no thread, no waiting, the same order every time.
///
/// Jobs and timers run on the thread that calls ``runUntilIdle()`` or ``advance(by:)``, one after the other: timers by
/// time, and those of the same time in the order in which they were set.
package final class ManualScheduler: Scheduler, @unchecked Sendable {
    private struct Timer {
        let time: Duration
        let number: Int
        let work: @Sendable () -> Void
    }

    private struct State {
        var now = Duration.zero
        /// How far the wall clock is ahead of that, but for its start.
        var sleptMilliseconds: Int64 = 0
        var jobs: Deque<UnownedJob> = []
        /// Few in tests; the next is found by looking at all.
        var timers: [Timer] = []
        var timerNumber = 0
        var random: SeededRandom
    }

    private let state: Mutex<State>
    private let wallClockStart: Int64

    /// A loop of jobs that never ends is an error of the test, not a test that hangs.
    private static let stepCountMax = 10_000_000

    package init(seed: UInt64 = 1, wallClockStart: Int64 = 1_700_000_000_000) {
        state = Mutex(State(random: SeededRandom(seed: seed)))
        self.wallClockStart = wallClockStart
    }

    package var now: Duration { state.withLock { $0.now } }

    package var nowWithSleep: Duration {
        state.withLock { $0.now + .milliseconds($0.sleptMilliseconds) }
    }

    package var wallClockMilliseconds: Int64 {
        let (now, sleptMilliseconds) = state.withLock { ($0.now, $0.sleptMilliseconds) }
        let (seconds, attoseconds) = now.components
        return wallClockStart + sleptMilliseconds + seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    package func randomBits() -> UInt64 {
        state.withLock { $0.random.next() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let number = state.withLock { state in
            state.timerNumber += 1
            let time = state.now + max(delay, .zero)
            state.timers.append(Timer(time: time, number: state.timerNumber, work: work))
            return state.timerNumber
        }
        return ScheduledTimer { [weak self] in
            self?.state.withLock { $0.timers.removeAll { $0.number == number } }
        }
    }

    /// The time of the next timer, nil if none is set.
    package var nextTimer: Duration? { state.withLock { $0.timers.map(\.time).min() } }

    /// Runs jobs until none is left. The time does not move, timers that are due now fire.
    package func runUntilIdle() {
        advance(by: .zero)
    }

    /// Runs jobs until none is left, and moves the time on by `duration`, firing on the way what is due.
    package func advance(by duration: Duration) {
        let target = now + duration
        for _ in 0..<Self.stepCountMax {
            if runJob() { continue }
            guard let work = takeTimer(until: target) else {
                return state.withLock { $0.now = target }
            }
            work()
        }
        preconditionFailure("The jobs and timers of a test do not come to an end.")
    }

    /// As when the machine sleeps: nothing runs, whatever is due, and the wall clock goes on.
    ///
    /// - Parameter isMonotonicStill: whether the monotonic clock stands still meanwhile, as some do; else it goes on as well, and
    ///   what was due is late.
    package func sleepOver(_ seconds: Int64, isMonotonicStill: Bool) {
        state.withLock { state in
            if isMonotonicStill {
                state.sleptMilliseconds += seconds * 1000
            } else {
                state.now += .seconds(seconds)
            }
        }
    }

    /// Runs `work` to its end, moving the time from timer to timer whenever nothing else is left to do.
    ///
    /// - Throws: ``Stuck`` when `work` waits and neither job nor timer is left.
    package func complete<Success: Sendable>(
        _ work: @escaping @Sendable () async throws -> Success
    ) throws -> Success {
        let outcome = Outcome<Success>()
        Task(executorPreference: self) {
            do {
                outcome.store(.success(try await work()))
            } catch {
                outcome.store(.failure(error))
            }
        }
        for _ in 0..<Self.stepCountMax {
            runUntilIdle()
            if let result = outcome.result { return try result.get() }
            guard let next = nextTimer else { throw Stuck() }
            advance(by: next - now)
        }
        throw Stuck()
    }

    /// What ``complete(_:)`` throws when nothing can happen any more.
    package struct Stuck: Error {}

    private func runJob() -> Bool {
        let job = state.withLock { $0.jobs.popFirst() }
        guard let job else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        return true
    }

    private func takeTimer(until target: Duration) -> (@Sendable () -> Void)? {
        state.withLock { state in
            let due = state.timers.indices.filter { state.timers[$0].time <= target }
            let next = due.min { left, right in
                (state.timers[left].time, state.timers[left].number)
                    < (state.timers[right].time, state.timers[right].number)
            }
            guard let next else { return nil }
            let timer = state.timers.remove(at: next)
            state.now = max(state.now, timer.time)
            return timer.work
        }
    }
}

/// Where a task leaves its result for the one who drives it.
private final class Outcome<Success: Sendable>: Sendable {
    private let stored = Mutex<Result<Success, any Error>?>(nil)

    var result: Result<Success, any Error>? { stored.withLock { $0 } }

    func store(_ result: Result<Success, any Error>) {
        stored.withLock { $0 = result }
    }
}
