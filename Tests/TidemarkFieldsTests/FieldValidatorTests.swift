// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFields

@Suite struct FieldValidatorTests {
    private typealias Tag = FieldTag.Field
    private typealias Reference = FieldTag.Reference
    private typealias Asset = FieldTag.Asset
    private typealias List = FieldTag.List

    /// A number of variable length with a tag that no message has.
    private static let unknown: UInt8 = 0x78

    /// An entry as bytes: its content behind the tag and length that it has in the map.
    static func entry(_ content: [UInt8]) -> [UInt8] { [FieldTag.FieldMap.fields, UInt8(content.count)] + content }

    static let key: [UInt8] = [Tag.key, 1, 0x6B]

    /// An asset's hash with its tag and length.
    static let hash: [UInt8] = [Asset.sha256, 32] + Array(1...32)

    static let cases: [(name: String, bytes: [UInt8], code: FieldError.Code?)] = [
        ("nothing", [], nil),
        ("int64 1", entry(key + [Tag.type, 2, Tag.int64, 2]), nil),
        ("encrypted int64", entry(key + [Tag.encrypted, 1, Tag.type, 2, Tag.int64, 2]), nil),
        ("encrypted written as false", entry(key + [Tag.encrypted, 0, Tag.type, 2, Tag.int64, 2]), .malformed),
        ("removed", entry(key + [Tag.type, 15]), nil),
        ("removed with a value", entry(key + [Tag.type, 15, Tag.int64, 2]), .malformed),
        ("empty list", entry(key + [Tag.type, 16]), nil),
        ("no type", entry(key + [Tag.int64, 2]), .malformed),
        ("type 0", entry(key + [Tag.type, 0, Tag.int64, 2]), .malformed),
        ("asset", entry(key + [Tag.type, 7, Tag.asset, 36] + hash + [Asset.byteCount, 5]), nil),
        ("asset of no bytes", entry(key + [Tag.type, 7, Tag.asset, 34] + hash), nil),
        (
            "asset of no bytes, said so", entry(key + [Tag.type, 7, Tag.asset, 36] + hash + [Asset.byteCount, 0]),
            .malformed
        ),
        ("asset without a hash", entry(key + [Tag.type, 7, Tag.asset, 2, Asset.byteCount, 5]), .malformed),
        ("asset with nothing", entry(key + [Tag.type, 7, Tag.asset, 0]), .truncated),
        (
            "asset with a hash of 31 bytes", entry(key + [Tag.type, 7, Tag.asset, 33, Asset.sha256, 31] + hash[3...]),
            .badValue
        ),
        (
            "asset of 2^63 bytes",
            entry(
                key + [Tag.type, 7, Tag.asset, 45] + hash + [Asset.byteCount] + Array(repeating: 0x80, count: 9) + [1]),
            .badValue
        ),
        (
            "asset with more", entry(key + [Tag.type, 7, Tag.asset, 38] + hash + [Asset.byteCount, 5, unknown, 1]),
            .malformed
        ),
        ("list of assets", entry(key + [Tag.type, 23, Tag.list, 36, List.assets, 34] + hash), nil),
        ("list of assets without elements", entry(key + [Tag.type, 23, Tag.list, 0]), .truncated),
        ("type 25", entry(key + [Tag.type, 25]), .unknownType),
        ("type 258, whose low byte is int64's", entry(key + [Tag.type, 0x82, 0x02, Tag.int64, 2]), .unknownType),
        ("value of another type", entry(key + [Tag.type, 2, Tag.string, 1, 0x61]), .malformed),
        ("two values", entry(key + [Tag.type, 2, Tag.int64, 2, Tag.int64, 2]), .malformed),
        ("no value", entry(key + [Tag.type, 2]), .truncated),
        ("no key", entry([Tag.type, 2, Tag.int64, 2]), .malformed),
        ("unknown element", entry(key + [Tag.type, 2, Tag.int64, 2, unknown, 1]), .malformed),
        ("empty entry", [FieldTag.FieldMap.fields, 0], .truncated),
        ("foreign element in the map", [unknown, 1], .malformed),
        ("entry past the end", [FieldTag.FieldMap.fields, 9] + key + [Tag.type, 2, Tag.int64, 2], .truncated),
        ("key past the entry", entry([Tag.key, 9, 0x6B, Tag.type, 2, Tag.int64, 2]), .truncated),
        ("needless byte in a number", entry(key + [Tag.type, 2, Tag.int64, 0x82, 0]), .malformed),
        (
            "number of 65 bits", entry(key + [Tag.type, 2, Tag.int64] + Array(repeating: 0xFF, count: 9) + [2]),
            .malformed
        ),
        ("number of 64 bits", entry(key + [Tag.type, 2, Tag.int64] + Array(repeating: 0xFF, count: 9) + [1]), nil),
        (
            "number of 11 bytes", entry(key + [Tag.type, 2, Tag.int64] + Array(repeating: 0xFF, count: 10) + [1]),
            .malformed
        ),
        ("length of 2^63", [FieldTag.FieldMap.fields] + Array(repeating: 0x80, count: 9) + [1], .truncated),
        (
            "needless byte in a length", [FieldTag.FieldMap.fields, 0x87, 0x00] + key + [Tag.type, 2, Tag.int64, 2],
            .malformed
        ),
        ("double", entry(key + [Tag.type, 3, Tag.double, 0, 0, 0, 0, 0, 0, 0, 0]), nil),
        ("double of 7 bytes", entry(key + [Tag.type, 3, Tag.double, 0, 0, 0, 0, 0, 0, 0]), .truncated),
        ("string", entry(key + [Tag.type, 1, Tag.string, 2, 0xC3, 0xA9]), nil),
        ("string cut within a character", entry(key + [Tag.type, 1, Tag.string, 1, 0xC3]), .badValue),
        ("overlong string", entry(key + [Tag.type, 1, Tag.string, 2, 0xC0, 0x80]), .badValue),
        ("surrogate", entry(key + [Tag.type, 1, Tag.string, 3, 0xED, 0xA0, 0x80]), .badValue),
        ("past U+10FFFF", entry(key + [Tag.type, 1, Tag.string, 4, 0xF4, 0x90, 0x80, 0x80]), .badValue),
        ("list without elements", entry(key + [Tag.type, 18, Tag.list, 0]), .truncated),
        ("int64 list", entry(key + [Tag.type, 18, Tag.list, 4, List.int64s, 2, 0, 2]), nil),
        (
            "int64 list in two packs", entry(key + [Tag.type, 18, Tag.list, 6, List.int64s, 1, 0, List.int64s, 1, 0]),
            .malformed
        ),
        ("int64 list with an empty pack", entry(key + [Tag.type, 18, Tag.list, 2, List.int64s, 0]), .malformed),
        (
            "double list of 7 bytes", entry(key + [Tag.type, 19, Tag.list, 9, List.doubles, 7, 0, 0, 0, 0, 0, 0, 0]),
            .malformed
        ),
        ("strings in a list of bytes", entry(key + [Tag.type, 21, Tag.list, 3, List.strings, 1, 0x61]), .malformed),
        (
            "mixed list", entry(key + [Tag.type, 17, Tag.list, 6, List.strings, 1, 0x61, List.bytes, 1, 0x61]),
            .malformed
        ),
        ("reference", entry(key + [Tag.type, 6, Tag.reference, 3, Reference.recordName, 1, 0x72]), nil),
        ("reference without a name", entry(key + [Tag.type, 6, Tag.reference, 0]), .truncated),
        (
            "reference with an empty name", entry(key + [Tag.type, 6, Tag.reference, 2, Reference.recordName, 0]),
            .badValue
        ),
        (
            "reference with zone but no owner",
            entry(key + [Tag.type, 6, Tag.reference, 6, Reference.recordName, 1, 0x72, Reference.zoneName, 1, 0x7A]),
            .truncated
        ),
        (
            "reference with action 0",
            entry(key + [Tag.type, 6, Tag.reference, 5, Reference.recordName, 1, 0x72, Reference.action, 0]), .malformed
        ),
        (
            "reference with action 1",
            entry(key + [Tag.type, 6, Tag.reference, 5, Reference.recordName, 1, 0x72, Reference.action, 1]), nil
        ),
        (
            "reference with action 2",
            entry(key + [Tag.type, 6, Tag.reference, 5, Reference.recordName, 1, 0x72, Reference.action, 2]), .badValue
        ),
        ("key with a control character", entry([Tag.key, 2, 0x6B, 0, Tag.type, 15]), .badKey),
        ("empty key", entry([Tag.key, 0, Tag.type, 15]), .badKey),
        (
            "keys out of order", entry([Tag.key, 1, 0x6B, Tag.type, 15]) + entry([Tag.key, 1, 0x6A, Tag.type, 15]),
            .unsorted
        ),
        (
            "longer key first",
            entry([Tag.key, 2, 0x6B, 0x6B, Tag.type, 15]) + entry([Tag.key, 1, 0x6B, Tag.type, 15]), .unsorted
        ),
        (
            "key twice", entry([Tag.key, 1, 0x6B, Tag.type, 15]) + entry([Tag.key, 1, 0x6B, Tag.type, 16]),
            .duplicateKey
        ),
    ]

    @Test(arguments: cases)
    func `only canonical bytes are accepted`(name: String, bytes: [UInt8], code: FieldError.Code?) {
        do throws(FieldError) {
            _ = try FieldMap(validating: bytes)
            #expect(code == nil, "\(name) was accepted")
        } catch {
            #expect(error.code == code, "\(name): \(error)")
        }
    }

    /// One field of every kind.
    static func sample() throws -> FieldMap {
        try FieldMap(
            FieldMapTests.values.enumerated().map { index, value in
                Field("k\(index)", value, isEncrypted: index % 3 == 0)
            })
    }

    @Test func `I-6: every cut of a map is an error or a map of fewer fields`() throws {
        let sample = try Self.sample()
        let boundaries = Set(sample.map(\.layout.end) + [0])
        for length in 0...sample.byteCount {
            let cut = Array(sample.bytes.prefix(length))
            do throws(FieldError) {
                _ = try FieldMap(validating: cut)
                #expect(boundaries.contains(length))
            } catch {
                #expect(error.code == .truncated || error.code == .malformed, "\(error)")
                #expect(!boundaries.contains(length))
                #expect((0...length).contains(error.offset))
            }
            useEverything(FieldMap(trusting: cut))
        }
    }

    @Test func `I-6: a map with a flipped bit is an error or a map`() throws {
        let sample = try Self.sample()
        for index in sample.bytes.indices {
            for bit in 0..<8 {
                var bytes = sample.bytes
                bytes[index] ^= 1 << UInt8(bit)
                check(bytes)
            }
        }
    }

    @Test func `I-6: random bytes and random edits are an error or a map`() throws {
        var random = SeededRandom()
        print("seed \(random.seed)")
        let sample = try FieldMap([
            Field("a", .string("text")), Field("b", .int64s([1, 300, -9])),
            Field("c", .reference(FieldReference(recordName: "r", action: .deleteSelf)), isEncrypted: true),
        ])
        for _ in 0..<20_000 {
            var bytes = sample.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = bytes.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: index)
                default: if bytes.count > 1 { bytes.remove(at: index) }
                }
            }
            check(bytes, "seed \(random.seed)")
            check(
                (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0...40, using: &random) },
                "seed \(random.seed)")
        }
    }

    /// Whatever is accepted is canonical (decoding and encoding gives the same bytes); whatever is not does no harm.
    private func check(_ bytes: [UInt8], _ comment: Comment? = nil) {
        if let map = try? FieldMap(validating: bytes) {
            do {
                let fields = try map.map { Field($0.key, try $0.value(), isEncrypted: $0.isEncrypted) }
                #expect(try FieldMap(fields).bytes == bytes, comment)
            } catch {
                Issue.record("accepted but not decodable: \(error) \(bytes) \(comment ?? "")")
            }
        }
        useEverything(FieldMap(trusting: bytes))
    }

    private func useEverything(_ map: FieldMap) {
        _ = map.containsRemovals
        _ = map.merging(map)
        _ = map.selecting(FieldSelection(["a", "k1"]))
        for entry in map { _ = try? entry.value() }
        _ = map["k1"]
    }
}
