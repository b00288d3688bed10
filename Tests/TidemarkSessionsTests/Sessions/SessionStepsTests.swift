// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkSessions

@Suite struct SessionStepsTests {
    @Test func `R-723: what is done for every session goes in steps`() throws {
        let scheduler = ManualScheduler()
        let visited = Mutex<[UInt64]>([])
        let between = Mutex<[Int]>([])
        try scheduler.complete {
            await scheduler.visit(Array(1...1_000)) { number in
                visited.withLock { $0.append(number) }
                guard number.isMultiple(of: 100) else { return }
                scheduler.run { between.withLock { $0.append(visited.withLock { $0.count }) } }
            }
        }
        #expect(visited.withLock { $0 } == Array(1...1_000))
        let counts = between.withLock { $0 }
        #expect(counts.count == 10 && Set(counts).count >= 7, "\(counts)")
    }
}
