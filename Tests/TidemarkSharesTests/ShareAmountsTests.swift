// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkShares
import TidemarkTestSupport

/// Amounts that are taken and given back.
@Suite struct ShareAmountsTests {
    @Test func `R-722: however many want everything, there is room for one more`() {
        for count in 1...40 {
            var shares = ShareAmounts(amountMax: 1_000_000)
            let owners = (0..<count).map { $0 == 0 ? ShareOwner.nobody : .account(Int64($0)) }
            var isFull = false
            while !isFull {
                isFull = true
                for owner in owners where shares.take(1_000, for: owner) != .none { isFull = false }
            }
            #expect(1_000_000 - shares.total >= 500_000 / (count + 2), "\(count)")
            #expect(owners.allSatisfy { shares[$0] <= shares.share(of: $0) }, "\(count)")
            let least = owners.dropFirst().map { shares[$0] }.min() ?? 0
            let most = owners.map { shares[$0] }.max() ?? 0
            #expect(most - least <= 1_000 || count == 1, "\(count)")
            #expect(shares.take(5_000, for: .account(99)) != .none, "\(count)")
            for owner in owners + [.account(99)] { shares.give(back: shares[owner], of: owner) }
            #expect(shares.total == 0)
        }
    }

    @Test func `R-722: who come one after the other and want everything leave enough for one large thing`() {
        var shares = ShareAmounts(amountMax: 128_000)
        for owner in 1...15 {
            while shares.take(100, for: .account(Int64(owner))) != .none {}
            #expect(shares[.account(Int64(owner))] >= shares.littleMax, "\(owner)")
        }
        #expect(shares.take(1_000, for: .account(99)) != .none)
    }

    @Test func `R-722: in any history sums and bounds hold, and what was given back can be taken again`() throws {
        let first = SeededRandom().seed
        for seed in (0..<200).map({ first &+ $0 }) {
            var random = SeededRandom(seed: seed)
            let note = "TIDEMARK_TEST_SEED=\(seed)"
            var shares = ShareAmounts(amountMax: 10_000)
            let owners = (1...Int64.random(in: 1...6, using: &random)).map { ShareOwner.account($0) } + [.nobody]
            var held: [ShareOwner: Int] = [:]
            for _ in 0..<300 {
                let owner = random.pick(owners)
                let amount = Int.random(in: 0...1_500, using: &random)
                if random.next() % 3 == 0 {
                    let given = min(amount, held[owner, default: 0])
                    shares.give(back: given, of: owner)
                    held[owner, default: 0] -= given
                } else if shares.take(amount, for: owner) != .none {
                    held[owner, default: 0] += amount
                }
                try #require(shares.total == held.values.reduce(0, +), "\(note)")
                try #require(owners.allSatisfy { shares[$0] == held[$0, default: 0] }, "\(note)")
                try #require(owners.allSatisfy { shares[$0] <= shares.share(of: $0) }, "\(note)")
            }
            for owner in owners { shares.give(back: shares[owner], of: owner) }
            try #require(shares.take(2_500, for: .account(7)) == .tight && shares.total == 2_500, "\(note)")
        }
    }
}
