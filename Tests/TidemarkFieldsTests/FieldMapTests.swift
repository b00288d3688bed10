// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes

@testable import TidemarkFields

@Suite struct FieldMapTests {
    /// No whole number of milliseconds.
    static let fine = FieldDate(secondsSince2001: 0.1) ?? FieldDate(milliseconds: 0)

    static let values: [FieldValue] = [
        .string(""), .string("abc"), .string("a\u{0}b"), .string("👩‍👩‍👧 é"), .string("e\u{301}"),
        .string(String(repeating: "x", count: 300)),
        .int64(0), .int64(1), .int64(-1), .int64(.max), .int64(.min),
        .double(0), .double(-0.0), .double(.infinity), .double(1.5), .double(.leastNonzeroMagnitude),
        .date(milliseconds: 0), .date(milliseconds: -62_135_596_800_000), .date(milliseconds: 1_700_000_000_123),
        .date(fine), .dates([fine, FieldDate(milliseconds: 0)]),
        .bytes([]), .bytes([0, 255, 10]), .bytes(Array(repeating: 7, count: 200)),
        .reference(FieldReference(recordName: "a")),
        .reference(
            FieldReference(
                recordName: String(repeating: "~", count: 255), zone: .init(name: "z", ownerName: "o"),
                action: .deleteSelf)),
        .location(
            FieldLocation(
                latitude: -90, longitude: 180, altitude: 1, horizontalAccuracy: 2, verticalAccuracy: 3, course: -1,
                speed: -1, timestampMilliseconds: -5)),
        .location(
            FieldLocation(
                latitude: 0, longitude: 0, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
                timestamp: fine)),
        .asset(FieldAsset(sha256: Array(0..<32), byteCount: 0)),
        .asset(FieldAsset(sha256: Array(repeating: 255, count: 32), byteCount: .max)),
        .removed, .emptyList,
        .strings(["", "a", "é"]), .int64s([.min, 0, .max]), .doubles([0, -1, .infinity]),
        .dates(milliseconds: [-1, 0, 1]), .bytesList([[], [1]]),
        .references([FieldReference(recordName: "a"), FieldReference(recordName: "b", action: .deleteSelf)]),
        .assets([
            FieldAsset(sha256: Array(repeating: 1, count: 32), byteCount: 1),
            FieldAsset(sha256: Array(repeating: 0, count: 32), byteCount: 0),
        ]),
        .locations([
            FieldLocation(
                latitude: 1, longitude: 2, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6,
                speed: 7, timestampMilliseconds: 8)
        ]),
    ]

    @Test(arguments: [false, true], values)
    func `R-060, R-061: every value comes back as it went in`(isEncrypted: Bool, value: FieldValue) throws {
        let map = try FieldMap([Field("key", value, isEncrypted: isEncrypted)])
        let again = try FieldMap(validating: map.bytes)
        #expect(again == map)
        let entry = try #require(again["key"])
        #expect(entry.type == value.type)
        #expect(entry.isEncrypted == isEncrypted)
        #expect(try entry.value() == value)
        #expect(try FieldMap([Field("key", entry.value(), isEncrypted: isEncrypted)]) == map)
    }

    @Test func `R-060: not-a-number keeps its bits`() throws {
        let number = Double(nan: 5, signaling: false)
        let map = try FieldMap([Field("d", .double(number)), Field("l", .doubles([number]))])
        guard case .double(let back)? = try map["d"]?.value(), case .doubles(let list)? = try map["l"]?.value() else {
            Issue.record("no double")
            return
        }
        #expect(back.bitPattern == number.bitPattern)
        #expect(list.map(\.bitPattern) == [number.bitPattern])
    }

    @Test func `R-060: minus zero is not the bytes of zero`() throws {
        #expect(try FieldMap([Field("d", .double(-0.0))]) != FieldMap([Field("d", .double(0))]))
    }

    @Test func `R-061: a typed list without elements is the empty list`() throws {
        for value in [FieldValue.strings([]), .int64s([]), .doubles([]), .dates(milliseconds: []), .bytesList([])] {
            #expect(try FieldMap([Field("k", value)]) == FieldMap([Field("k", .emptyList)]))
        }
        #expect(try FieldMap([Field("k", .emptyList)])["k"]?.value() == .emptyList)
    }

    @Test func `a type with elements is a list`() {
        for type in FieldType.allCases where type.element != nil { #expect(type.isList && type != .emptyList) }
    }

    @Test func `entries come in the order of their keys, whatever order they were given in`() throws {
        let map = try FieldMap([
            Field("b", .int64(1)), Field("a_", .int64(2)), Field("B", .int64(3)), Field("a", .int64(4)),
        ])
        #expect(map.keys == ["B", "a", "a_", "b"])
        #expect(map.count == 4)
        #expect(try map.map { try $0.value() } == [.int64(3), .int64(4), .int64(2), .int64(1)])
        #expect(map["c"] == nil && map["A"] == nil && map["aa"] == nil)
        #expect(FieldMap().isEmpty && FieldMap().keys.isEmpty)
    }

    @Test(arguments: [
        ("a", true, true), ("Z9_", true, true), ("", false, false), ("_a", false, false), ("9a", false, false),
        ("a-b", false, false), ("é", false, false), ("a b", false, false), ("cloudkit.title", false, true),
        ("cloudkit.type", false, true), ("cloudkit.thumbnailImageData", false, true), ("cloudkit.titl", false, false),
        ("cloudkit.titles", false, false), (String(repeating: "k", count: 255), true, true),
        (String(repeating: "k", count: 256), false, false),
    ])
    func `R-042: which keys are allowed`(key: String, app: Bool, share: Bool) {
        #expect(FieldKeyRule.app.allows(key) == app)
        #expect(FieldKeyRule.share.allows(key) == share)
        #expect(((try? FieldMap([Field(key, .int64(1))])) != nil) == app)
        #expect(((try? FieldMap([Field(key, .int64(1))], keys: .share)) != nil) == share)
    }

    @Test func `R-063: removals are seen without decoding`() throws {
        #expect(try FieldMap([Field("a", .string("removed")), Field("z", .removed)]).containsRemovals)
        #expect(try !FieldMap([Field("a", .string("removed")), Field("z", .emptyList)]).containsRemovals)
        #expect(!FieldMap().containsRemovals)
    }

    @Test func `R-072: the assets of a record are found, each once`() throws {
        let assets = (0..<3).map { FieldAsset(sha256: Array(repeating: $0, count: 32), byteCount: Int64($0)) }
        let map = try FieldMap([
            Field("a", .asset(assets[1])), Field("b", .string("x")), Field("c", .assets([assets[0], assets[1]])),
            Field("d", .asset(assets[2]), isEncrypted: true),
        ])
        #expect(map.assets == [assets[1], assets[0], assets[2]])
        #expect(try FieldMap([Field("a", .bytes(Array(repeating: 7, count: 34)))]).assets.isEmpty)
    }

    @Test func `R-067: a key is plain or encrypted, not both`() {
        #expect(throws: FieldError(.duplicateKey, at: 13)) {
            try FieldMap([Field("k", .int64(1)), Field("k", .int64(1), isEncrypted: true)])
        }
    }

    @Test func `R-082: the size limit counts the whole map`() throws {
        let map = try FieldMap([Field("k", .string(String(repeating: "x", count: 100)))])
        let limits = FieldLimits(byteCountMax: map.byteCount)
        #expect(try FieldMap(validating: map.bytes, limits: limits) == map)
        let tight = FieldLimits(byteCountMax: map.byteCount - 1)
        #expect(throws: FieldError(.tooLarge, at: tight.byteCountMax)) {
            try FieldMap(validating: map.bytes, limits: tight)
        }
        #expect(throws: FieldError(.tooLarge, at: tight.byteCountMax)) {
            try FieldMap([Field("k", .string(String(repeating: "x", count: 100)))], limits: tight)
        }
    }

    @Test(arguments: [
        FieldReference(recordName: ""), FieldReference(recordName: "é"), FieldReference(recordName: "a\n"),
        FieldReference(recordName: String(repeating: "a", count: 256)),
        FieldReference(recordName: "a", zone: .init(name: "", ownerName: "o")),
        FieldReference(recordName: "a", zone: .init(name: "z", ownerName: "")),
    ])
    func `R-040: a reference names what can exist`(reference: FieldReference) {
        #expect(throws: FieldError.self) { try FieldMap([Field("k", .reference(reference))]) }
        #expect(throws: FieldError.self) { try FieldMap([Field("k", .references([reference]))]) }
    }

    @Test func `bytes made by protoc from Fields_proto are ours`() throws {
        let expected = try FieldMap([
            Field("a", .string("hé")), Field("b", .int64(-3), isEncrypted: true), Field("c", .int64(0)),
            Field("d", .double(0)), Field("e", .date(milliseconds: 1_700_000_000_123)), Field("f", .bytes([])),
            Field(
                "g",
                .reference(
                    FieldReference(recordName: "r", zone: .init(name: "z", ownerName: "o"), action: .deleteSelf))),
            Field(
                "h",
                .location(
                    FieldLocation(
                        latitude: 1, longitude: 0, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: -1,
                        course: -1, speed: -1, timestampMilliseconds: 0))),
            Field("i", .removed), Field("j", .emptyList), Field("k", .strings(["x", ""])),
            Field("l", .int64s([1, -200])), Field("m", .doubles([0.5])), Field("n", .dates(milliseconds: [5])),
            Field("o", .bytesList([[1]])), Field("p", .references([FieldReference(recordName: "r")])),
            Field("q", .date(Self.fine)), Field("r", .dates([Self.fine, FieldDate(milliseconds: 978_307_200_000)])),
            Field(
                "s",
                .location(
                    FieldLocation(
                        latitude: 0, longitude: 0, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0,
                        speed: 0, timestamp: Self.fine))),
        ])
        let bytes = try #require(Hex.decode(String(Self.madeByProtoc.filter { !$0.isWhitespace })))
        #expect(try FieldMap(validating: bytes) == expected)
    }

    /// `protoc --encode=tidemark.v1.FieldMap Fields.proto` of the fields above.
    private static let madeByProtoc = """
        0a0a0a01611801220368c3a90a090a01621001180228050a070a0163180228000a0e0a016418033100000000000000000a0c
        0a0165180438f6a1abfef9620a070a0166180542000a120a016718064a0b0a017212017a1a016f20010a480a016818085a41
        09000000000000f03f11000000000000000019000000000000000021000000000000000029000000000000f0bf3100000000
        0000f0bf39000000000000f0bf40000a050a0169180f0a050a016a18100a0c0a016b181162050a01780a000a0c0a016c1812
        62051203028f030a110a016d1813620a1a08000000000000e03f0a0a0a016e1814620322010a0a0a0a016f181562032a0101
        0a0c0a01701816620532030a0172
        0a0e0a01711804699a9999999999b93f0a190a0172181462124a109a9999999999b93f00000000000000000a4f0a01731808
        5a48090000000000000000110000000000000000190000000000000000210000000000000000290000000000000000310000
        000000000000390000000000000000499a9999999999b93f
        """
}
