// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling

@Suite struct WorkStepsTests {
    @Test func `R-723: a step ends once it is long enough, and long work is a step by itself`() async {
        var steps = WorkSteps(costPerStep: 10)
        var counts: [Int] = []
        for cost in [4, 5, 1, 9, 0, 1, 1_000, 3] {
            await steps.did(cost)
            counts.append(steps.count)
        }
        #expect(counts == [0, 0, 1, 1, 1, 2, 3, 3])
    }
}
