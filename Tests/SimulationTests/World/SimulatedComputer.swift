// SPDX-License-Identifier: Apache-2.0

import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// A computer of the simulated world. Its wall clock is a matter of its own, and jumps; its lid may be closed, for
/// seconds or for days.
///
/// While it sleeps none of its work runs, and what comes over the network waits. Its monotonic clock and its timers stand
/// still, or go on, as systems have both. Whatever runs on it takes it as its scheduler.
final class SimulatedComputer: Scheduler, @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    private struct Timer {
        /// On the monotonic clock.
        let due: Duration
        let work: @Sendable () -> Void
        var handle: ScheduledTimer?
    }

    private let world: SimulationScheduler
    private let stopsTimers: Bool
    private var wallClockOffset: Int64 = 0
    /// When the lid was closed, in the world's time; nil: it is open.
    private var sleepStart: Duration?
    private var timeAsleep: Duration = .zero
    private var timers: [UInt64: Timer] = [:]
    private var lastTimer: UInt64 = 0
    /// What is to go on when it wakes up.
    private var jobs: [UnownedJob] = []
    private var arrivals: [@Sendable () -> Void] = []
    /// The computer forgets its timers when it falls asleep (``PlantedFault/timersLostAsleep``).
    var losesTimers = false

    /// - Parameter stopsTimers: whether timers and the monotonic clock stand still while the computer sleeps.
    init(in world: SimulationScheduler, stopsTimers: Bool) {
        self.world = world
        self.stopsTimers = stopsTimers
    }

    // MARK: Clocks

    var now: Duration { stopsTimers ? (sleepStart ?? world.now) - timeAsleep : world.now }

    /// Goes on while the computer sleeps.
    var nowWithSleep: Duration { world.now }

    var wallClockMilliseconds: Int64 { world.wallClockMilliseconds + wallClockOffset }

    func randomBits() -> UInt64 { world.randomBits() }

    /// Somebody sets the wall clock: to so much more than what it is for the world.
    func setWallClock(ahead offset: Duration) {
        wallClockOffset = offset.components.seconds * 1_000
    }

    // MARK: Work

    func enqueue(_ job: consuming ExecutorJob) {
        start(UnownedJob(job))
    }

    private func start(_ job: UnownedJob) {
        guard !isAsleep else { return jobs.append(job) }
        _ = world.schedule(after: .zero) { [self] in
            // The lid may have been closed since.
            if isAsleep { jobs.append(job) } else { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        lastTimer += 1
        let id = lastTimer
        timers[id] = Timer(due: now + max(.zero, delay), work: work)
        if !isAsleep { arm(id) }
        return ScheduledTimer { [weak self] in self?.timers.removeValue(forKey: id)?.handle?.cancel() }
    }

    private func arm(_ id: UInt64) {
        guard let timer = timers[id] else { return }
        timers[id]?.handle = world.schedule(after: max(.zero, timer.due - now)) { [weak self] in
            self?.timers.removeValue(forKey: id)?.work()
        }
    }

    /// Does what the network brings: now, or when the computer has woken up, in the order in which it came.
    func arrive(_ work: @escaping @Sendable () -> Void) {
        if isAsleep { arrivals.append(work) } else { work() }
    }

    // MARK: Sleep

    var isAsleep: Bool { sleepStart != nil }

    /// The lid is closed.
    func fallAsleep() {
        guard sleepStart == nil else { return }
        sleepStart = world.now
        for id in timers.keys.sorted() {
            timers[id]?.handle?.cancel()
            timers[id]?.handle = nil
        }
        if losesTimers { timers = [:] }
    }

    func wakeUp() {
        guard let start = sleepStart else { return }
        timeAsleep += world.now - start
        sleepStart = nil
        for id in timers.keys.sorted() { arm(id) }
        let (waiting, messages) = (jobs, arrivals)
        (jobs, arrivals) = ([], [])
        for job in waiting { self.start(job) }
        for arrival in messages { arrival() }
    }
}
