// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Runs the work of one owner on a loop, in turns with that of others (``EventLoop/makeLane()``).
final class LoopLane: TaskExecutor, @unchecked Sendable {
    /// How long a lane works before the others have their turns, if it has so much work. Nanoseconds.
    static let turn: Int64 = 200_000
    /// A lane is charged no more for a long piece of work. Nanoseconds.
    private static let debtMax = 100 * turn

    private let loop: EventLoop

    // Only the loop's thread touches the following.
    fileprivate var jobs: Deque<UnownedJob> = []
    /// How long the lane has worked since its last turn began. While the lane has no work, it goes down only by the work of others.
    /// Otherwise work that comes piece by piece would cost nothing. Nanoseconds.
    fileprivate(set) var used: Int64 = 0
    /// The ``LaneTurns/time`` at which the lane had no work any more.
    fileprivate var left: Int64 = 0

    init(_ loop: EventLoop) { self.loop = loop }

    var executor: UnownedTaskExecutor { asUnownedTaskExecutor() }

    func enqueue(_ job: consuming ExecutorJob) { loop.submit(.ofLane(UnownedJob(job), self)) }

    func charge(_ nanoseconds: Int64) { used = min(used + nanoseconds, Self.debtMax) }
}

/// Decides which lane works next: deficit round robin by time. A lane that has not used up its turn is next when it
/// gets work. So little work does not wait for all others, and much work has no more than its share.
///
/// `FairQueue` of TidemarkFairness keeps works by tickets in a table, and charges each once. Here each job of each task counts:
/// so a lane is its own place, and pays by the clock.
///
/// A lane without work has its turns too, and uses them to pay for work beyond its turn. So an account that makes one request after the
/// other does not wait for turns that it has already left to others.
struct LaneTurns {
    /// Lanes with work.
    private var waiting: Deque<LoopLane> = []
    /// How long a lane that always had work has been allowed to work until now. Nanoseconds.
    private var time: Int64 = 0

    /// How many lanes have work.
    var count: Int { waiting.count }
    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ job: UnownedJob, to lane: LoopLane) {
        lane.jobs.append(job)
        guard lane.jobs.count == 1 else { return }
        lane.used = max(0, lane.used - (time - lane.left))
        if lane.used < LoopLane.turn { waiting.prepend(lane) } else { waiting.append(lane) }
    }

    mutating func next() -> (UnownedJob, LoopLane)? {
        while waiting.count > 1, waiting[0].used >= LoopLane.turn {
            let lane = waiting.removeFirst()
            lane.used -= LoopLane.turn
            waiting.append(lane)
            time += LoopLane.turn / Int64(waiting.count)
        }
        guard let lane = waiting.first, let job = lane.jobs.popFirst() else { return nil }
        if lane.jobs.isEmpty {
            waiting.removeFirst()
            lane.left = time
        }
        return (job, lane)
    }
}

/// How long a processor worked for pieces of work that followed each other. All times are in nanoseconds.
///
/// The clock of a thread's processor time is a system call. So it is read only after a piece that took longer than a turn.
/// On a busy computer the thread may have waited for a processor most of that time, and a lane does not pay for that.
struct LaneTimes {
    /// How long a processor has worked for the thread until the reading. Nil: no lane pays.
    private var reading: Int64?
    /// How long the pieces after it took.
    private var timeSince: Int64 = 0

    init(processor: Int64?) { reading = processor }

    mutating func worked(in time: Int64, processor: @autoclosure () -> Int64) -> Int64 {
        guard time > LoopLane.turn, let before = reading else {
            timeSince += time
            return time
        }
        let now = processor()
        defer { (reading, timeSince) = (now, 0) }
        return min(time, max(0, now - before - timeSince))
    }
}
