// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkService

@Suite struct PostingPaceTests {
    @Test(arguments: [
        (1, 10, 100), (2, 10, 100), (10, 10, 100), (20, 40, 400), (30, 90, 900), (31, 96, 900), (50, 250, 1_000),
        (100, 1_000, 1_000), (316, 9_985, 1_000), (317, 10_000, 1_000), (1_000, 10_000, 1_000),
        (0, 10, 100), (-3, 10, 100), (.max, 10_000, 1_000),
    ])
    func `R-873: servers post less often the more of them there are`(listeners: Int, milliseconds: Int, notices: Int) {
        let pace = PostingPace(listeners: listeners)
        #expect(pace.interval / .milliseconds(1) >= Double(milliseconds))
        #expect(pace.interval / .milliseconds(1) < Double(milliseconds + 1))
        #expect(pace.noticesMax == notices)
    }

    @Test func `R-873: however many servers post, they wake no more of them than PostgreSQL wakes in a tenth of its time`() {
        var last = PostingPace.quickest
        for count in 1...316 {
            let pace = PostingPace(listeners: count)
            let wakeUps = Double(count * count) / (pace.interval / .seconds(1))
            #expect(wakeUps < 10_001, "\(count) servers")
            #expect(pace.interval >= last.interval && pace.noticesMax >= last.noticesMax)
            last = pace
        }
        #expect(PostingPace.quickest == PostingPace(listeners: 1))
    }
}
