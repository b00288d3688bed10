// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkFields

/// Queries evaluated as plainly as possible. It shares nothing with the implementations with which it is compared.
enum PlainQueries {
    static func results(_ query: Query, among records: [(zone: String, record: RecordState)]) -> [String] {
        let candidates = records.filter { zone, record in
            !record.isDeleted && record.type == query.recordType && zone == query.zoneName ?? zone
                && holds(query.predicate, record, zone)
        }
        let sorts = query.sorts.isEmpty ? [QuerySort(.system(.creationDate))] : query.sorts
        return candidates.sorted { left, right in
            for sort in sorts {
                let order = order(sort, left.record, right.record)
                if order != 0 { return (order < 0) == sort.isAscending }
            }
            return (left.record.name, left.zone) < (right.record.name, right.zone)
        }.map { "\($0.zone)/\($0.record.name)" }
    }

    // MARK: Values

    private enum Value {
        case text(String), integer(Int64), real(Double), date(Int64), reference(String), user(Int64)
    }

    private static func field(_ name: String, _ record: RecordState) -> FieldValue? {
        for entry in record.fields where entry.key == name && !entry.isEncrypted { return try? entry.value() }
        return nil
    }

    private static func value(_ key: QueryKey, _ record: RecordState) -> Value? {
        switch key {
        case .field(let name): field(name, record).flatMap { scalars($0).first }
        case .system(.recordID): .reference(record.name)
        case .system(.creationDate): .date(record.createdAt.milliseconds)
        case .system(.modificationDate): .date(record.modifiedAt.milliseconds)
        case .system(.creatorUserRecordID): .user(record.createdBy.rawValue)
        case .system(.lastModifiedUserRecordID): .user(record.modifiedBy.rawValue)
        case .system(.parent): record.parent.map(Value.reference)
        case .system(.share): nil
        }
    }

    private static func scalars(_ value: FieldValue) -> [Value] {
        switch value {
        case .string(let string): [.text(string)]
        case .int64(let number): [.integer(number)]
        case .double(let number): [.real(number)]
        case .date(let date): [.date(date.milliseconds)]
        case .reference(let reference): [.reference(reference.recordName)]
        default: []
        }
    }

    private static func elements(_ key: QueryKey, _ record: RecordState) -> [Value] {
        guard case .field(let name) = key else { return [] }
        return switch field(name, record) {
        case .strings(let list)?: list.map(Value.text)
        case .int64s(let list)?: list.map(Value.integer)
        case .doubles(let list)?: list.map(Value.real)
        case .dates(let list)?: list.map { .date($0.milliseconds) }
        case .references(let list)?: list.map { .reference($0.recordName) }
        default: []
        }
    }

    // MARK: Predicates

    private static func holds(_ predicate: QueryPredicate, _ record: RecordState, _ zone: String) -> Bool {
        switch predicate {
        case .always(let result): return result
        case .and(let parts): return !parts.contains { !holds($0, record, zone) }
        case .not(let part): return !holds(part, record, zone)
        case .compare(let key, .equal, let constant): return equals(value(key, record), constant, zone)
        case .compare(let key, .notEqual, let constant): return !equals(value(key, record), constant, zone)
        case .compare(let key, let comparison, let constant):
            guard let order = compare(value(key, record), constant) else { return false }
            return switch comparison {
            case .less: order < 0
            case .lessOrEqual: order <= 0
            case .greater: order > 0
            default: order >= 0
            }
        case .between(let key, let low, let high):
            return holds(.compare(key, .greaterOrEqual, low), record, zone)
                && holds(.compare(key, .lessOrEqual, high), record, zone)
        case .beginsWith(let key, let prefix):
            guard case .text(let text)? = value(key, record) else { return false }
            return text.unicodeScalars.starts(with: prefix.unicodeScalars)
        case .isIn(let key, let constants): return constants.contains { equals(value(key, record), $0, zone) }
        case .contains(let key, let constant): return elements(key, record).contains { equals($0, constant, zone) }
        case .containsAny(let key, let constants):
            return elements(key, record).contains { element in constants.contains { equals(element, $0, zone) } }
        case .isPresent(.field(let name), let isPresent): return (field(name, record) != nil) == isPresent
        case .isPresent(let key, let isPresent): return (value(key, record) != nil) == isPresent
        case .isNear(let key, let place, let metres, let isInclusive):
            guard let distance = distance(key, record, place) else { return false }
            return isInclusive ? distance <= metres + 1e-6 : distance < metres
        case .search(let text):
            let strings = record.fields.flatMap { entry -> [String] in
                if entry.isEncrypted { return [] }
                switch try? entry.value() {
                case .string(let string)?: return [string]
                case .strings(let list)?: return list
                default: return []
                }
            }
            let wanted = words(text)
            return !wanted.isEmpty && wanted.isSubset(of: strings.reduce(into: []) { $0.formUnion(words($1)) })
        }
    }

    private static func equals(_ value: Value?, _ constant: QueryValue, _ zone: String) -> Bool {
        switch (value, constant) {
        case (.text(let text)?, .string(let other)): return caseless(text) == caseless(other)
        case (.reference(let name)?, .reference(let reference)):
            return switch reference.zone {
            case .holder: name == reference.recordName
            case .named(let other): name == reference.recordName && other == zone
            case .elsewhere: false
            }
        case (.user(let user)?, .user(let other)): return user == other?.rawValue
        default: return compare(value, constant) == 0
        }
    }

    private static func compare(_ value: Value?, _ constant: QueryValue) -> Int? {
        switch (value, constant) {
        case (.text(let text)?, .string(let other)): order(Array(text.unicodeScalars), Array(other.unicodeScalars))
        case (.integer(let number)?, .int64(let other)): order(number, other)
        case (.integer(let number)?, .double(let other)): order(number, other)
        case (.real(let number)?, .int64(let other)): -order(other, number)
        case (.real(let number)?, .double(let other)): order(number, other)
        case (.date(let date)?, .date(let other)): order(date, other)
        default: nil
        }
    }

    // MARK: Order

    private static func order(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
    }

    private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    /// Not-a-number equals itself and is greater than everything else.
    private static func order(_ left: Double, _ right: Double) -> Int {
        if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
        return left < right ? -1 : left > right ? 1 : 0
    }

    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right.isNaN || right >= 9.3e18 { return -1 }
        if right <= -9.3e18 { return 1 }
        // Both fit in 128-bit integers. If their whole parts are equal, the fraction decides.
        let whole = right.rounded(.down)
        let difference = Int128(left) - Int128(whole)
        return difference != 0 ? (difference < 0 ? -1 : 1) : right > whole ? -1 : 0
    }

    private static func order(_ sort: QuerySort, _ left: RecordState, _ right: RecordState) -> Int {
        if let origin = sort.origin {
            let distances = [left, right].map { distance(sort.key, $0, origin) ?? .infinity }
            return abs(distances[0] - distances[1]) < 1e-6 ? 0 : order(distances[0], distances[1])
        }
        switch (value(sort.key, left), value(sort.key, right)) {
        case (nil, nil): return 0
        case (nil, _): return -1
        case (_, nil): return 1
        case (.text(let left)?, .text(let right)?):
            return order(Array(left.unicodeScalars), Array(right.unicodeScalars))
        case (.reference(let left)?, .reference(let right)?): return order(left, right)
        case (.date(let left)?, .date(let right)?), (.user(let left)?, .user(let right)?): return order(left, right)
        case (.integer(let left)?, .integer(let right)?): return order(left, right)
        case (.integer(let left)?, .real(let right)?): return order(left, right)
        case (.real(let left)?, .integer(let right)?): return -order(right, left)
        case (.real(let left)?, .real(let right)?): return order(left, right)
        case (let left?, let right?): return order(rank(left), rank(right))
        }
    }

    /// For values of different types: numbers, dates, strings, references.
    private static func rank(_ value: Value) -> Int {
        switch value {
        case .integer, .real: 0
        case .date: 1
        case .text: 2
        case .reference: 3
        case .user: 4
        }
    }

    // MARK: Words and places

    private static func caseless(_ text: String) -> [Unicode.Scalar] {
        Array(text.uppercased().lowercased().decomposedStringWithCanonicalMapping.unicodeScalars)
    }

    private static func words(_ text: String) -> Set<String> {
        let plain = caseless(text).filter { $0 != "\u{301}" }
        let words = plain.split { !$0.properties.isAlphabetic }.map { String(String.UnicodeScalarView($0)) }
        return Set(words).subtracting(["a", "the"])
    }

    /// Metres along the great circle, by the haversine formula.
    private static func distance(_ key: QueryKey, _ record: RecordState, _ place: QueryLocation) -> Double? {
        guard case .field(let name) = key, case .location(let location)? = field(name, record),
            abs(location.latitude) <= 90
        else { return nil }
        let radians = Double.pi / 180
        let height = sin((location.latitude - place.latitude) * radians / 2)
        let width = sin((location.longitude - place.longitude) * radians / 2)
        let haversine =
            height * height + cos(location.latitude * radians) * cos(place.latitude * radians) * width * width
        let distance = 2 * 6_371_008.8 * asin(min(1, haversine.squareRoot()))
        return distance < 1e-6 ? 0 : distance
    }
}
