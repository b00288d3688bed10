// SPDX-License-Identifier: Apache-2.0

/// Whether each event loop still works: whether it has answered the last question. No clock, no thread.
struct LoopPulses {
    private(set) var round: UInt64 = 0
    private var unanswered: Set<Int> = []
    private let count: Int

    init(count: Int) {
        self.count = count
    }

    /// Whether all have answered since the last look. Then they are asked again. A loop that is held is not asked again, so that no
    /// questions pile up in it. No loop was asked before the first look.
    mutating func look() -> Bool {
        guard unanswered.isEmpty else { return false }
        round += 1
        unanswered = Set(0..<count)
        return true
    }

    /// The loop of this number has answered the question of a round.
    mutating func answer(of loop: Int, round answered: UInt64) {
        guard answered == round else { return }
        unanswered.remove(loop)
    }

    /// Those that have not answered.
    var silent: [Int] { unanswered.sorted() }
}
