// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct QuotaStandingTests {
    @Test func `R-962: of two quotas the one with less room is told, or the smaller one if that is unknown`() {
        func standing(_ bytesMax: Int64?, _ byteCount: Int64?) -> QuotaStanding? {
            QuotaStanding(bytesMax: bytesMax, byteCount: byteCount)
        }
        let none = standing(nil, 5)
        #expect(none == nil && QuotaStanding.tighter(none, none) == nil)
        let (one, other) = (standing(100, 10), standing(1_000, 950))
        #expect(QuotaStanding.tighter(one, none) == one && QuotaStanding.tighter(none, one) == one)
        #expect(QuotaStanding.tighter(one, other) == other && QuotaStanding.tighter(other, one) == other)
        // A quota that was lowered leaves less than nothing.
        let lowered = standing(10, 800)
        #expect(QuotaStanding.tighter(other, lowered) == lowered)
        #expect(QuotaStanding.tighter(standing(100, 50), standing(1_000, 950)) == standing(100, 50), "the container's")
        let uncounted = standing(1_000, nil)
        #expect(QuotaStanding.tighter(uncounted, none) == uncounted)
        #expect(QuotaStanding.tighter(one, uncounted) == standing(100, nil))
        #expect(QuotaStanding.tighter(uncounted, standing(2_000, 1)) == uncounted)
    }
}
