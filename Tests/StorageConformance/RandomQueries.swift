// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFields

/// Random records and queries, with few values that often meet: equal in one way and different in another.
package struct RandomQueries<Random: RandomNumberGenerator> {
    package var random: Random

    package init(_ random: Random) {
        self.random = random
    }

    // MARK: Records

    /// The fields of the records and their types; there is also an encrypted string, `secret`.
    package static var types: [String: FieldType] {
        [
            "name": .string, "title": .string, "count": .int64, "price": .double, "day": .date, "owner": .reference,
            "place": .location, "tags": .stringList, "counts": .int64List, "prices": .doubleList, "days": .dateList,
            "owners": .referenceList, "data": .bytes,
        ]
    }

    /// What a schema has learned after each field was saved once.
    package static var schema: RecordTypeSchema {
        var fields = types.compactMapValues { type in
            SchemaFieldType(code: type.rawValue).map { FieldSchema($0) }
        }
        fields["secret"] = FieldSchema(SchemaFieldType(.string), isEncrypted: true)
        return RecordTypeSchema(fields: fields)
    }

    package static var zoneNames: [String] { ["A", "B"] }

    package mutating func fields() -> FieldMap {
        var fields: [Field] = []
        for (key, type) in Self.types.sorted(by: { $0.key < $1.key }) where chance(0.7) {
            fields.append(Field(key, value(type)))
        }
        if chance(0.3) { fields.append(Field("secret", .string(string()), isEncrypted: true)) }
        return (try? FieldMap(fields)) ?? FieldMap()
    }

    private mutating func value(_ type: FieldType) -> FieldValue {
        switch type {
        case .string: .string(string())
        case .int64: .int64(integer())
        case .double: .double(double())
        case .date: .date(fineDate())
        case .bytes: .bytes([1, 2])
        case .reference: .reference(reference())
        case .location: .location(location())
        case .stringList: .strings(list { $0.string() })
        case .int64List: .int64s(list { $0.integer() })
        case .doubleList: .doubles(list { $0.double() })
        case .dateList: .dates(list { $0.fineDate() })
        default: .references(list { $0.reference() })
        }
    }

    private mutating func list<Element>(_ element: (inout Self) -> Element) -> [Element] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in element(&self) }
    }

    package mutating func string() -> String {
        let parts = [
            "a", "A", "b", "é", "e\u{301}", "É", "ß", "SS", " ", "the ", "old", "Old ", "\u{0}", "\u{1}", "\u{1F30A}",
        ]
        return (0..<Int.random(in: 0...4, using: &random)).map { _ in pick(parts) }.joined()
    }

    private mutating func integer() -> Int64 {
        pick([0, 1, -1, 2, 3, 9_007_199_254_740_992, 9_007_199_254_740_993, .max, .max - 1, .min])
    }

    private mutating func double() -> Double {
        pick([0, -0.0, 1, 1.5, -1, 2, 9_007_199_254_740_992, 9.223372036854775808e18, .infinity, -.infinity, .nan, 0.1])
    }

    /// In one of three cases finer than a millisecond, on either side of it.
    private mutating func fineDate() -> FieldDate {
        let date = FieldDate(milliseconds: date())
        let rest = pick([0, 0, 0, 0, 0.000_3, -0.000_3])
        return FieldDate(secondsSince2001: date.secondsSince2001 + rest) ?? date
    }

    package mutating func date() -> Int64 { pick([0, -1, 1, 1_700_000_000_000, 1_600_000_000_001]) }

    private mutating func reference() -> FieldReference {
        FieldReference(recordName: pick(["r1", "r2", "IS"]), action: pick([.none, .deleteSelf]))
    }

    private mutating func location() -> FieldLocation {
        FieldLocation(
            latitude: pick([64.1, 64.2, -33, 90, 91]), longitude: pick([-21.9, -21.8, 151, 180, -180]), altitude: 0,
            horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0, timestampMilliseconds: 0)
    }

    // MARK: Queries

    /// A query that passes its check without a schema.
    package mutating func query() -> Query {
        let sorts = chance(0.6) ? (0..<Int.random(in: 1...2, using: &random)).map { _ in sort() } : []
        return Query(
            recordType: chance(0.9) ? "Item" : "Other", zoneName: chance(0.5) ? nil : pick(Self.zoneNames),
            predicate: predicate(), sorts: sorts)
    }

    private mutating func sort() -> QuerySort {
        if chance(0.2) {
            // No place from which two other places are equally far: rounding would decide.
            let origin = QueryLocation(latitude: pick([64.11, 63, -33.5]), longitude: pick([-21.87, 1, 170]))
            return QuerySort(.field("place"), isAscending: chance(0.7), origin: origin)
        }
        let key: QueryKey =
            chance(0.4)
            ? .system(pick(QuerySystemKey.allCases))
            : .field(pick(["name", "count", "price", "day", "owner", "none", "tags"]))
        return QuerySort(key, isAscending: chance(0.5))
    }

    package mutating func predicate(depth: Int = 3) -> QueryPredicate {
        guard depth > 0 else { return leaf() }
        return switch Int.random(in: 0..<10, using: &random) {
        case 0...2: .and((0..<Int.random(in: 0...3, using: &random)).map { _ in predicate(depth: depth - 1) })
        case 3...4: .not(negatable(depth: depth - 1))
        default: leaf()
        }
    }

    /// a predicate that can be negated.
    private mutating func negatable(depth: Int) -> QueryPredicate {
        for _ in 0..<20 {
            let predicate = predicate(depth: depth)
            switch predicate {
            case .and, .search, .isNear, .between: continue
            default: return predicate
            }
        }
        return .always(true)
    }

    private mutating func leaf() -> QueryPredicate {
        let key = QueryKey.field(pick(["name", "count", "price", "day", "owner", "none", "secret", "tags"]))
        let list = QueryKey.field(pick(["tags", "counts", "prices", "days", "owners", "none", "name"]))
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return .always(chance(0.5))
        case 1...3: return .compare(key, pick([.equal, .notEqual]), scalar())
        case 4...5: return .compare(key, pick([.less, .lessOrEqual, .greater, .greaterOrEqual]), ordered())
        case 6: return between(key)
        case 7: return .beginsWith(key, string())
        case 8: return .isIn(key, values())
        case 9: return chance(0.5) ? .contains(list, scalar()) : .containsAny(list, values())
        case 10: return .isPresent(chance(0.5) ? key : .system(pick(QuerySystemKey.allCases)), chance(0.5))
        case 11:
            let metres = pick([0, 1, 11_000, 12_500, 1e7, 3e7, -1])
            return .isNear(.field("place"), place(), metres: metres, isInclusive: chance(0.5))
        case 12: return .search(string())
        default: return system()
        }
    }

    private mutating func system() -> QueryPredicate {
        let key = pick(QuerySystemKey.allCases)
        switch key.kind {
        case .date:
            let comparison = pick(QueryComparison.allCases)
            return .compare(.system(key), comparison, .date(milliseconds: date()))
        case .user:
            return .compare(.system(key), pick([.equal, .notEqual]), .user(pick([UserID(11), UserID(12), nil])))
        default:
            let value = QueryValue.reference(constantReference())
            return chance(0.3)
                ? .isIn(.system(key), [value]) : .compare(.system(key), pick([.equal, .notEqual]), value)
        }
    }

    private mutating func between(_ key: QueryKey) -> QueryPredicate {
        let low = ordered()
        for _ in 0..<50 {
            let high = ordered()
            if high.kind == low.kind { return .between(key, low, high) }
        }
        return .between(key, low, low)
    }

    /// Values of one kind, as the check requires.
    private mutating func values() -> [QueryValue] {
        let first = scalar()
        return [first] + (0..<2).map { _ in scalar() }.filter { $0.kind == first.kind }
    }

    private mutating func ordered() -> QueryValue {
        pick([.string(string()), .int64(integer()), .double(double()), .date(milliseconds: date())])
    }

    private mutating func scalar() -> QueryValue {
        chance(0.2) ? .reference(constantReference()) : ordered()
    }

    private mutating func constantReference() -> QueryReference {
        QueryReference(
            recordName: pick(["r1", "r2", "IS"]), zone: pick([.holder, .holder, .named("A"), .named("B"), .elsewhere]))
    }

    private mutating func place() -> QueryLocation {
        QueryLocation(latitude: pick([64.1, 64.15, 90, -33]), longitude: pick([-21.9, 0, 180]))
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }
}
