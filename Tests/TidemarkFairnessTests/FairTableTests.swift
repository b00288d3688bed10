// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFairness
import TidemarkTestSupport

/// Things that can be taken back.
@Suite struct FairTableTests {
    @Test func `R-712: what was used longest ago gives way, of the owner who has most`() {
        var table = FairTable<String, Int>(count: 4, perOwner: 3)
        /// What gives way to it.
        func insert(_ key: String, _ number: Int, of owner: Int64) -> [String]? {
            table.insert(number, for: key, of: .account(owner))?.map(\.key)
        }
        for (number, key) in ["a", "b", "c"].enumerated() { #expect(insert(key, number, of: 1) == []) }
        let used = table.use("a")
        #expect(used == 0)
        // As many as one owner may have: its own oldest goes.
        #expect(insert("d", 3, of: 1) == ["b"])
        #expect(insert("e", 4, of: 2) == [])
        // Full: 3 and 1. The first owner has most.
        #expect(insert("f", 5, of: 2) == ["c"])
        // 2 and 2: whoever asks gives way itself.
        #expect(insert("g", 6, of: 2) == ["e"])
        #expect(table.count == 4 && table.contains("a") && table.contains("d"))
        let removed = [table.remove("a"), table.remove("a")]
        #expect(removed == [0, nil])
        let rest = table.removeAll { $0 == 3 || $0 == 5 }
        #expect(Set(rest.map(\.key)) == ["d", "f"])
        #expect(table.values == [6])
    }

    @Test func `R-712: there is no place for one more owner if each has but one thing`() {
        var table = FairTable<Int64, Void>(count: 3, perOwner: 3)
        let isAdded = (1...4 as ClosedRange<Int64>).map { table.insert((), for: $0, of: .account($0)) != nil }
        #expect(isAdded == [true, true, true, false])
        #expect(table.count == 3)
    }

    @Test func `R-712: in any history of a full table, no owner has two more than one that was refused a place`() throws
    {
        let seed = SeededRandom().seed
        print("fair table: TIDEMARK_TEST_SEED=\(seed)")
        var random = SeededRandom(seed: seed)
        var table = FairTable<Int, Int64>(count: 20, perOwner: 12)
        var counts: [Int64: Int] = [:]
        for key in 0..<5_000 {
            let owner = Int64.random(in: 1...6, using: &random)
            if random.next() % 8 == 0, let used = table.values.randomElement(using: &random) {
                for (_, value) in table.removeAll(where: { $0 == used }) { counts[value, default: 0] -= 1 }
            }
            let inserted = table.insert(owner, for: key, of: .account(owner))
            let gaveWay = try #require(inserted, "seed \(seed)")
            counts[owner, default: 0] += 1
            for (_, value) in gaveWay {
                #expect(
                    counts[value, default: 0] >= counts[owner, default: 0] - 1, "the poorer gave way, seed \(seed)")
                counts[value, default: 0] -= 1
            }
            #expect(table.count <= 20 && counts.values.allSatisfy { (0...12).contains($0) }, "seed \(seed)")
        }
    }
}
