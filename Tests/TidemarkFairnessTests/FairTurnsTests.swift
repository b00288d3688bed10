// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness
import TidemarkTestSupport

@Suite struct FairTurnsTests {
    private func popAll(_ turns: inout FairTurns<WorkOwner, String>) -> [String] {
        var popped: [String] = []
        while let element = turns.popFirst() { popped.append(element) }
        return popped
    }

    @Test func `R-711: owners take turns, and each one's elements keep their order`() {
        var turns = FairTurns<WorkOwner, String>()
        for element in ["a1", "a2", "a3", "b1", "c1", "b2"] {
            turns.append(element, of: .account(element.first == "a" ? 1 : element.first == "b" ? 2 : 3))
        }
        #expect(turns.first == "a1")
        #expect(turns.first(where: { $0 != .account(1) }) == "b1", "the next of those who may")
        #expect(turns.first(where: { $0 == .nobody }) == nil)
        #expect(Set(turns.elements) == ["a1", "a2", "a3", "b1", "b2", "c1"])
        #expect(popAll(&turns) == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(turns.isEmpty && turns.first == nil)
    }

    @Test func `what is put back is first again, and so is its owner`() {
        var turns = FairTurns<WorkOwner, String>()
        for (element, owner) in [("a1", 1), ("b1", 2), ("a2", 1)] as [(String, Int64)] {
            turns.append(element, of: .account(owner))
        }
        let first = turns.popFirst()
        #expect(first == "a1" && turns.first == "b1")
        turns.prepend("a1", of: .account(1))
        turns.prepend("n", of: .nobody)
        #expect(popAll(&turns) == ["n", "a1", "b1", "a2"])
    }

    /// Beside a simple model: an array of all elements, and who was served last.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `R-710, R-711: in any history nothing is lost, and nobody is passed over`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var turns = FairTurns<WorkOwner, Int>()
        var waiting: [(element: Int, owner: Int64)] = []
        // How many turns of others an owner who waits has seen.
        var passed: [Int64: Int] = [:]
        for element in 0..<200 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let owner = Int64.random(in: 0..<5, using: &random)
                turns.append(element, of: .account(owner))
                waiting.append((element, owner))
            case 5:
                let isGone = { (element: Int) in element % 3 == 0 }
                turns.removeAll(where: isGone)
                waiting.removeAll { isGone($0.element) }
            case 6:
                guard let gone = waiting.randomElement(using: &random) else { continue }
                turns.removeFirst(of: .account(gone.owner + 1)) { $0 == gone.element }
                #expect(turns.contains { $0 == gone.element }, "seed \(seed): removed from another owner")
                turns.removeFirst(of: .account(gone.owner)) { $0 == gone.element }
                waiting.removeAll { $0.element == gone.element }
            default:
                guard let popped = turns.popFirst() else {
                    #expect(waiting.isEmpty)
                    continue
                }
                guard let index = waiting.firstIndex(where: { $0.element == popped }) else {
                    Issue.record("seed \(seed): \(popped) was not there")
                    return
                }
                let owner = waiting[index].owner
                #expect(!waiting[..<index].contains { $0.owner == owner }, "seed \(seed): not in order")
                waiting.remove(at: index)
                passed[owner] = 0
                for other in Set(waiting.map(\.owner)) where other != owner { passed[other, default: 0] += 1 }
            }
            let owners = Set(waiting.map(\.owner))
            passed = passed.filter { owners.contains($0.key) }
            #expect(passed.values.allSatisfy { $0 < 5 }, "seed \(seed): one waits for more than a turn of each other")
            #expect(Set(turns.elements) == Set(waiting.map(\.element)))
        }
    }
}
