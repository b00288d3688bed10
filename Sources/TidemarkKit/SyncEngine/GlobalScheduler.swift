// SPDX-License-Identifier: Apache-2.0

package import TidemarkScheduling

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The scheduler of engines in apps: real time, on the threads of Swift's concurrency.
package final class GlobalScheduler: Scheduler {
    private let start = ContinuousClock.now

    package init() {}

    /// NB: this clock also counts while the machine sleeps.
    package var now: Duration { ContinuousClock.now - start }

    package var wallClockMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let task = Task.detached {
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            work()
        }
        return ScheduledTimer { task.cancel() }
    }

    package func randomBits() -> UInt64 { UInt64.random(in: .min ... .max) }

    package func enqueue(_ job: consuming ExecutorJob) {
        globalConcurrentExecutor.enqueue(UnownedJob(job))
    }
}
