// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// Compiles a predicate to a condition on `zone z` and its `record r`. It is true of exactly the records that
/// `QueryEvaluator` matches.
///
/// SQL's third truth value counts as false. A negated condition uses `IS NOT TRUE`.
///
/// The text contains the parameters' numbers: a statement is cached by its text, so the same text always has as many
/// parameters.
struct PredicateCompiler {
    let type: RecordTypeSchema
    var parameters = SQLParameters()
    /// Whether the number of found rows depends on a parameter in a way that a plan for all values ignores. It depends
    /// on the length of a list, or on a bound without a second one. A bound of the value that orders the records does
    /// not count.
    private(set) var dependsOnValues = false
    private let indexes: Set<PhysicalIndex.Kind>
    /// An array of the names of roots whose parents the caller is not told (R-981); nil: there are none.
    var hiddenRoots: String?
    /// The key that orders the records first. An index of it serves every bound of its values.
    private let order: QueryKey?
    /// The parameters with the elements and words to look up.
    private var tokens: [String] = []

    init(_ type: RecordTypeSchema, indexes: Set<PhysicalIndex.Kind>, order: QueryKey?) {
        self.type = type
        self.order = order
        self.indexes = indexes
    }

    /// Further columns of `zone z`: the tokens in the form that the zone's records contain.
    var zoneColumns: String {
        tokens.enumerated().map { index, parameter in
            """
            , to_jsonb(ARRAY(SELECT z.database_id || '/' || z.id || '/' || w FROM unnest(\(parameter)) AS w)) \
            AS tokens_\(index + 1)
            """
        }.joined()
    }

    /// The kind of index through which a zone's records are found.
    func access(_ predicate: QueryPredicate) -> ZoneAccess {
        let parts = Self.parts(of: predicate)
        if parts.contains(where: isByTokens) { return .tokens }
        // While the type's indexes are being built, the key is the only way to find the records of a zone.
        guard isIndexed(.creationDate), !parts.contains(where: Self.isByName) else { return .key }
        return .values
    }

    /// Whether an index may find fewer than all records of a zone. If so, the index that has the wanted order is not
    /// always the best.
    static func narrows(_ predicate: QueryPredicate) -> Bool {
        parts(of: predicate).contains { part in
            switch part {
            case .always, .isPresent, .not, .and, .compare(_, .notEqual, _): false
            default: true
            }
        }
    }

    /// The conditions that must all be true.
    private static func parts(of predicate: QueryPredicate) -> [QueryPredicate] {
        if case .and(let parts) = predicate { parts.flatMap(Self.parts) } else { [predicate] }
    }

    private func isByTokens(_ part: QueryPredicate) -> Bool {
        switch part {
        case .search: isIndexed(.words)
        case .contains(.field(let name), _), .containsAny(.field(let name), _):
            type.fields[name]?.type.isList == true && isIndexed(.members(name))
        default: false
        }
    }

    private static func isByName(_ part: QueryPredicate) -> Bool {
        switch part {
        case .compare(.system(let key), .equal, _), .isIn(.system(let key), _): key == .recordID || key == .parent
        default: false
        }
    }

    private var searches: Bool { type.fields.values.contains { $0.marks.contains(.searchable) } }

    private func isIndexed(_ kind: PhysicalIndex.Kind) -> Bool { indexes.contains(kind) }

    mutating func condition(_ predicate: QueryPredicate) -> String {
        switch predicate {
        case .always(let result): return result ? "true" : "false"
        case .and(let parts):
            let conditions = parts.map { condition($0) }
            return conditions.isEmpty ? "true" : "(" + conditions.joined(separator: " AND ") + ")"
        case .not(let part): return "(\(condition(part)) IS NOT TRUE)"
        case .compare(let key, .equal, let value): return equal(key, [value])
        case .compare(let key, .notEqual, let value): return "(\(equal(key, [value])) IS NOT TRUE)"
        case .compare(let key, let comparison, let value):
            if key != order { dependsOnValues = true }
            return ordered(key, comparison, value)
        case .between(let key, let low, let high):
            return "(\(ordered(key, .greaterOrEqual, low)) AND \(ordered(key, .lessOrEqual, high)))"
        case .beginsWith(let key, let prefix): return beginsWith(key, prefix)
        case .isIn(let key, let values): return equal(key, values)
        case .contains(let key, let value): return contains(key, [value])
        case .containsAny(let key, let values): return contains(key, values)
        case .isPresent(let key, let isPresent): return present(key, isPresent)
        case .isNear(let key, let place, let metres, let isInclusive):
            return near(key, place, squaredChord: EarthPoint.squaredChord(metres: metres), isInclusive: isInclusive)
        case .search(let text):
            // Records may still have words of fields that are no longer searchable.
            let words = searches ? IndexWords.of([text]) : []
            return words.isEmpty ? "false" : holds(IndexColumn.words, words.map(\.string))
        }
    }

    private mutating func equal(_ key: QueryKey, _ values: [QueryValue]) -> String {
        var anywhere: [IndexValue] = []
        var conditions: [String] = []
        for value in values {
            guard let constant = IndexValue(value, for: .equality, in: value.zoneName) else { continue }
            switch value.reach {
            case .anywhere: anywhere.append(constant)
            case .nowhere: continue
            case .zone(let name):
                guard let condition = equal(key, [constant]) else { continue }
                conditions.append("(\(condition) AND \(isIn(zone: name)))")
            }
        }
        if let condition = equal(key, anywhere) { conditions.append(condition) }
        return Self.any(conditions)
    }

    /// Nil if nothing can be equal to them.
    private mutating func equal(_ key: QueryKey, _ constants: [IndexValue]) -> String? {
        switch key {
        case .system(let system):
            let conditions = constants.compactMap { compare(system, "=", $0) }
            return conditions.isEmpty ? nil : Self.any(conditions)
        case .field(let name):
            guard let field = type.fields[name], !field.type.isList else { return nil }
            let texts = constants.filter { holds(field, $0) }.map(IndexColumn.text)
            return equal(IndexColumn.key(.equality, name), texts)
        }
    }

    private mutating func equal(_ key: String, _ texts: [String]) -> String? {
        let short = texts.filter(SQLText.isShort)
        var conditions = texts.filter { !SQLText.isShort($0) }.map { text in
            "(\(IndexedExpression.prefix(key)) = \(parameters.add(.text(SQLText.prefix(text)), .text)) "
                + "AND \(IndexedExpression.whole(key)) = \(parameters.add(.text(text), .text)))"
        }
        if short.count == 1 {
            conditions.append("\(IndexedExpression.prefix(key)) = \(parameters.add(.text(short[0]), .text))")
        } else if !short.isEmpty {
            let list = parameters.add(.textArray(short), .textArray)
            dependsOnValues = true
            conditions.append("\(IndexedExpression.prefix(key)) = ANY (\(list))")
        }
        return conditions.isEmpty ? nil : Self.any(conditions)
    }

    private mutating func ordered(_ key: QueryKey, _ comparison: QueryComparison, _ value: QueryValue) -> String {
        guard let constant = IndexValue(value, for: .order, in: value.zoneName), let sign = comparison.sign else {
            return "false"
        }
        switch key {
        case .system(let system): return compare(system, sign, constant) ?? "false"
        case .field(let name):
            guard let field = type.fields[name], !field.type.isList, holds(field, constant) else { return "false" }
            let key = IndexColumn.key(IndexColumn.orderForm(of: field.type), name)
            let text = IndexColumn.text(of: constant)
            let prefix = parameters.add(.text(SQLText.prefix(text)), .text)
            if SQLText.isShort(text) { return "\(IndexedExpression.prefix(key)) \(sign) \(prefix)" }
            let whole = parameters.add(.text(text), .text)
            // Truncated texts may become equal, but never change their order.
            return "(\(IndexedExpression.prefix(key)) \(sign.prefix(1))= \(prefix) "
                + "AND (\(IndexedExpression.whole(key)) COLLATE \"C\") \(sign) \(whole))"
        }
    }

    private mutating func beginsWith(_ key: QueryKey, _ prefix: String) -> String {
        guard case .field(let name) = key, let field = type.fields[name], field.type == SchemaFieldType(.string) else {
            return "false"
        }
        let key = IndexColumn.key(.order, name)
        let text = IndexText.exact(prefix).string
        let start = SQLText.prefix(text)
        if !SQLText.isShort(text) {
            return "(\(IndexedExpression.prefix(key)) = \(parameters.add(.text(start), .text)) "
                + "AND starts_with(\(IndexedExpression.whole(key)), \(parameters.add(.text(text), .text))))"
        }
        var condition = "\(IndexedExpression.prefix(key)) >= \(parameters.add(.text(start), .text))"
        if let end = SQLText.successor(of: start) {
            condition += " AND \(IndexedExpression.prefix(key)) < \(parameters.add(.text(end), .text))"
        }
        return "(\(condition))"
    }

    private mutating func contains(_ key: QueryKey, _ values: [QueryValue]) -> String {
        guard case .field(let name) = key, let field = type.fields[name], field.type.isList else { return "false" }
        let conditions = values.compactMap { value -> String? in
            let reach = value.reach
            guard reach != .nowhere, let constant = IndexValue(value, for: .equality, in: value.zoneName),
                holds(field, constant)
            else { return nil }
            let condition = holds(IndexColumn.key(.members, name), [IndexColumn.text(of: constant)])
            return if case .zone(let name) = reach { "(\(condition) AND \(isIn(zone: name)))" } else { condition }
        }
        return Self.any(conditions)
    }

    /// The list contains all of the tokens.
    private mutating func holds(_ key: String, _ texts: [String]) -> String {
        tokens.append(parameters.add(.textArray(texts), .textArray))
        return "\(IndexedExpression.json(key)) @> z.tokens_\(tokens.count)"
    }

    private func present(_ key: QueryKey, _ isPresent: Bool) -> String {
        guard let expression = presence(of: key) else { return isPresent ? "false" : "true" }
        return "(\(expression) IS \(isPresent ? "NOT NULL" : "NULL"))"
    }

    /// An expression that is null in records without the key; nil if no record has the key.
    private func presence(of key: QueryKey) -> String? {
        switch key {
        case .system(let system): return SystemColumn(system, hiding: hiddenRoots)?.sql
        case .field(let name):
            guard let field = type.fields[name], !field.isEncrypted else { return nil }
            if field.type.isList { return IndexedExpression.json(IndexColumn.key(.members, name)) }
            if field.type.element == .location { return IndexedExpression.json(IndexColumn.key(.place, name)) }
            return IndexedExpression.prefix(IndexColumn.key(.equality, name))
        }
    }

    /// A box that an index supports, and the exact distance.
    private mutating func near(
        _ key: QueryKey, _ place: QueryLocation, squaredChord limit: Double, isInclusive: Bool
    ) -> String {
        guard limit >= 0, let point = EarthPoint(place), let distance = squaredChord(key, to: point) else {
            return "false"
        }
        let exact = "\(distance) \(isInclusive ? "<=" : "<") \(parameters.add(.float8(limit), .float8))"
        guard case .field(let name) = key, limit < 4 else { return "(\(exact))" }
        // Slightly wider than the chord, so that rounding leaves out nothing that the exact condition accepts.
        let reach = limit.squareRoot() * (1 + 1e-12) + 1e-15
        let box = [(2, point.z), (0, point.x), (1, point.y)].map { axis, middle in
            let coordinate = IndexedExpression.coordinate(IndexColumn.key(.place, name), axis)
            let (low, high) = (middle - reach, middle + reach)
            return "\(coordinate) >= \(parameters.add(.float8(low), .float8)) "
                + "AND \(coordinate) <= \(parameters.add(.float8(high), .float8))"
        }
        return "(\(box.joined(separator: " AND ")) AND \(exact))"
    }

    /// The operations of `EarthPoint.squaredChord` in the same order; null if there is no place.
    mutating func squaredChord(_ key: QueryKey, to point: EarthPoint) -> String? {
        guard case .field(let name) = key, type.fields[name]?.type == SchemaFieldType(.location) else { return nil }
        let squares = [point.x, point.y, point.z].enumerated().map { axis, value in
            let coordinate = IndexedExpression.coordinate(IndexColumn.key(.place, name), axis)
            let difference = "(\(coordinate) - \(parameters.add(.float8(value), .float8)))"
            return "\(difference) * \(difference)"
        }
        return "(\(squares[0]) + \(squares[1]) + \(squares[2]))"
    }

    private mutating func compare(_ key: QuerySystemKey, _ sign: String, _ constant: IndexValue) -> String? {
        guard let column = SystemColumn(key), let (value, type) = column.parameter(constant) else { return nil }
        let condition = "\(column.sql) \(sign) \(parameters.add(value, type))"
        // NB: in this form an index serves the condition.
        guard key == .parent, let hiddenRoots else { return condition }
        return "(\(condition) AND r.name <> ALL (\(hiddenRoots)))"
    }

    private mutating func isIn(zone name: String) -> String { "z.name = \(parameters.add(.text(name), .text))" }

    private func holds(_ field: FieldSchema, _ constant: IndexValue) -> Bool {
        switch (field.type.element, constant) {
        case (.string, .text), (.int64, .number), (.double, .number), (.date, .date), (.reference, .reference): true
        default: false
        }
    }

    private static func any(_ conditions: [String]) -> String {
        switch conditions.count {
        case 0: "false"
        case 1: conditions[0]
        default: "(" + conditions.joined(separator: " OR ") + ")"
        }
    }
}

/// How a statement finds a zone's records.
enum ZoneAccess {
    /// By the primary key, or an index that begins with it.
    case key
    /// By an index that begins with the zone and continues with values.
    case values
    /// By an index of elements or words, which contain the zone.
    case tokens

    /// - Parameter database: the number of a parameter.
    func condition(_ database: String) -> String {
        let isInDatabase = "r.database_id = \(database)"
        let isInZone = "r.zone_id = z.id"
        return switch self {
        case .key: "\(isInDatabase) AND \(isInZone)"
        case .values: "\(SQLText.unestimated(isInDatabase)) AND \(isInZone)"
        case .tokens: "\(SQLText.unestimated(isInDatabase)) AND \(SQLText.unestimated(isInZone))"
        }
    }
}

extension QueryValue {
    /// The zones whose records can be equal to the value.
    fileprivate enum ZoneReach: Equatable {
        case anywhere
        case zone(String)
        case nowhere
    }

    fileprivate var reach: ZoneReach {
        guard case .reference(let reference) = self else { return .anywhere }
        return switch reference.zone {
        case .holder: .anywhere
        case .named(let name): .zone(name)
        case .elsewhere: .nowhere
        }
    }

    /// The only zone from which the constant can be reached, if there is one. That it must be this zone is a condition
    /// of its own.
    fileprivate var zoneName: String {
        if case .zone(let name) = reach { name } else { "" }
    }
}

extension QueryComparison {
    /// Nil for equality, which folds case.
    fileprivate var sign: String? {
        switch self {
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .equal, .notEqual: nil
        }
    }
}

/// A system field as a column of `record r`.
struct SystemColumn {
    let sql: String
    private let key: QuerySystemKey

    /// Nil for a key that no record has.
    ///
    /// - Parameter hiddenRoots: an array of the names of roots that have no parent to the caller; nil: there are none.
    init?(_ key: QuerySystemKey, hiding hiddenRoots: String? = nil) {
        self.key = key
        switch key {
        case .recordID: sql = "r.name"
        case .creationDate: sql = "r.created_at"
        case .modificationDate: sql = "r.modified_at"
        case .creatorUserRecordID: sql = "r.created_by"
        case .lastModifiedUserRecordID: sql = "r.modified_by"
        case .parent:
            sql = hiddenRoots.map { "(CASE WHEN r.name = ANY (\($0)) THEN NULL ELSE r.parent END)" } ?? "r.parent"
        case .share: return nil
        }
    }

    var isNullable: Bool { key == .parent }

    /// Nil for a value of another kind.
    func parameter(_ value: IndexValue) -> (PostgresValue, PostgresType)? {
        switch (key.kind, value) {
        case (.reference, .reference(let name)): (.text(name.string), .text)
        case (.date, .date(let milliseconds)): (.timestamp(milliseconds: Self.storable(milliseconds)), .timestamptz)
        case (.user, .user(let user)): (.int8(user), .int8)
        default: nil
        }
    }

    /// The nearest date that PostgreSQL supports. No record has a date so far away, so the order stays the same.
    private static func storable(_ milliseconds: Int64) -> Int64 {
        min(max(milliseconds, -200_000_000_000_000), 9_000_000_000_000_000)
    }
}
