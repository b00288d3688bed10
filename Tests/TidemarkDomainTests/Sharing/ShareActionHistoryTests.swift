// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkTestSupport

/// Whatever people do in a shared zone, they are answered what the naive model allows. Environment: as for
/// ``ZoneSharingHistoryTests``.
@Suite struct ShareActionHistoryTests {
    @Test func `I-5, R-157, R-323, R-328, R-330: in random histories nobody is given or does what they may not`() {
        let environment = ProcessInfo.processInfo.environment
        let isReplay = environment["TIDEMARK_TEST_SEED"] != nil
        let historyCount = isReplay ? 1 : Int(environment["TIDEMARK_SEEDS"] ?? "") ?? 250
        let first = SeededRandom().seed
        var tally: [String: Int] = [:]
        for number in 0..<historyCount {
            let seed = first &+ UInt64(number)
            var history = SharedZoneHistory(seed: seed)
            for step in 0..<80 {
                guard let difference = history.step() else { continue }
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
            tally.merge(history.tally, uniquingKeysWith: +)
        }
        guard historyCount >= 100 else { return }
        // Otherwise the histories try less than they should.
        for kind in [
            "share: saved", "share: zoneNotFound", "share: notShareAdministrator", "share: recordExists",
            "share: recordChanged", "share: recordMissing", "accept: accepted", "accept: shareUnknown",
            "accept: shareIsOwn", "change: made", "change: zoneNotFound", "change: notPermitted",
            "change: createNotPermitted", "repeat: refused", "repeat: answered", "read: nothing", "read: all",
        ] {
            #expect(tally[kind, default: 0] > 0, "\(kind), seed \(first)")
        }
    }
}
