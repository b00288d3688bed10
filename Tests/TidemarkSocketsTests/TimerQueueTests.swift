// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkSockets

@Suite struct TimerQueueTests {
    @Test(arguments: 0..<20)
    func `timers come out by deadline, then in order of setting, whatever is cancelled`(seed: UInt64) {
        var random = SplitMix(state: seed)
        var queue = TimerQueue()
        var expected: [(deadline: Int64, order: Int, timer: LoopTimer)] = []
        var cancelledCount = 0
        for order in 0..<500 {
            let timer = LoopTimer(deadline: Int64(random.next() % 50)) {}
            queue.insert(timer)
            if random.next() % 3 != 0 {
                expected.append((timer.deadline, order, timer))
            } else {
                _ = timer.take()
                cancelledCount += 1
                if queue.compact(cancelledCount: cancelledCount) { cancelledCount = 0 }
            }
        }
        expected.sort { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
        var out: [LoopTimer] = []
        for now in Int64(0)..<50 {
            while let timer = queue.popDue(at: now) {
                #expect(timer.deadline == now)
                if !timer.isTaken { out.append(timer) }
            }
        }
        #expect(queue.nextDeadline == nil)
        #expect(out.map(ObjectIdentifier.init) == expected.map { ObjectIdentifier($0.timer) })
    }

    @Test func `cancelled timers are cleared away when they are most of the heap`() {
        var queue = TimerQueue()
        let timers = (0..<1_000).map { LoopTimer(deadline: $0) {} }
        for timer in timers { queue.insert(timer) }
        for timer in timers[..<501] { _ = timer.take() }
        let decisions = [queue.compact(cancelledCount: 500), queue.compact(cancelledCount: 501)]
        #expect(decisions == [false, true])
        #expect(queue.count == 499)
        #expect(queue.nextDeadline == 501)
    }

    @Test func `a timer's work is taken once`() {
        let timer = LoopTimer(deadline: 0) {}
        #expect(timer.take() != nil)
        #expect(timer.take() == nil)
    }
}

private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
