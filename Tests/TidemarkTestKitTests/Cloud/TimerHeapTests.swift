// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkTestKit

@Suite struct TimerHeapTests {
    @Test(arguments: UInt64(0)..<20)
    func `timers come by due time, and the oldest of equal times first`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heap = TimerHeap()
        var waiting: [TimerHeap.Element] = []
        for id in UInt64(0)..<500 {
            if Int.random(in: 0..<5, using: &random) < 3 {
                let element = (due: Duration.seconds(Int.random(in: 0..<10, using: &random)), id: id)
                heap.insert(element)
                waiting.append(element)
            } else {
                heap.removeFirst()
                if !waiting.isEmpty { waiting.removeFirst() }
            }
            waiting.sort { ($0.due, $0.id) < ($1.due, $1.id) }
            #expect(heap.first?.id == waiting.first?.id && heap.first?.due == waiting.first?.due)
        }
    }
}
