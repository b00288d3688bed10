// SPDX-License-Identifier: Apache-2.0

/// How long an evaluation has worked, in turns. A pure value.
///
/// A turn ends by the clock, because others wait for it. Processor time is what a turn uses up. On a machine that is busy with other work,
/// waiting uses up none.
struct EvaluationTurns {
    private let turnMax: Duration
    private var left: Duration
    private var begunAt = Duration.zero
    private var begunUsed = Duration.zero

    /// - Parameters:
    ///   - turnMax: how long a turn is at most, by the clock.
    ///   - allMax: how long processors work in all.
    init(turnMax: Duration, allMax: Duration) {
        self.turnMax = turnMax
        left = allMax
    }

    /// Whether it has worked for as long as it may.
    private(set) var isUsedUp = false

    /// - Parameter used: time of the processor (`Scheduler.processorTime`).
    mutating func begin(at now: Duration, used: Duration) { (begunAt, begunUsed) = (now, used) }

    /// Whether others must have their turn.
    func isOver(at now: Duration) -> Bool { now - begunAt >= turnMax }

    /// What processors have worked for it elsewhere, between two turns.
    mutating func charge(_ used: Duration) {
        left -= used
        isUsedUp = left < .zero
    }

    /// Ends a turn. The time until the next one is others'.
    mutating func end(used: Duration) { charge(used - begunUsed) }
}
