// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFields

@Suite struct FieldValidatorTests {
    /// An entry as bytes: its content behind the tag and length that it has in the map.
    static func entry(_ content: [UInt8]) -> [UInt8] { [0x0A, UInt8(content.count)] + content }

    static let key: [UInt8] = [0x0A, 1, 0x6B]

    /// An asset's hash with its tag and length.
    static let hash: [UInt8] = [0x0A, 32] + Array(1...32)

    static let cases: [(name: String, bytes: [UInt8], code: FieldError.Code?)] = [
        ("nothing", [], nil),
        ("int64 1", entry(key + [0x18, 2, 0x28, 2]), nil),
        ("encrypted int64", entry(key + [0x10, 1, 0x18, 2, 0x28, 2]), nil),
        ("encrypted written as false", entry(key + [0x10, 0, 0x18, 2, 0x28, 2]), .malformed),
        ("removed", entry(key + [0x18, 15]), nil),
        ("removed with a value", entry(key + [0x18, 15, 0x28, 2]), .malformed),
        ("empty list", entry(key + [0x18, 16]), nil),
        ("no type", entry(key + [0x28, 2]), .malformed),
        ("type 0", entry(key + [0x18, 0, 0x28, 2]), .malformed),
        ("asset", entry(key + [0x18, 7, 0x52, 36] + hash + [0x10, 5]), nil),
        ("asset of no bytes", entry(key + [0x18, 7, 0x52, 34] + hash), nil),
        ("asset of no bytes, said so", entry(key + [0x18, 7, 0x52, 36] + hash + [0x10, 0]), .malformed),
        ("asset without a hash", entry(key + [0x18, 7, 0x52, 2, 0x10, 5]), .malformed),
        ("asset with nothing", entry(key + [0x18, 7, 0x52, 0]), .truncated),
        ("asset with a hash of 31 bytes", entry(key + [0x18, 7, 0x52, 33, 0x0A, 31] + hash[3...]), .badValue),
        (
            "asset of 2^63 bytes",
            entry(key + [0x18, 7, 0x52, 45] + hash + [0x10] + Array(repeating: 0x80, count: 9) + [1]), .badValue
        ),
        ("asset with more", entry(key + [0x18, 7, 0x52, 38] + hash + [0x10, 5, 0x18, 1]), .malformed),
        ("list of assets", entry(key + [0x18, 23, 0x62, 36, 0x3A, 34] + hash), nil),
        ("list of assets without elements", entry(key + [0x18, 23, 0x62, 0]), .truncated),
        ("type 25", entry(key + [0x18, 25]), .unknownType),
        ("type 258, whose low byte is int64's", entry(key + [0x18, 0x82, 0x02, 0x28, 2]), .unknownType),
        ("value of another type", entry(key + [0x18, 2, 0x22, 1, 0x61]), .malformed),
        ("two values", entry(key + [0x18, 2, 0x28, 2, 0x28, 2]), .malformed),
        ("no value", entry(key + [0x18, 2]), .truncated),
        ("no key", entry([0x18, 2, 0x28, 2]), .malformed),
        ("unknown element", entry(key + [0x18, 2, 0x28, 2, 0x78, 1]), .malformed),
        ("empty entry", [0x0A, 0], .truncated),
        ("foreign element in the map", [0x10, 1], .malformed),
        ("entry past the end", [0x0A, 9] + key + [0x18, 2, 0x28, 2], .truncated),
        ("key past the entry", entry([0x0A, 9, 0x6B, 0x18, 2, 0x28, 2]), .truncated),
        ("needless byte in a number", entry(key + [0x18, 2, 0x28, 0x82, 0]), .malformed),
        ("number of 65 bits", entry(key + [0x18, 2, 0x28] + Array(repeating: 0xFF, count: 9) + [2]), .malformed),
        ("number of 64 bits", entry(key + [0x18, 2, 0x28] + Array(repeating: 0xFF, count: 9) + [1]), nil),
        ("number of 11 bytes", entry(key + [0x18, 2, 0x28] + Array(repeating: 0xFF, count: 10) + [1]), .malformed),
        ("length of 2^63", [0x0A] + Array(repeating: 0x80, count: 9) + [1], .truncated),
        ("needless byte in a length", [0x0A, 0x87, 0x00] + key + [0x18, 2, 0x28, 2], .malformed),
        ("double", entry(key + [0x18, 3, 0x31, 0, 0, 0, 0, 0, 0, 0, 0]), nil),
        ("double of 7 bytes", entry(key + [0x18, 3, 0x31, 0, 0, 0, 0, 0, 0, 0]), .truncated),
        ("string", entry(key + [0x18, 1, 0x22, 2, 0xC3, 0xA9]), nil),
        ("string cut within a character", entry(key + [0x18, 1, 0x22, 1, 0xC3]), .badValue),
        ("overlong string", entry(key + [0x18, 1, 0x22, 2, 0xC0, 0x80]), .badValue),
        ("surrogate", entry(key + [0x18, 1, 0x22, 3, 0xED, 0xA0, 0x80]), .badValue),
        ("past U+10FFFF", entry(key + [0x18, 1, 0x22, 4, 0xF4, 0x90, 0x80, 0x80]), .badValue),
        ("list without elements", entry(key + [0x18, 18, 0x62, 0]), .truncated),
        ("int64 list", entry(key + [0x18, 18, 0x62, 4, 0x12, 2, 0, 2]), nil),
        ("int64 list in two packs", entry(key + [0x18, 18, 0x62, 6, 0x12, 1, 0, 0x12, 1, 0]), .malformed),
        ("int64 list with an empty pack", entry(key + [0x18, 18, 0x62, 2, 0x12, 0]), .malformed),
        ("double list of 7 bytes", entry(key + [0x18, 19, 0x62, 9, 0x1A, 7, 0, 0, 0, 0, 0, 0, 0]), .malformed),
        ("strings in a list of bytes", entry(key + [0x18, 21, 0x62, 3, 0x0A, 1, 0x61]), .malformed),
        ("mixed list", entry(key + [0x18, 17, 0x62, 6, 0x0A, 1, 0x61, 0x2A, 1, 0x61]), .malformed),
        ("reference", entry(key + [0x18, 6, 0x4A, 3, 0x0A, 1, 0x72]), nil),
        ("reference without a name", entry(key + [0x18, 6, 0x4A, 0]), .truncated),
        ("reference with an empty name", entry(key + [0x18, 6, 0x4A, 2, 0x0A, 0]), .badValue),
        (
            "reference with zone but no owner", entry(key + [0x18, 6, 0x4A, 6, 0x0A, 1, 0x72, 0x12, 1, 0x7A]),
            .truncated
        ),
        ("reference with action 0", entry(key + [0x18, 6, 0x4A, 5, 0x0A, 1, 0x72, 0x20, 0]), .malformed),
        ("reference with action 1", entry(key + [0x18, 6, 0x4A, 5, 0x0A, 1, 0x72, 0x20, 1]), nil),
        ("reference with action 2", entry(key + [0x18, 6, 0x4A, 5, 0x0A, 1, 0x72, 0x20, 2]), .badValue),
        ("key with a control character", entry([0x0A, 2, 0x6B, 0, 0x18, 15]), .badKey),
        ("empty key", entry([0x0A, 0, 0x18, 15]), .badKey),
        ("keys out of order", entry([0x0A, 1, 0x6B, 0x18, 15]) + entry([0x0A, 1, 0x6A, 0x18, 15]), .unsorted),
        ("longer key first", entry([0x0A, 2, 0x6B, 0x6B, 0x18, 15]) + entry([0x0A, 1, 0x6B, 0x18, 15]), .unsorted),
        ("key twice", entry([0x0A, 1, 0x6B, 0x18, 15]) + entry([0x0A, 1, 0x6B, 0x18, 16]), .duplicateKey),
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
