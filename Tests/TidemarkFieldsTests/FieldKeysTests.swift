// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFields

@Suite struct FieldKeysTests {
    /// Keys of which many are the beginning of others. Some are shorter than the eight bytes that are compared at once.
    static func randomKey(_ random: inout SeededRandom) -> String {
        let beginning = random.pick(["a", "B", "sevenBy", "eightByt", "aLongBeginningOfKeys"])
        let ends: [Character] = ["a", "b", "Z", "0", "_"]
        let length = Int.random(in: 0...4, using: &random)
        return beginning + String((0..<length).map { _ in random.pick(ends) })
    }

    @Test func `R-736: a key is found from each place before it, and one that is not there would be there`() {
        var random = SeededRandom()
        print("seed \(random.seed)")
        for count in [0, 1, 2, 3, 10, 100, 1_000] {
            let given = (0..<count).map { _ in Self.randomKey(&random) }
            let keys = FieldKeys(given + given.shuffled(using: &random))
            let model = Set(given).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            #expect(keys.count == model.count, "seed \(random.seed)")
            let others = (0..<50).map { _ in Self.randomKey(&random) }
            for key in model.shuffled(using: &random).prefix(50) + others {
                let index = model.firstIndex { !$0.utf8.lexicographicallyPrecedes(key.utf8) } ?? model.count
                let isFound = index < model.count && model[index] == key
                for first in Set([0, index / 2, max(0, index - 1), index]) {
                    let bytes = Array("<\(key)>".utf8)
                    let place = keys.place(of: 1..<bytes.count - 1, in: bytes.span, from: first)
                    let isRight = place.index == index && place.isFound == isFound
                    #expect(isRight, "\(key) from \(first), seed \(random.seed)")
                }
            }
        }
    }

    @Test func `R-042, R-736: keys that come again or are too long for a record are not kept`() {
        let longest = String(repeating: "k", count: 255)
        #expect(FieldKeys(["b", "a", "b", longest, longest + "k", "a"]).count == 3)
        #expect(FieldKeys([String]()).count == 0)
    }
}
