// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc
internal import Synchronization
package import TidemarkScheduling

/// A thread that waits for sockets and timers and runs their work. It is also a Swift executor.
///
/// Sockets, TLS and framing are synchronous state machines that run in its callbacks. The layers above run as tasks on
/// the same thread (`loop.run { … }`, or an actor whose `unownedExecutor` is the loop), without a hop. A connection
/// never changes its loop.
///
/// One tick: wait → handlers of ready descriptors → due timers → jobs and closures → ``TickFlushable/flush()``. Each
/// part is bounded, so that none starves the others; the rest follows in the next tick. Jobs of lanes (``makeLane()``)
/// come after the loop's own, in turns.
///
/// A loop lives until ``stop()``, because its thread retains it. Sends never raise SIGPIPE (see ``Socket/send(_:)``).
/// The loop blocks no signals: a program that handles signals on a separate thread blocks them before it starts loops.
package final class EventLoop: Scheduler, SerialExecutor, @unchecked Sendable {
    package let name: String

    /// A buffer of 64 KiB for receiving. Code that the loop calls may use it until it returns. Loop-confined.
    package let receiveScratch: UnsafeMutableRawBufferPointer

    let epoll: Int32
    let waker: Int32
    /// Nil: turns are not measured.
    private let onLongTurn: (@Sendable (LongTurn) -> Void)?
    private let inbox = Lock(Inbox())
    /// The `pthread_self` of the thread while it runs; 0 before and after.
    private let threadIdentity = Atomic<UInt>(0)
    private let cancelledTimerCount = Atomic<Int>(0)

    // Only the loop's thread touches the following. Without `unchecked`, the runtime would check for overlapping access
    // each time, sixty times in a save.

    /// Work from the loop itself and from the inbox, in order.
    @exclusivity(unchecked) private var ready: [Work] = []
    /// The part of it that is running. New work meanwhile goes to `ready`.
    @exclusivity(unchecked) private var running: [Work] = []
    @exclusivity(unchecked) private var runningNext = 0
    @exclusivity(unchecked) private var lanes = LaneTurns()
    @exclusivity(unchecked) private(set) var timers = TimerQueue()
    @exclusivity(unchecked) private var turn = TurnWatch()
    @exclusivity(unchecked) private var pieces = PieceWatch()
    @exclusivity(unchecked) var flushables: [any TickFlushable] = []
    @exclusivity(unchecked) var flushing: [any TickFlushable] = []
    var slots: [Slot] = []
    var freeSlots: [Int] = []
    let events: UnsafeMutableBufferPointer<epoll_event>

    private static let receiveScratchBytes = 65_536
    /// Ready descriptors taken from the kernel at once.
    private static let eventsPerWaitMax = 8
    /// How often a tick takes them. Further ones wait for the next tick.
    static let eventWaitsPerTickMax = 32
    /// Jobs and closures run in one tick. At a few microseconds each, I/O waits some milliseconds at most.
    private static let workPerTickMax = 1_024
    /// How long handlers run in one tick, how long jobs and closures do, and how long is flushed. Nothing else waits longer
    /// than these and a few pieces of work.
    static let workNanosecondsPerTickMax: Int64 = 5_000_000
    /// How long lanes work before what they make ready has its turn.
    private static let laneNanosecondsMax: Int64 = 1_000_000
    /// The clock is read once for this many pieces of work, and once for as many pieces that are flushed.
    private static let workPerLookMax = 8
    private static let timersPerTickMax = 1_024
    /// Ticks after ``stop()`` in which queued work may still end.
    private static let finalTicksMax = 64

    /// Creates the loop and starts its thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name; the first 15 bytes are shown.
    ///   - onLongTurn: called on the loop after each turn that took 5 ms or more. Nil: turns are not measured.
    /// - Throws: `resourcesExhausted` if there are no more descriptors or threads.
    package init(name: String, onLongTurn: (@Sendable (LongTurn) -> Void)? = nil) throws(SocketError) {
        let epoll = FileDescriptor(owning: try SystemCalls.createEpoll())
        let waker = FileDescriptor(owning: try SystemCalls.createEventDescriptor())
        // Edge-triggered: each write wakes the loop once, and the counter does not have to be read.
        let result = SystemCalls.control(
            epoll.rawValue, EPOLL_CTL_ADD, waker.rawValue, events: EPOLLIN.rawValue | EPOLLET.rawValue,
            data: Slot.wakerToken)
        guard result == 0 else { throw SocketError(errorNumber: Int32(-result), operation: "epoll_ctl") }
        self.name = name
        self.onLongTurn = onLongTurn
        self.epoll = epoll.release()
        self.waker = waker.release()
        receiveScratch = .allocate(byteCount: Self.receiveScratchBytes, alignment: 64)
        events = .allocate(capacity: Self.eventsPerWaitMax)
        let thread = try LoopThread.start(name: name) { self.runUntilStopped() }
        inbox.withLock { $0.thread = thread }
    }

    deinit {
        SystemCalls.close(epoll)
        SystemCalls.close(waker)
        receiveScratch.deallocate()
        events.deallocate()
    }

    /// Ends the thread and waits until it has ended. If it is called on the loop itself, the loop ends after this tick.
    ///
    /// From any thread; a second call does nothing. Work that is already queued still runs, timers and descriptors are
    /// released, and later work never runs.
    package func stop() {
        let thread = inbox.withLock { inbox in
            defer { inbox.thread = nil }
            inbox.isStopping = true
            return inbox.thread
        }
        SystemCalls.signal(waker)
        guard let thread else { return }
        if isCurrent { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    /// The number of loops that can run at the same time: the cores that this process may use.
    package static var usefulCount: Int { SystemCalls.usableProcessorCount }

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool { threadIdentity.load(ordering: .relaxed) == pthread_self() }

    /// Runs `work` on the loop, after all earlier work. From any thread.
    package func execute(_ work: @escaping @Sendable () -> Void) {
        submit(.closure(work))
    }

    package func makeLane() -> any TaskExecutor { LoopLane(self) }

    func submit(_ work: Work) {
        if isCurrent { return ready.append(work) }
        let mustWake = inbox.withLock { inbox in
            guard !inbox.hasEnded else { return false }
            inbox.work.append(work)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if mustWake { SystemCalls.signal(waker) }
    }

    /// Flushes `flushable` once at the end of this tick, and retains it until then. If very much is to be flushed, it may be
    /// at the end of a later tick. Loop-confined.
    ///
    /// The caller remembers that it has called: two calls flush twice.
    package func atEndOfTick(_ flushable: any TickFlushable) {
        precondition(isCurrent)
        flushables.append(flushable)
    }
}

// MARK: Executor

extension EventLoop {
    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    package func checkIsolated() {
        precondition(isCurrent, "not on the event loop")
    }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

// MARK: Clock, timers and random bits

extension EventLoop {
    static var nanoseconds: Int64 { SystemCalls.nanoseconds(of: CLOCK_MONOTONIC) }

    package var now: Duration { .nanoseconds(Self.nanoseconds) }

    package var processorTime: Duration { .nanoseconds(Self.processorNanoseconds) }

    /// As ``now``, with another origin, and it also counts while the machine sleeps.
    package var nowWithSleep: Duration { .nanoseconds(SystemCalls.nanoseconds(of: CLOCK_BOOTTIME)) }

    package var wallClockMilliseconds: Int64 { SystemCalls.nanoseconds(of: CLOCK_REALTIME) / 1_000_000 }

    package func randomBits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// Runs `work` on the loop after `delay`, which the kernel rounds up to whole milliseconds. From any thread.
    @discardableResult
    package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let timer = LoopTimer(deadline: Self.deadline(after: delay), work: work)
        if isCurrent { insert(timer) } else { execute { self.insert(timer) } }
        return ScheduledTimer { [self] in
            if timer.take() != nil { cancelledTimerCount.add(1, ordering: .relaxed) }
        }
    }

    /// Saturates: a delay of centuries never ends.
    private static func deadline(after delay: Duration) -> Int64 {
        let (seconds, attoseconds) = delay.components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? 0 : .max }
        let start = Self.nanoseconds + attoseconds / 1_000_000_000
        let (deadline, isTooFar) = start.addingReportingOverflow(nanoseconds)
        return isTooFar ? .max : max(deadline, 0)
    }

    private func insert(_ timer: LoopTimer) {
        timers.insert(timer)
        if timers.compact(cancelledCount: cancelledTimerCount.load(ordering: .relaxed)) {
            cancelledTimerCount.store(0, ordering: .relaxed)
        }
    }

    private func fireTimers() {
        guard timers.nextDeadline != nil else { return }
        let now = Self.nanoseconds
        for _ in 0..<Self.timersPerTickMax {
            guard let timer = timers.popDue(at: now) else { return }
            if let work = timer.take() { work() } else { cancelledTimerCount.subtract(1, ordering: .relaxed) }
        }
    }
}

// MARK: The thread

extension EventLoop {
    private func runUntilStopped() {
        threadIdentity.store(pthread_self(), ordering: .relaxed)
        while !inbox.withLock({ $0.isStopping }) {
            tick(timeout: millisecondsToSleep())
        }
        for _ in 0..<Self.finalTicksMax where hasPendingWork { tick(timeout: 0) }
        letGo()
    }

    private func tick(timeout: Int32) {
        let count = SystemCalls.wait(epoll, events, milliseconds: timeout)
        if onLongTurn != nil {
            let now = Self.nanoseconds
            turn.begin(at: now, processor: Self.processorNanoseconds)
            pieces.begin(at: now, processor: Self.processorNanoseconds)
        }
        dispatch(count)
        fireTimers()
        lookIfMeasured()
        runReadyWork()
        lookIfMeasured()
        flush()
        guard let onLongTurn else { return }
        let now = Self.nanoseconds
        look(at: now)
        guard var long = turn.end(at: now, processor: Self.processorNanoseconds) else { return }
        long.longestPiece = .nanoseconds(pieces.longest)
        onLongTurn(long)
    }

    /// A piece of work has ended. Where the clock is not read anyhow, this is for pieces that cost far more than to read it.
    func lookIfMeasured() {
        if onLongTurn != nil { look(at: Self.nanoseconds) }
    }

    private func look(at now: Int64) {
        if onLongTurn != nil { pieces.look(at: now, processor: Self.processorNanoseconds) }
    }

    /// How long processors have worked for the thread that asks.
    static var processorNanoseconds: Int64 { SystemCalls.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

    private var hasReadyWork: Bool { !ready.isEmpty || runningNext < running.count || !lanes.isEmpty }

    private var hasPendingWork: Bool {
        hasReadyWork || !flushables.isEmpty || inbox.withLock { !$0.work.isEmpty }
    }

    /// 0 if there is work, -1 if only a descriptor or another thread can bring work.
    private func millisecondsToSleep() -> Int32 {
        guard !hasReadyWork, flushables.isEmpty else { return 0 }
        // From here on, a thread that adds work to the inbox wakes the loop.
        let isIdle = inbox.withLock { inbox in
            inbox.isSleeping = inbox.work.isEmpty && !inbox.isStopping
            return inbox.isSleeping
        }
        guard isIdle else { return 0 }
        guard let deadline = timers.nextDeadline else { return -1 }
        let nanoseconds = deadline - Self.nanoseconds
        guard nanoseconds > 0 else { return 0 }
        // Rounded up: a timer never fires early, and the loop does not spin through the last millisecond.
        return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }

    private func runReadyWork() {
        takeInbox()
        let executor = asUnownedTaskExecutor()
        var budget = Self.workPerTickMax
        var end: Int64?
        while budget > 0 {
            if budget.isMultiple(of: Self.workPerLookMax), isLate(&end) { return }
            if runningNext == running.count {
                if ready.isEmpty {
                    runLanes(&budget)
                    if !hasReadyWork || isLate(&end) { return }
                    continue
                }
                running.removeAll(keepingCapacity: running.count <= Self.workPerTickMax)
                runningNext = 0
                swap(&running, &ready)
            }
            let work = running[runningNext]
            runningNext += 1
            budget -= 1
            switch work {
            // NB: not `isolatedTo:` the loop. Otherwise each call of nonisolated code would leave that isolation and be
            // queued again, three times in a request. The loop still isolates its actors, because it runs one job at a
            // time.
            case .job(let job): job.runSynchronously(on: executor)
            case .closure(let closure): closure()
            case .ofLane(let job, let lane): lanes.add(job, to: lane)
            }
        }
    }

    /// Lets the lanes work before anything that they make ready, so that requests that came together go on together. For
    /// example, their saves share a transaction.
    private func runLanes(_ budget: inout Int) {
        // The clock is read once for each job: its end is the start of the next one.
        var start = Self.nanoseconds
        let end = start + Self.laneNanosecondsMax
        var times = LaneTimes(processor: lanes.count > 1 ? Self.processorNanoseconds : nil)
        while budget > 0, start < end, let (job, lane) = lanes.next() {
            // Time matters only to others who wait.
            let isCharged = !lanes.isEmpty
            job.runSynchronously(on: lane.executor)
            let now = Self.nanoseconds
            look(at: now)
            let worked = times.worked(in: now - start, processor: Self.processorNanoseconds)
            if isCharged { lane.charge(worked) }
            start = now
            budget -= 1
        }
    }

    /// Whether work has run for as long as it may in one tick, which begins with the first call.
    private func isLate(_ end: inout Int64?) -> Bool {
        guard hasReadyWork else { return false }
        let now = Self.nanoseconds
        look(at: now)
        if let end { return now >= end }
        end = now + Self.workNanosecondsPerTickMax
        return false
    }

    private func takeInbox() {
        inbox.withLock { inbox in
            inbox.isSleeping = false
            guard !inbox.work.isEmpty else { return }
            if ready.isEmpty { swap(&ready, &inbox.work) } else { ready.append(contentsOf: inbox.work) }
            inbox.work.removeAll(keepingCapacity: inbox.work.count <= Self.workPerTickMax)
        }
    }

    private func flush() {
        guard !flushables.isEmpty else { return }
        // Objects that ask again during their flush are flushed in the next tick.
        swap(&flushing, &flushables)
        // Usually there are few, and the clock is not read.
        let end = flushing.count > Self.workPerLookMax ? Self.nanoseconds + Self.workNanosecondsPerTickMax : .max
        for (index, flushable) in flushing.enumerated() {
            if index > 0, index.isMultiple(of: Self.workPerLookMax), isOver(end) {
                flushables.insert(contentsOf: flushing[index...], at: 0)
                break
            }
            flushable.flush()
        }
        flushing.removeAll(keepingCapacity: true)
    }

    private func isOver(_ end: Int64) -> Bool {
        let now = Self.nanoseconds
        look(at: now)
        return now >= end
    }

    /// Releases everything that might retain the loop, so that the last reference to go frees it.
    private func letGo() {
        invalidateRegistrations()
        let unclaimed = inbox.withLock { inbox in
            defer { inbox.work = [] }
            inbox.hasEnded = true
            return inbox.work
        }
        // From here on the loop accepts no work, not even from deinitializers of objects that it releases.
        threadIdentity.store(0, ordering: .relaxed)
        let dropped = (unclaimed, ready, running, lanes, timers, flushables)
        (ready, running, runningNext, lanes, timers, flushables) = ([], [], 0, LaneTurns(), TimerQueue(), [])
        withExtendedLifetime(dropped) {}
    }
}

/// One piece of work for a loop.
enum Work {
    case job(UnownedJob)
    case closure(@Sendable () -> Void)
    /// It has its turn when the loop has none of the others.
    case ofLane(UnownedJob, LoopLane)
}

/// Work that other threads leave for the loop.
private struct Inbox {
    var work: [Work] = []
    /// Whether the loop waits, or is about to, without knowing of any work. Then a thread that adds work wakes it.
    var isSleeping = false
    var isStopping = false
    var hasEnded = false
    /// The first to stop the loop joins or detaches it.
    var thread: pthread_t?
}
