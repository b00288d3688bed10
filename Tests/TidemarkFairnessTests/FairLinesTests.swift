// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness
import TidemarkTestSupport

@Suite struct FairLinesTests {
    @Test func `R-711: an owner may have a part of a line in one turn, and the next turn is another's`() {
        var lines = FairLines<Int, String>()
        #expect(lines.isEmpty && lines.takeTurn() == nil && lines.popFirst() == nil)
        for (element, owner) in [("a1", 1), ("a2", 1), ("b1", 2), ("a3", 1)] { lines.append(element, of: owner) }
        #expect(lines.count(of: 1) == 3 && lines.count(of: 2) == 1 && lines.count(of: 3) == 0)
        #expect(lines.takeTurn() == 1 && lines.first(of: 1) == "a1", "a turn takes nothing by itself")
        #expect(lines.removeFirst(of: 1) == "a1" && lines.removeFirst(of: 1) == "a2")
        #expect(lines.takeTurn() == 2 && lines.takeTurn() == 1 && lines.takeTurn() == 2)
        #expect(lines.removeFirst(of: 2) == "b1" && lines.removeFirst(of: 2) == nil)
        #expect(lines.takeTurn() == 1 && lines.takeTurn() == 1, "who has nothing has no turn")
        lines.append("b2", of: 2)
        #expect(lines.popFirst() == "a3" && lines.popFirst() == "b2" && lines.isEmpty)
    }

    /// Whoever goes by turns and elements alone cannot tell it from `FairTurns`.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `R-711: the turns are those of FairTurns, whatever happens`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (lines, turns) = (FairLines<WorkOwner, Int>(), FairTurns<WorkOwner, Int>())
        for step in 0..<400 {
            if Int.random(in: 0..<5, using: &random) < (step < 300 ? 3 : 0) {
                let owner = WorkOwner.account(Int64.random(in: 0..<6, using: &random))
                lines.append(step, of: owner)
                turns.append(step, of: owner)
            } else {
                let (one, other) = (lines.popFirst(), turns.popFirst())
                #expect(one == other, "seed \(seed), step \(step)")
            }
            #expect(lines.isEmpty == turns.isEmpty)
        }
    }

    /// A table, and not a search: each of very many owners costs the same.
    @Test func `R-723: ten thousand owners have a turn each`() {
        var lines = FairLines<Int, Int>()
        for owner in 0..<10_000 { for _ in 0..<2 { lines.append(owner, of: owner) } }
        let twice = (0..<20_000).compactMap { _ in lines.popFirst() }
        #expect(twice == Array(0..<10_000) + Array(0..<10_000))
        #expect(lines.isEmpty)
    }
}
