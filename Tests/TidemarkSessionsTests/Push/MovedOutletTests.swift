// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkService
import TidemarkSessions

@Suite struct MovedOutletTests {
    @Test func `the way of a notice does not grow longer with their number`() {
        let count = Atomic<Int>(0)
        let outlet = MovedOutlet()
        outlet.connect { _ in count.add(1, ordering: .relaxed) }
        // Enough to end the stack if each left the next one deeper.
        for _ in 0..<100_000 { outlet.moved(ZonesMoved([])) }
        #expect(count.load(ordering: .relaxed) == 100_000)
    }
}
