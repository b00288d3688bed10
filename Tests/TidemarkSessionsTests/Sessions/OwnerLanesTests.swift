// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness
import TidemarkTestSupport

@testable import TidemarkSessions

/// In which lane a request runs.
@Suite struct OwnerLanesTests {
    @Test func `R-778: connections of one account have one lane, which is forgotten with the last`() {
        let lanes = OwnerLanes(ManualScheduler())
        var connections = [lanes.lane(of: .account(1)), lanes.lane(of: .account(1)), lanes.lane(of: .nobody)]
        #expect(connections[0] === connections[1])
        #expect(connections[0] !== connections[2])
        #expect(lanes.count == 2)
        connections.removeFirst()
        #expect(lanes.count == 2)
        connections.removeAll()
        #expect(lanes.count == 0)
    }
}
