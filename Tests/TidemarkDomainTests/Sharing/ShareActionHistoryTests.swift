// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

/// Whatever people do in a shared zone, they are answered what the naive model allows.
@Suite struct ShareActionHistoryTests {
    @Test func `I-5, R-157, R-323, R-328, R-330: in random histories nobody is given or does what they may not`() {
        let histories = RandomHistories(of: "actions in a shared zone", stepCount: 80, count: 250)
        var tally: [String: Int] = [:]
        for seed in histories.seeds {
            var history = SharedZoneHistory(seed: seed)
            for step in 0..<histories.stepCount {
                guard let difference = history.step() else { continue }
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
            tally.merge(history.tally, uniquingKeysWith: +)
        }
        guard histories.areMany else { return }
        // Otherwise the histories try less than they should.
        for kind in [
            "share: saved", "share: zoneNotFound", "share: notShareAdministrator", "share: recordExists",
            "share: recordChanged", "share: recordMissing", "accept: accepted", "accept: shareUnknown",
            "accept: shareIsOwn", "change: made", "change: zoneNotFound", "change: notPermitted",
            "change: createNotPermitted", "repeat: refused", "repeat: answered", "read: nothing", "read: all",
        ] {
            #expect(tally[kind, default: 0] > 0, "\(kind), seed \(histories.seeds[0])")
        }
    }
}
