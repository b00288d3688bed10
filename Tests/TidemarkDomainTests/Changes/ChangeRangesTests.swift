// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct ChangeRangesTests {
    typealias Part = ChangeRanges.Part

    private static func ranges(_ parts: [(ChangeNumber, ChangeNumber)]) -> ChangeRanges {
        var ranges = ChangeRanges()
        for (after, upTo) in parts { ranges.insert(Part(after: after, upTo: upTo)) }
        return ranges
    }

    @Test func `R-263: what touches is one range, and an empty one is none`() {
        #expect(Self.ranges([(1, 2), (3, 4), (2, 3)]).parts == [Part(after: 1, upTo: 4)])
        #expect(Self.ranges([(5, 7), (1, 2)]).parts == [Part(after: 1, upTo: 2), Part(after: 5, upTo: 7)])
        #expect(Self.ranges([(1, 9), (3, 4), (1, 9)]).parts == [Part(after: 1, upTo: 9)])
        #expect(Self.ranges([(3, 3), (4, 2)]).isEmpty)
    }

    /// Against a set of numbers.
    @Test func `R-263: in any order, doubled and overlapping, ranges have the changes that were put in`() {
        for seed in 1...300 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            var (ranges, numbers) = (ChangeRanges(), Set<ChangeNumber>())
            for _ in 0..<20 {
                let after = ChangeNumber.random(in: 0..<40, using: &random)
                let upTo = after + ChangeNumber.random(in: 0..<5, using: &random)
                ranges.insert(Part(after: after, upTo: upTo))
                numbers.formUnion((after..<upTo).map { $0 + 1 })
                let all = ranges.parts.flatMap { ($0.after..<$0.upTo).map { $0 + 1 } }
                #expect(all == numbers.sorted(), "seed \(seed)")
                #expect(zip(ranges.parts, ranges.parts.dropFirst()).allSatisfy { $0.upTo < $1.after }, "seed \(seed)")
            }
            let start = ChangeNumber.random(in: 0..<40, using: &random)
            var end = start
            while numbers.contains(end + 1) { end += 1 }
            let taken = ranges.takeAll(after: start)
            #expect(taken == end, "seed \(seed)")
            #expect(ranges.parts.allSatisfy { $0.after > end }, "seed \(seed)")
        }
    }

    @Test func `R-263, I-7: of too many ranges the lowest are forgotten`() {
        let ranges = Self.ranges((0..<300).map { (2 * $0, 2 * $0 + 1) })
        #expect(ranges.parts.count == ChangeRanges.partsMax)
        #expect(ranges.parts.first == Part(after: 88, upTo: 89) && ranges.parts.last == Part(after: 598, upTo: 599))
    }
}
