// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// A compiled statement, its values, and how it should be planned.
struct CompiledQuery {
    var sql: String
    let parameters: SQLParameters
    /// Whether to use an index that has the order, whatever it seems to cost. All records of a zone are candidates, and
    /// without statistics they seem few.
    let avoidsSorting: Bool
    /// Whether the statement is planned for its values each time.
    let needsOwnPlan: Bool

    /// Planner settings for this statement alone.
    var settings: [(name: String, value: String)] {
        (avoidsSorting ? [("enable_sort", "off")] : [])
            + (needsOwnPlan ? [("plan_cache_mode", "force_custom_plan")] : [])
    }
}

/// Compiles one page of a query to one statement: the zone that it names, and the records in their order.
///
/// The text depends on the type, the keys and the shape of the query, never on a constant in it.
struct QueryCompiler {
    private let page: QueryPageQuery
    private var predicate: PredicateCompiler

    /// - Parameter indexes: the existing indexes of the type.
    init(_ page: QueryPageQuery, type: RecordTypeSchema, indexes: Set<PhysicalIndex.Kind>) {
        self.page = page
        let order = page.query.sorts.first.flatMap { $0.origin == nil ? $0.key : nil }
        predicate = PredicateCompiler(type, indexes: indexes, order: order)
    }

    /// The columns of ``QueryRow``. There is always a row; if it has no record, it has nulls. After the page's records
    /// and bytes there is at most one row without fields, which says that there are more.
    ///
    /// The first records of each zone are sorted once more. So every index begins with the zone, and the number of rows
    /// read from it does not depend on what the planner believes of zones.
    mutating func compile() -> CompiledQuery {
        let database = predicate.parameters.add(.int8(page.database.rawValue), .int8)
        let zone = page.query.zoneName.map { predicate.parameters.add(.text($0), .text) }
        let bytesMax = predicate.parameters.add(.int8(Int64(clamping: page.bytesMax)), .int8)
        if page.hierarchies != nil { predicate.hiddenRoots = Self.roots(in: database) }
        let condition = predicate.condition(page.query.predicate)
        let sorts = page.query.effectiveSorts.map { sort($0) }
        let after = page.after.map { " AND " + comesAfter($0, sorts) } ?? ""
        let recordsMax = max(1, page.recordsMax)
        let living = "z.database_id = \(database) AND z.removal IS NULL\(zone.map { " AND z.name = \($0)" } ?? "")"
        let head = zone == nil ? "true" : "EXISTS (SELECT FROM zone z WHERE \(living))"
        let access = predicate.access(page.query.predicate)
        let covered = page.hierarchies.map { " AND " + isCovered(byAnyOf: $0, database) } ?? ""
        let keys = sorts.indices.map { "sort_key_\($0 + 1)" }
        let selected = zip(sorts, keys).map { ", \($0.sql) AS \($1)" }.joined()
        let inZone = sorts.map { $0.order($0.sql) } + ["r.name"]
        let overall = zip(sorts, keys).map { $0.order("c.\($1)") } + ["c.name", "z.name"]
        let sql = """
            SELECT h.incarnation, h.schema_version, h.is_zone_found,
                   q.ordinal <= \(recordsMax) AND q.bytes_before < \(bytesMax) AS is_in_page, q.zone_id, q.zone_name,
                   CASE WHEN q.has_hierarchies THEN (\(Self.rootShare(in: database))) END AS root_share,
                   \(Self.beforeFields)CASE WHEN q.bytes_before < \(bytesMax) THEN q.fields END\(Self.afterFields)
              FROM (SELECT incarnation, schema_version, \(head) AS is_zone_found
                      FROM store LIMIT 1) AS h
              LEFT JOIN LATERAL (
                    SELECT p.*, row_number() OVER () AS ordinal,
                           sum(p.byte_count) OVER (ROWS UNBOUNDED PRECEDING) - p.byte_count AS bytes_before
                      FROM (SELECT z.id AS zone_id, z.name AS zone_name, z.has_hierarchies, c.*
                              FROM (SELECT z.id, z.name, z.has_hierarchies\(predicate.zoneColumns)
                                      FROM zone z WHERE \(living) OFFSET 0) AS z
                             CROSS JOIN LATERAL (
                                   SELECT r.byte_count, \(RecordColumn.stored)\(selected)
                                     FROM record r
                                    WHERE \(access.condition(database))
                                      AND \(IndexedExpression.isLiving(page.query.recordType))
                                      AND \(condition)\(covered)\(after)
                                    ORDER BY \(inZone.joined(separator: ", "))
                                    LIMIT \(recordsMax + 1)) AS c
                             ORDER BY \(overall.joined(separator: ", "))
                             LIMIT \(recordsMax + 1)) AS p) AS q ON true
             ORDER BY q.ordinal
            """
        return CompiledQuery(
            sql: sql, parameters: predicate.parameters, avoidsSorting: !PredicateCompiler.narrows(page.query.predicate),
            needsOwnPlan: predicate.dependsOnValues)
    }

    /// The columns of records around that of their fields, made once: they are most of the work of making a query's text.
    private static let (beforeFields, afterFields) = {
        let parts = RecordColumn.selected("q", ["fields": "\n"]).split(separator: "\n", maxSplits: 1)
        return (String(parts[0]), String(parts[1]))
    }()

    /// Whether the record `r` is in one of the hierarchies through which the caller sees the zone.
    private mutating func isCovered(byAnyOf shares: [ShareNumber], _ database: String) -> String {
        let numbers = shares.map { predicate.parameters.add(.int8($0.rawValue), .int8) }
        guard !numbers.isEmpty else { return "false" }
        return """
            (SELECT 1
               FROM (SELECT share_number, has_left FROM share_record
                      WHERE database_id = \(database) AND zone_id = r.zone_id AND name BETWEEN r.name AND r.name
                      ORDER BY name OFFSET 0) AS l
              WHERE l.share_number IN (\(numbers.joined(separator: ", "))) AND NOT l.has_left LIMIT 1) IS NOT NULL
            """
    }

    /// The name of the CKShare record of which the found record `q` is the root (R-301), if it is one. Zones without hierarchies
    /// are not asked.
    private static func rootShare(in database: String) -> String {
        """
        SELECT record_name FROM share
                     WHERE database_id = \(database) AND zone_id BETWEEN q.zone_id AND q.zone_id
                       AND root_name BETWEEN q.name AND q.name AND root_name IS NOT NULL AND ended_number IS NULL
                     ORDER BY zone_id, root_name LIMIT 1
        """
    }

    /// The roots of the hierarchies of zone `z` that are shared, as an array: a thousand at most (R-977). It is read once for
    /// the zone.
    private static func roots(in database: String) -> String {
        """
        ARRAY(SELECT root_name FROM share
               WHERE database_id = \(database) AND zone_id = z.id AND ended_number IS NULL AND root_name IS NOT NULL)
        """
    }

    // MARK: Order

    private struct Sort {
        let sql: String
        let isAscending: Bool
        var isNullable = true
        /// A position's value as a parameter; nil for a value that the expression never has.
        let parameter: (IndexValue) -> (PostgresValue, PostgresType)?

        /// NB: PostgreSQL uses an index for an order only if both treat nulls alike, even if there can be none.
        func order(_ expression: String) -> String {
            expression + (isAscending ? "" : " DESC") + (isNullable ? isAscending ? " NULLS FIRST" : " NULLS LAST" : "")
        }
    }

    private mutating func sort(_ sort: QuerySort) -> Sort {
        if let origin = sort.origin {
            let chord = EarthPoint(origin).flatMap { predicate.squaredChord(sort.key, to: $0) } ?? "NULL"
            return Sort(
                sql: "COALESCE(\(chord), 'Infinity'::double precision)", isAscending: sort.isAscending,
                isNullable: false
            ) { value in
                if case .distance(let chord) = value { (.float8(chord), .float8) } else { nil }
            }
        }
        switch sort.key {
        case .system(let key):
            guard let column = SystemColumn(key, hiding: predicate.hiddenRoots) else { return Self.nothing(sort) }
            return Sort(
                sql: column.sql, isAscending: sort.isAscending, isNullable: column.isNullable,
                parameter: column.parameter)
        case .field(let name):
            guard let field = predicate.type.fields[name], !field.type.isList, !field.isEncrypted else {
                return Self.nothing(sort)
            }
            let key = IndexColumn.key(IndexColumn.orderForm(of: field.type), name)
            return Sort(sql: IndexedExpression.prefix(key), isAscending: sort.isAscending) { value in
                (.text(IndexColumn.text(of: value)), .text)
            }
        }
    }

    private static func nothing(_ sort: QuerySort) -> Sort {
        Sort(sql: "(NULL::text)", isAscending: sort.isAscending) { _ in nil }
    }

    /// The condition for records after a position: later in the first sort that distinguishes them, or else by name.
    private mutating func comesAfter(_ position: QueryPosition, _ sorts: [Sort]) -> String {
        var isSame: [String] = []
        var ways: [String] = []
        var bound = ""
        for (index, sort) in sorts.enumerated() {
            let value = index < position.values.count ? position.values[index].flatMap(sort.parameter) : nil
            let parameter = value.map { predicate.parameters.add($0.0, $0.1) }
            if index == 0 { bound = Self.bound(sort, parameter) }
            if let later = Self.later(sort, than: parameter) { ways.append(Self.all(isSame + [later])) }
            isSame.append(parameter.map { "\(sort.sql) = \($0)" } ?? "\(sort.sql) IS NULL")
        }
        let name = predicate.parameters.add(.text(position.recordName), .text)
        ways.append(Self.all(isSame + ["r.name > \(name)"]))
        let zone = predicate.parameters.add(.text(position.zoneName), .text)
        ways.append(Self.all(isSame + ["r.name = \(name)", "z.name > \(zone)"]))
        return "\(bound)(" + ways.joined(separator: " OR ") + ")"
    }

    /// A condition that follows from the others, in a form that an index supports.
    private static func bound(_ sort: Sort, _ parameter: String?) -> String {
        guard let parameter, sort.isAscending || !sort.isNullable else { return "" }
        return "\(sort.sql) \(sort.isAscending ? ">=" : "<=") \(parameter) AND "
    }

    /// Nil if no value comes later. A missing key comes first.
    private static func later(_ sort: Sort, than parameter: String?) -> String? {
        switch (parameter, sort.isAscending) {
        case (let parameter?, true): "\(sort.sql) > \(parameter)"
        case (let parameter?, false) where sort.isNullable: "(\(sort.sql) < \(parameter) OR \(sort.sql) IS NULL)"
        case (let parameter?, false): "\(sort.sql) < \(parameter)"
        case (nil, true): "\(sort.sql) IS NOT NULL"
        case (nil, false): nil
        }
    }

    private static func all(_ conditions: [String]) -> String { "(" + conditions.joined(separator: " AND ") + ")" }
}
