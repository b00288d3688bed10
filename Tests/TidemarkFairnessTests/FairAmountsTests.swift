// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness
import TidemarkTestSupport

/// Amounts that are taken and given back.
@Suite struct FairAmountsTests {
    @Test func `R-722: however many want everything, there is room for one more`() {
        for count in 1...40 {
            var amounts = FairAmounts(amountMax: 1_000_000)
            let owners = (0..<count).map { $0 == 0 ? WorkOwner.nobody : .account(Int64($0)) }
            var isFull = false
            while !isFull {
                isFull = true
                for owner in owners where amounts.take(1_000, for: owner) != .none { isFull = false }
            }
            #expect(1_000_000 - amounts.total >= 500_000 / (count + 2), "\(count)")
            #expect(owners.allSatisfy { amounts[$0] <= amounts.share(of: $0) }, "\(count)")
            let least = owners.dropFirst().map { amounts[$0] }.min() ?? 0
            let most = owners.map { amounts[$0] }.max() ?? 0
            #expect(most - least <= 1_000 || count == 1, "\(count)")
            #expect(amounts.take(5_000, for: .account(99)) != .none, "\(count)")
            for owner in owners + [.account(99)] { amounts.give(back: amounts[owner], of: owner) }
            #expect(amounts.total == 0)
        }
    }

    @Test func `R-722: who come one after the other and want everything leave enough for one large thing`() {
        var amounts = FairAmounts(amountMax: 128_000)
        for owner in 1...15 {
            while amounts.take(100, for: .account(Int64(owner))) != .none {}
            #expect(amounts[.account(Int64(owner))] >= amounts.littleMax, "\(owner)")
        }
        #expect(amounts.take(1_000, for: .account(99)) != .none)
    }

    @Test func `R-722: in any history sums and bounds hold, and what was given back can be taken again`() throws {
        let first = SeededRandom().seed
        for seed in (0..<200).map({ first &+ $0 }) {
            var random = SeededRandom(seed: seed)
            let note = "TIDEMARK_TEST_SEED=\(seed)"
            var amounts = FairAmounts(amountMax: 10_000)
            let owners = (1...Int64.random(in: 1...6, using: &random)).map { WorkOwner.account($0) } + [.nobody]
            var held: [WorkOwner: Int] = [:]
            for _ in 0..<300 {
                let owner = random.pick(owners)
                let amount = Int.random(in: 0...1_500, using: &random)
                if random.next() % 3 == 0 {
                    let given = min(amount, held[owner, default: 0])
                    amounts.give(back: given, of: owner)
                    held[owner, default: 0] -= given
                } else if amounts.take(amount, for: owner) != .none {
                    held[owner, default: 0] += amount
                }
                try #require(amounts.total == held.values.reduce(0, +), "\(note)")
                try #require(owners.allSatisfy { amounts[$0] == held[$0, default: 0] }, "\(note)")
                try #require(owners.allSatisfy { amounts[$0] <= amounts.share(of: $0) }, "\(note)")
            }
            for owner in owners { amounts.give(back: amounts[owner], of: owner) }
            try #require(amounts.take(2_500, for: .account(7)) == .tight && amounts.total == 2_500, "\(note)")
        }
    }
}
