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
    /// How long the lane has worked since its last turn began. It is kept while the lane has no work: otherwise work that
    /// comes piece by piece would cost nothing. Nanoseconds.
    fileprivate(set) var used: Int64 = 0

    init(_ loop: EventLoop) { self.loop = loop }

    var executor: UnownedTaskExecutor { asUnownedTaskExecutor() }

    func enqueue(_ job: consuming ExecutorJob) { loop.submit(.ofLane(UnownedJob(job), self)) }

    func charge(_ nanoseconds: Int64) { used = min(used + nanoseconds, Self.debtMax) }
}

/// Whose lane works next: deficit round robin by time. A lane that has not used up its turn is next when work comes to
/// it. So little work does not wait for all others, and much work has no more than its share.
struct LaneTurns {
    /// Lanes with work.
    private var waiting: Deque<LoopLane> = []

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ job: UnownedJob, to lane: LoopLane) {
        lane.jobs.append(job)
        guard lane.jobs.count == 1 else { return }
        if lane.used < LoopLane.turn { waiting.prepend(lane) } else { waiting.append(lane) }
    }

    mutating func next() -> (UnownedJob, LoopLane)? {
        while waiting.count > 1, waiting[0].used >= LoopLane.turn {
            let lane = waiting.removeFirst()
            lane.used -= LoopLane.turn
            waiting.append(lane)
        }
        guard let lane = waiting.first, let job = lane.jobs.popFirst() else { return nil }
        if lane.jobs.isEmpty { waiting.removeFirst() }
        return (job, lane)
    }
}
