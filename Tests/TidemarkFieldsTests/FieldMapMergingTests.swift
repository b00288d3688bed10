// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFields

@Suite struct FieldMapMergingTests {
    @Test func `R-093, R-098, R-102: keys sent replace, the others stay`() throws {
        let old = try FieldMap([Field("a", .int64(1)), Field("b", .string("old")), Field("d", .int64(4))])
        let changes = try FieldMap([Field("b", .string("new")), Field("c", .int64(3)), Field("e", .int64(5))])
        let merged = try FieldMap([
            Field("a", .int64(1)), Field("b", .string("new")), Field("c", .int64(3)), Field("d", .int64(4)),
            Field("e", .int64(5)),
        ])
        #expect(old.merging(changes) == merged)
    }

    @Test func `R-063: a removed key goes, and removing one that is not there does nothing`() throws {
        let old = try FieldMap([Field("a", .int64(1)), Field("b", .int64(2))])
        let changes = try FieldMap([Field("b", .removed), Field("c", .removed)])
        #expect(try old.merging(changes) == FieldMap([Field("a", .int64(1))]))
        #expect(FieldMap().merging(changes).isEmpty)
    }

    @Test func `R-055, R-215: desired keys keep only those that are named`() throws {
        let map = try FieldMap([
            Field("a", .int64(1)), Field("b", .int64(2), isEncrypted: true), Field("c", .int64(3)),
        ])
        #expect(map.selecting(FieldSelection([])).isEmpty)
        #expect(map.selecting(FieldSelection(["b"])).keys == ["b"])
        #expect(map.selecting(FieldSelection(["c", "a", "a", "0", "bb", "zz"])).keys == ["a", "c"])
        #expect(map.selecting(FieldSelection(["a", "b", "c"])) == map)
        let alike = try FieldMap([Field("k", .int64(1)), Field("kk", .int64(2)), Field("kkk", .int64(3))])
        #expect(alike.selecting(FieldSelection(["", "kk", "kkkk"])).keys == ["kk"])
        #expect(alike.selecting(FieldSelection(["kkk", "k"])).keys == ["k", "kkk"])
        #expect(FieldMap().selecting(FieldSelection(["k"])).isEmpty)
    }

    @Test func `R-215, R-736: of random records the same fields are selected as a filter selects`() throws {
        var random = SeededRandom()
        print("seed \(random.seed)")
        for fieldCount in [0, 1, 3, 20, 200] {
            for keyCount in [0, 1, 3, 30, 1_000] {
                for _ in 0..<5 { try checkSelecting(of: fieldCount, by: keyCount, &random) }
            }
        }
    }

    /// About half of the desired keys are some that the record has, and some come several times.
    private func checkSelecting(of fieldCount: Int, by keyCount: Int, _ random: inout SeededRandom) throws {
        let held = Set((0..<fieldCount).map { _ in FieldKeysTests.randomKey(&random) }).sorted()
        let fields = held.map { key in
            Field(key, .int64(Int64(key.utf8.count)), isEncrypted: Bool.random(using: &random))
        }
        var wanted: [String] = keyCount % 2 == 0 ? [] : ["", "\u{E9}", String(repeating: "a", count: 300)]
        for _ in 0..<keyCount {
            let isHeld = !held.isEmpty && Bool.random(using: &random)
            wanted.append(isHeld ? random.pick(held) : FieldKeysTests.randomKey(&random))
        }
        let selection = FieldSelection(wanted.shuffled(using: &random))
        let selected = try FieldMap(fields).selecting(selection)
        let isWanted = Set(wanted)
        let expected = try FieldMap(fields.filter { isWanted.contains($0.key) })
        #expect(selected == expected, "seed \(random.seed)")
        #expect(selected.selecting(selection) == expected, "seed \(random.seed)")
    }

    @Test func `merging behaves as a dictionary does, over random maps`() throws {
        var random = SeededRandom()
        for _ in 0..<2_000 {
            let (old, oldModel) = try randomMap(&random, removals: false)
            let (first, firstModel) = try randomMap(&random, removals: true)
            let (second, secondModel) = try randomMap(&random, removals: true)
            let merged = old.merging(first).merging(second)
            let model = oldModel.merging(firstModel) { $1 }.filter { $1 != .removed }
                .merging(secondModel) { $1 }.filter { $1 != .removed }
            let expected = try FieldMap(model.map { Field($0.key, $0.value) })
            #expect(merged == expected, "seed \(random.seed)")
            #expect(try FieldMap(validating: merged.bytes) == merged, "seed \(random.seed)")
            #expect(old.merging(FieldMap()) == old, "seed \(random.seed)")
            #expect(old.merging(old) == old, "seed \(random.seed)")
            #expect(FieldMap().merging(old) == old, "seed \(random.seed)")
            let keys = Array(oldModel.keys.sorted().shuffled(using: &random).prefix(3))
            let selected = try FieldMap(oldModel.filter { keys.contains($0.key) }.map { Field($0.key, $0.value) })
            #expect(old.selecting(FieldSelection(keys)) == selected, "seed \(random.seed)")
        }
    }

    private func randomMap(_ random: inout SeededRandom, removals: Bool) throws -> (FieldMap, [String: FieldValue]) {
        var model: [String: FieldValue] = [:]
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let key = ["a", "ab", "b", "B", "c1", "d_"].randomElement(using: &random) ?? "a"
            let value = FieldMapTests.values.randomElement(using: &random) ?? .emptyList
            model[key] = value == .removed && !removals ? .emptyList : value
        }
        return (try FieldMap(model.map { Field($0.key, $0.value) }), model)
    }
}
