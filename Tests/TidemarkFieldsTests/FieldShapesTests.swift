// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFields

@Suite struct FieldShapesTests {
    private static let keys = ["a", "aa", "ab", "b", "ba", "k", "key", "key0", "key1", "zz", "zzz"]
    private static let values: [FieldValue] = [.int64(1), .string("x")]

    @Test func `R-062, R-067: keys are covered in their own type and space, removals always`() throws {
        let shapes = FieldShapes([
            ("text", FieldType.string.rawValue, false), ("secret", FieldType.int64.rawValue, true),
        ])
        let rows: [([Field], Bool)] = [
            ([], true), ([Field("text", .string("x"))], true), ([Field("secret", .int64(1), isEncrypted: true)], true),
            ([Field("text", .string("x")), Field("secret", .int64(1), isEncrypted: true)], true),
            ([Field("text", .int64(1))], false), ([Field("text", .string("x"), isEncrypted: true)], false),
            ([Field("secret", .int64(1))], false), ([Field("tex", .string("x"))], false),
            ([Field("textt", .string("x"))], false), ([Field("text", .emptyList)], false),
            ([Field("other", .removed)], true),
        ]
        for (fields, isCovered) in rows { #expect(shapes.cover(try FieldMap(fields)) == isCovered, "\(fields)") }
    }

    @Test func `random maps are covered exactly when a dictionary has each of their keys`() throws {
        var random = SeededRandom()
        for _ in 0..<3_000 {
            func fields() -> [Field] {
                Self.keys.filter { _ in Bool.random(using: &random) }.map { key in
                    Field(key, Self.values.randomElement(using: &random) ?? .int64(1))
                }
            }
            let known = fields()
            let model = Dictionary(uniqueKeysWithValues: known.map { ($0.key, $0.value.type) })
            let shapes = FieldShapes(known.map { ($0.key, $0.value.type.rawValue, false) }.shuffled(using: &random))
            var grown = FieldShapes()
            for field in known.shuffled(using: &random) {
                grown.insert(field.key, typeCode: field.value.type.rawValue, isEncrypted: false)
            }
            #expect(grown == shapes, "seed \(random.seed)")
            let saved = Bool.random(using: &random) ? Array(known.prefix(3)) : fields()
            let expected = saved.allSatisfy { model[$0.key] == $0.value.type }
            #expect(try shapes.cover(FieldMap(saved)) == expected, "seed \(random.seed)")
        }
    }
}
