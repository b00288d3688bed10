// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Dispatch
internal import Synchronization
internal import TidemarkKit
package import TidemarkScheduling

/// Runs a ``TestCloud`` and its engines: work runs at once, one piece after the other, on a separate thread. Time
/// stands still until it is moved.
///
/// Pauses are different: work that is planned within ``pauseMax`` runs once there is nothing else to do. The time is
/// then that for which it was planned.
package final class TestLoop: Scheduler {
    /// Engines, connections and servers wait for up to 200 ms to collect related work, or between two attempts. Longer
    /// waits are what tests are about.
    package static let pauseMax: Duration = .milliseconds(250)

    private enum Work {
        case job(UnownedJob)
        case timer(UInt64)
    }

    private struct Timer {
        let due: Duration
        let isPause: Bool
        let work: @Sendable () -> Void
    }

    /// A task that waits until there is nothing to do.
    private struct Waiter {
        /// It gives up when this many pauses have passed.
        let pauseCountMax: Int
        let resume: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now: Duration = .zero
        /// The time of the wall clock when ``now`` was zero, in milliseconds since 1970.
        var wallClockStart: Int64
        var random: LoopRandom
        var ready: Deque<Work> = []
        var timers: [UInt64: Timer] = [:]
        var dueTimes = TimerHeap()
        var pauses = TimerHeap()
        var lastTimer: UInt64 = 0
        /// Whether the thread is running work, or will soon.
        var isRunning = false
        /// Engines at work, perhaps elsewhere: in callbacks on the app's own actors.
        var enginesAtWork = 0
        var stepCount = 0
        var pauseCount = 0
        var waiters: [Waiter] = []
    }

    private let queue = DispatchQueue(label: "tidemark-test-cloud")
    private let state: Mutex<State>

    /// - Parameter wallClockStart: milliseconds since 1970.
    package init(seed: UInt64, wallClockStart: Int64) {
        state = Mutex(State(wallClockStart: wallClockStart, random: LoopRandom(seed: seed)))
    }

    // MARK: Scheduler

    package var now: Duration { state.withLock { $0.now } }

    package var wallClockMilliseconds: Int64 {
        state.withLock { $0.wallClockStart + Int64($0.now / .milliseconds(1)) }
    }

    /// Somebody sets the wall clock. No time passes.
    package func setWallClock(milliseconds: Int64) {
        state.withLock { $0.wallClockStart = milliseconds - Int64($0.now / .milliseconds(1)) }
    }

    package func randomBits() -> UInt64 { state.withLock { $0.random.next() } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        change { $0.ready.append(.job(job)) }
    }

    package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let id = change { state in
            state.lastTimer += 1
            let id = state.lastTimer
            let timer = Timer(due: state.now + max(.zero, delay), isPause: delay <= Self.pauseMax, work: work)
            state.timers[id] = timer
            guard delay > .zero else {
                state.ready.append(.timer(id))
                return id
            }
            state.dueTimes.insert((timer.due, id))
            if timer.isPause { state.pauses.insert((timer.due, id)) }
            return id
        }
        return ScheduledTimer { [weak self] in _ = self?.state.withLock { $0.timers.removeValue(forKey: id) } }
    }

    // MARK: Running

    /// An engine begins or ends work.
    package func engineIsAtWork(_ begins: Bool) {
        change { $0.enginesAtWork += begins ? 1 : -1 }
    }

    /// Makes a change that may be a reason to run.
    @discardableResult
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, starts) = state.withLock { state in
            let value = body(&state)
            defer { state.isRunning = true }
            return (value, !state.isRunning)
        }
        if starts { queue.async { [self] in run() } }
        return value
    }

    private func run() {
        while let work = next() {
            switch work {
            case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .timer(let id): state.withLock { $0.timers.removeValue(forKey: id) }?.work()
            }
        }
    }

    /// The next piece of work; nil if the thread must rest. By then everybody who waits for that has been told.
    private func next() -> Work? {
        let (work, told, isQuiet) = state.withLock { state -> (Work?, [Waiter], Bool) in
            state.stepCount += 1
            while state.ready.isEmpty, Self.passPause(&state) {}
            if let work = state.ready.popFirst() {
                let weary = state.waiters.filter { $0.pauseCountMax < state.pauseCount }
                if !weary.isEmpty { state.waiters.removeAll { $0.pauseCountMax < state.pauseCount } }
                return (work, weary, false)
            }
            state.isRunning = false
            guard state.enginesAtWork == 0 else { return (nil, [], false) }
            defer { state.waiters = [] }
            return (nil, state.waiters, true)
        }
        for waiter in told { waiter.resume.resume(returning: isQuiet) }
        return work
    }

    /// Moves the time towards the end of the next pause, to the first event that is due. False if no pause is left.
    private static func passPause(_ state: inout State) -> Bool {
        while let next = state.pauses.first {
            if state.timers[next.id] != nil {
                state.pauseCount += 1
                moveTimers(upTo: min(next.due, state.dueTimes.first?.due ?? next.due), &state)
                return true
            }
            state.pauses.removeFirst()
        }
        return false
    }

    /// Moves the time, and makes everything ready that is due by then.
    private static func moveTimers(upTo due: Duration, _ state: inout State) {
        state.now = max(state.now, due)
        while let first = state.dueTimes.first, first.due <= due {
            state.dueTimes.removeFirst()
            if state.timers[first.id] != nil { state.ready.append(.timer(first.id)) }
        }
        while let first = state.pauses.first, first.due <= due { state.pauses.removeFirst() }
    }
}

// MARK: For tests

extension TestLoop {
    /// Waits until there is nothing to do without moving time.
    ///
    /// - Parameter pausesMax: how many pauses may pass meanwhile.
    /// - Returns: false if that is never the case.
    package func settle(pausesMax: Int = 5_000) async -> Bool {
        let pauseCountMax = state.withLock { $0.pauseCount } + pausesMax
        while true {
            guard await rest(pauseCountMax) else { return false }
            let stepCount = state.withLock { $0.stepCount }
            // Assets are files, which have their own thread.
            await FileThread.finish()
            if state.withLock({ $0.stepCount == stepCount && !$0.isRunning && $0.enginesAtWork == 0 }) { return true }
        }
    }

    private func rest(_ pauseCountMax: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            // Only by running once more does it find out that there is nothing to do.
            change { $0.waiters.append(Waiter(pauseCountMax: pauseCountMax, resume: continuation)) }
        }
    }

    /// Moves the time to the next timer, if it is due by `end`, and starts its work.
    ///
    /// - Returns: false if nothing is due by then; the time then does not change.
    package func moveToNextTimer(by end: Duration) -> Bool {
        change { state in
            while let first = state.dueTimes.first, first.due <= end {
                if state.timers[first.id] != nil {
                    Self.moveTimers(upTo: first.due, &state)
                    return true
                }
                state.dueTimes.removeFirst()
            }
            return false
        }
    }

    /// Moves the time on by `duration`. Everything that becomes due on the way happens at its time.
    ///
    /// - Returns: false if it does not come to an end.
    package func advance(by duration: Duration) async -> Bool {
        let end = now + duration
        repeat {
            guard await settle() else { return false }
        } while moveToNextTimer(by: end)
        state.withLock { $0.now = max($0.now, end) }
        return await settle()
    }
}
