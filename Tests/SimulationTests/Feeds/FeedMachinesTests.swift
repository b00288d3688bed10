// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// `DevicePushMachine` and `FeedFollowMachine`, connected by a channel that loses, repeats and reorders pushes.
///
/// A seed that fails is printed. `TIDEMARK_TEST_SEED` makes it the first one.
@Suite struct FeedMachinesTests {
    @Test func `I-2, I-4: a device that follows pushes skips nothing and gets nothing twice, in random histories`()
        throws
    {
        let first = SeededRandom().seed
        print("feed machines: TIDEMARK_TEST_SEED=\(first)")
        var (broughtCount, gapCount) = (0, 0)
        for offset in 0..<2_000 as Range<UInt64> {
            let seed = first &+ offset
            var history = FeedHistory(seed: seed)
            let violation = try history.run()
            try #require(violation == nil, "TIDEMARK_TEST_SEED=\(seed)")
            broughtCount += history.broughtCount
            gapCount += history.gapCount
        }
        #expect(broughtCount > 500 && gapCount > 500, "\(broughtCount) pages of pushes, \(gapCount) gaps")
    }

    /// A push that came again replaced the newer one that the device had not taken yet.
    @Test(arguments: [585_192_787_041_006_091] as [UInt64])
    func `seeds that once found something find nothing any more`(_ seed: UInt64) throws {
        var history = FeedHistory(seed: seed)
        #expect(try history.run() == nil)
    }

    @Test(arguments: FeedMistake.allCases)
    func `the histories show each planted mistake`(_ mistake: FeedMistake) throws {
        let found = try (0..<3_000 as Range<UInt64>).first { seed in
            var history = FeedHistory(seed: seed, mistake: mistake)
            return try history.run() != nil
        }
        #expect(found != nil)
        if let found { print("feed machines: \(mistake) shows with seed \(found)") }
    }
}
