// SPDX-License-Identifier: Apache-2.0

internal import HeapModule
internal import Synchronization
package import TidemarkScheduling

/// A scheduler with one thread, virtual time, and every choice from one seed: a failed history can be replayed exactly.
///
/// Work runs only inside ``simulate(stepsMax:_:)`` and ``settle(for:stepsMax:)``, on the caller's thread. When nothing
/// is ready, time jumps to the next timer. NB: `Task.yield()` and `Task.sleep` use the global executor, outside this
/// scheduler; use `pause()` and `sleep(for:)`.
package final class SimulationScheduler: Scheduler {
    /// Which of several ready pieces of work runs first.
    package enum Order: Sendable {
        /// The one that became ready first, as on an event loop.
        case arrival
        /// Any, chosen by the seed: finds interleavings that several loops and servers can have.
        case shuffled
    }

    private enum Work {
        case job(UnownedJob)
        case timer(UInt64)
        case interruption(Interruption)
    }

    private struct Interruption {
        let step: Int
        let work: @Sendable () -> Void
    }

    private struct Timer {
        let due: Duration
        let work: @Sendable () -> Void
    }

    /// When a timer is due. Of two that are due at the same time the older is first.
    private struct DueTime: Comparable {
        let due: Duration
        let id: UInt64

        static func < (left: DueTime, right: DueTime) -> Bool {
            (left.due, left.id) < (right.due, right.id)
        }
    }

    private struct State {
        var now: Duration = .zero
        var random: SeededRandom
        var ready: [Work] = []
        var timers: [UInt64: Timer] = [:]
        var dueTimes = Heap<DueTime>()
        var nextTimer: UInt64 = 0
        var stepCount = 0
        /// Ordered by their steps.
        var interruptions: [Interruption] = []
    }

    private let order: Order
    private let state: Mutex<State>

    package init(seed: UInt64, order: Order = .shuffled) {
        self.order = order
        state = Mutex(State(random: SeededRandom(seed: seed)))
    }

    package var now: Duration { state.withLock { $0.now } }

    /// 2023-11-14 22:13:20 UTC plus the time since then.
    package var wallClockMilliseconds: Int64 {
        let (seconds, attoseconds) = now.components
        return 1_700_000_000_000 + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    package func randomBits() -> UInt64 {
        state.withLock { $0.random.next() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(.job(job)) }
    }

    package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let id = state.withLock { state in
            let id = state.nextTimer
            state.nextTimer += 1
            let due = state.now + max(.zero, delay)
            state.timers[id] = Timer(due: due, work: work)
            if due == state.now {
                state.ready.append(.timer(id))
            } else {
                state.dueTimes.insert(DueTime(due: due, id: id))
            }
            return id
        }
        return ScheduledTimer { [self] in _ = state.withLock { $0.timers.removeValue(forKey: id) } }
    }

    /// Runs `work` between two pieces of work after `count` more, so at any suspension point: for crashes, clock jumps
    /// and copies of devices.
    package func interrupt(afterSteps count: Int, _ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            let new = Interruption(step: state.stepCount + count, work: work)
            let index = state.interruptions.firstIndex { $0.step > new.step } ?? state.interruptions.endIndex
            state.interruptions.insert(new, at: index)
        }
    }

    /// Lets other ready work run first, if the order says so.
    package func pause() async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: .zero) { continuation.resume() }
        }
    }

    /// Runs `work`, and whatever it starts, until `work` has ended.
    ///
    /// - Throws: ``SimulationError`` if nothing can happen any more, or after `stepsMax` steps.
    package func simulate<Success: Sendable>(
        stepsMax: Int = 20_000_000, _ work: @escaping @Sendable () async throws -> Success
    ) throws -> Success {
        let box = ResultBox<Success>()
        Task(executorPreference: self) {
            do { box.set(.success(try await work())) } catch { box.set(.failure(error)) }
        }
        for _ in 0..<stepsMax {
            if let result = box.result { return try result.get() }
            guard step() else { throw SimulationError(code: .stuck, at: now) }
        }
        throw SimulationError(code: .endless, at: now)
    }

    /// Runs everything that is ready, or becomes ready within `duration` of virtual time.
    package func settle(for duration: Duration, stepsMax: Int = 1_000_000) throws {
        let end = now + duration
        for _ in 0..<stepsMax {
            guard let due = state.withLock({ $0.ready.isEmpty ? $0.dueTimes.min?.due : $0.now }), due <= end,
                step()
            else { return }
        }
        throw SimulationError(code: .endless, at: now)
    }

    /// Runs one piece of work; false if there is none and never will be.
    private func step() -> Bool {
        guard let work = nextWork() else { return false }
        switch work {
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .timer(let id): state.withLock { $0.timers.removeValue(forKey: id) }?.work()
        case .interruption(let interruption): interruption.work()
        }
        return true
    }

    private func nextWork() -> Work? {
        state.withLock { state in
            while state.ready.isEmpty {
                guard let next = state.dueTimes.min else { return nil }
                moveDueTimers(upTo: next.due, &state)
            }
            state.stepCount += 1
            if let next = state.interruptions.first, next.step <= state.stepCount {
                return .interruption(state.interruptions.removeFirst())
            }
            switch order {
            case .arrival: return state.ready.removeFirst()
            case .shuffled:
                let index = state.random.below(state.ready.count)
                state.ready.swapAt(index, state.ready.count - 1)
                return state.ready.removeLast()
            }
        }
    }

    private func moveDueTimers(upTo due: Duration, _ state: inout State) {
        while let timer = state.dueTimes.min, timer.due <= due {
            state.dueTimes.removeMin()
            guard state.timers[timer.id] != nil else { continue }
            state.now = due
            state.ready.append(.timer(timer.id))
        }
    }
}

/// Why a simulated run did not end.
package struct SimulationError: Error, CustomStringConvertible {
    /// What ended the run.
    package enum Code: String, Sendable {
        /// Nothing is ready and no timer is set: a task waits for something that never comes.
        case stuck
        /// The bound on steps was passed.
        case endless
    }

    package let code: Code
    package let at: Duration

    package var description: String { "the simulation is \(code.rawValue) at \(at)" }
}

private final class ResultBox<Success: Sendable>: Sendable {
    private let value = Mutex<Result<Success, any Error>?>(nil)

    var result: Result<Success, any Error>? { value.withLock { $0 } }

    func set(_ result: Result<Success, any Error>) {
        value.withLock { $0 = result }
    }
}
