// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// Records and queries from a seed. Values are few, so that they are often equal, and are those that are hard.
struct QueryDice {
    var random: SeededRandom

    private static let long = String(repeating: "x", count: 255)
    static let strings = [
        "", "a", "A", "ab", "B", "é", "e\u{301}", "ß", "SS", "\u{0}", "\u{1}", "\u{1}\u{1}", "a\u{0}b", "a'b\"c\\", "ø",
        "日本",
        "the tide is coming in", "Tide, low", "\u{D7FF}", "\u{E000}", "\u{10FFFF}", "a\u{10FFFF}z", long, long + "x",
        long + "xa", long + "xb", long + "X", long + "é",
    ]
    static let integers: [Int64] = [0, 1, -1, 7, .max, .min, .max - 1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1]
    static let doubles = [
        0, -0.0, 1, 1.5, -1, 7, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 9_007_199_254_740_992, 1e300, 0.1,
    ]
    static let dates: [Int64] = [0, 1, -1, 1_700_000_000_000, -62_135_596_800_000, .max, .min]
    static let names = ["r1", "r2", "r3", "other"]
    static let places: [(Double, Double)] = [
        (0, 0), (0, 1e-200), (48.2, 16.37), (48.2, 16.38), (90, 0), (-90, 10), (0, 180), (0, -180), (10, 179.999),
        (10, -179.999), (91, 0), (.nan, 0), (45, 90),
    ]

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func some<Value>(_ values: [Value]) -> [Value] {
        let count = Int.random(in: 0...3, using: &random)
        return (0..<count).map { _ in pick(values) }
    }

    // MARK: Records

    mutating func fields() -> [Field] {
        let reference = FieldReference(recordName: pick(Self.names))
        let place = pick(Self.places)
        let all: [Field] = [
            Field("s", .string(pick(Self.strings))), Field("n", .int64(pick(Self.integers))),
            Field("d", .double(pick(Self.doubles))), Field("t", .date(milliseconds: pick(Self.dates))),
            Field("r", .reference(reference)), Field("p", .location(Self.location(place))),
            Field("u", .string(pick(Self.strings))),
            Field("ls", .strings(some(Self.strings))), Field("ln", .int64s(some(Self.integers))),
            Field("ld", .doubles(some(Self.doubles))), Field("lt", .dates(milliseconds: some(Self.dates))),
            Field("lr", .references(some(Self.names).map { FieldReference(recordName: $0) })),
            Field("b", .bytes([1])), Field("e", .bytes(Self.sealed.bytes), isEncrypted: true),
        ]
        return all.filter { _ in chance(80) }
    }

    /// An encrypted value; every zone of a ``QueryFixture`` has its key.
    static let sealed = SealedValue(
        keyID: Array(repeating: 5, count: 16), nonce: Array(repeating: 6, count: 12),
        ciphertext: Array(repeating: 7, count: 24))

    /// One of each type, so that the schema knows all of them.
    static var first: [Field] {
        let place = location((1, 2))
        let reference = FieldReference(recordName: "r1")
        return [
            Field("s", .string("a")), Field("n", .int64(1)), Field("d", .double(1)), Field("t", .date(milliseconds: 1)),
            Field("r", .reference(reference)), Field("p", .location(place)), Field("ls", .strings(["a"])),
            Field("u", .string("a")),
            Field("ln", .int64s([1])), Field("ld", .doubles([1])), Field("lt", .dates(milliseconds: [1])),
            Field("lr", .references([reference])), Field("b", .bytes([1])),
            Field("e", .bytes(sealed.bytes), isEncrypted: true),
        ]
    }

    /// Those that can be searchable.
    static let texts: Set<String> = ["s", "u", "ls"]

    /// Marked as all that is possible, but searchable only these.
    static func type(searching keys: Set<String>) -> RecordTypeSchema {
        var type = RecordTypeSchema(fields: fieldTypes)
        for (key, field) in fieldTypes {
            let marks = field.possibleMarks
            type.fields[key]?.marks = keys.contains(key) ? marks : marks.subtracting(.searchable)
        }
        return type
    }

    /// What the schema learns of ``first``.
    static let fieldTypes: [String: FieldSchema] = [
        "s": FieldSchema(SchemaFieldType(.string)), "u": FieldSchema(SchemaFieldType(.string)),
        "n": FieldSchema(SchemaFieldType(.int64)),
        "d": FieldSchema(SchemaFieldType(.double)), "t": FieldSchema(SchemaFieldType(.date)),
        "r": FieldSchema(SchemaFieldType(.reference)), "p": FieldSchema(SchemaFieldType(.location)),
        "ls": FieldSchema(.list(.string)), "ln": FieldSchema(.list(.int64)), "ld": FieldSchema(.list(.double)),
        "lt": FieldSchema(.list(.date)), "lr": FieldSchema(.list(.reference)),
        "b": FieldSchema(SchemaFieldType(.bytes)), "e": FieldSchema(SchemaFieldType(.string), isEncrypted: true),
    ]

    private static func location(_ place: (Double, Double)) -> FieldLocation {
        FieldLocation(
            latitude: place.0, longitude: place.1, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0,
            speed: 0, timestampMilliseconds: 0)
    }

    // MARK: Queries

    mutating func query(users: [UserID], dates: [Int64]) -> Query {
        Query(
            recordType: "T", zoneName: pick([nil, nil, "notes", ZoneName.default]),
            predicate: predicate(users, dates, depth: 2),
            sorts: (0..<Int.random(in: 0...2, using: &random)).map { _ in sort() })
    }

    private mutating func sort() -> QuerySort {
        if chance(20) {
            let place = pick(Self.places.filter { $0.0.magnitude <= 90 })
            let origin = QueryLocation(latitude: place.0, longitude: place.1)
            return QuerySort(.field("p"), isAscending: chance(50), origin: origin)
        }
        let keys = ["s", "n", "d", "t", "r"].map(QueryKey.field) + QuerySystemKey.allCases.map(QueryKey.system)
        return QuerySort(pick(keys), isAscending: chance(50))
    }

    private mutating func predicate(_ users: [UserID], _ dates: [Int64], depth: Int) -> QueryPredicate {
        if depth > 0, chance(35) {
            return .and(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in predicate(users, dates, depth: depth - 1) })
        }
        if depth > 0, chance(25) { return .not(predicate(users, dates, depth: depth - 1)) }
        switch Int.random(in: 0..<11, using: &random) {
        case 0: return .always(chance(70))
        case 1, 2: return scalar()
        case 3: return list()
        case 4:
            let key = pick(["s", "n", "d", "t", "r", "p", "ls", "ln", "lr", "never"])
            return .isPresent(.field(key), chance(50))
        case 5:
            let place = pick(Self.places.filter { $0.0.magnitude <= 90 })
            let metres = pick([-1, 0, 1, 800, 3_000, 5_000_000, 20_000_000, 30_000_000, .infinity])
            let location = QueryLocation(latitude: place.0, longitude: place.1)
            return .isNear(.field("p"), location, metres: metres, isInclusive: chance(50))
        case 6: return search()
        case 7: return .beginsWith(.field("s"), pick(Self.strings))
        case 8: return system(users, dates)
        case 9:
            let key = pick(["ls", "ln", "lr"])
            return .containsAny(.field(key), (0..<Int.random(in: 0...3, using: &random)).map { _ in constant(key) })
        default:
            let key = pick(["s", "n", "d", "t", "r"])
            return .isIn(.field(key), (0..<Int.random(in: 0...3, using: &random)).map { _ in constant(key) })
        }
    }

    mutating func search() -> QueryPredicate {
        .search(pick(["tide", "TIDE low", "the", "a", "é", "e", "o", "日", "xyz", "b c", "tide é", "a 日本"]))
    }

    private mutating func constant(_ key: String) -> QueryValue {
        switch key {
        case "s", "ls": .string(pick(Self.strings))
        case "t", "lt": .date(milliseconds: pick(Self.dates))
        case "r", "lr":
            .reference(
                QueryReference(
                    recordName: pick(Self.names), zone: pick([.holder, .named("notes"), .named("none"), .elsewhere])))
        default: chance(50) ? .int64(pick(Self.integers)) : .double(pick(Self.doubles))
        }
    }

    private mutating func scalar() -> QueryPredicate {
        if chance(15) { return .compare(.field("r"), chance(50) ? .equal : .notEqual, constant("r")) }
        let key = pick(["s", "n", "d", "t"])
        if chance(20) { return .between(.field(key), constant(key), constant(key)) }
        return .compare(.field(key), pick(QueryComparison.allCases), constant(key))
    }

    private mutating func list() -> QueryPredicate {
        let key = pick(["ls", "ln", "ld", "lt", "lr"])
        return .contains(.field(key), constant(key))
    }

    private mutating func system(_ users: [UserID], _ dates: [Int64]) -> QueryPredicate {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let key = pick([QuerySystemKey.creationDate, .modificationDate])
            return .compare(
                .system(key), pick(QueryComparison.allCases), .date(milliseconds: pick(dates + [.max, .min, 0])))
        case 1:
            let key = pick([QuerySystemKey.creatorUserRecordID, .lastModifiedUserRecordID])
            return .compare(.system(key), chance(50) ? .equal : .notEqual, .user(pick(users.map { $0 } + [nil])))
        case 2: return .isPresent(.system(pick(QuerySystemKey.allCases)), chance(50))
        case 3:
            let name = QueryReference(
                recordName: "n\(Int.random(in: 0..<80, using: &random))", zone: pick([.holder, .named("notes")]))
            return .isIn(.system(.recordID), [.reference(name), .reference(QueryReference(recordName: "n3"))])
        default: return .compare(.system(.parent), .notEqual, .reference(QueryReference(recordName: "r1")))
        }
    }
}
