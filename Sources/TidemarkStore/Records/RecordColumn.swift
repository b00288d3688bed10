// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// A column of the table `record`. Everything that reads or writes records is made from the list of them, ``all``.
///
/// Written records are in *runs*: neighbours that share values. A run has these values once, because every value that
/// PostgreSQL takes out of an array costs time.
struct RecordColumn: Sendable {
    let name: String
    /// The value to insert, for a record `k`. It may be in a run `k.run`, or all may be in one run.
    let inserted: @Sendable (_ isOneRun: Bool) -> SQL<ZoneWrites>
    /// The list from which `k` has the value; nil if that is not a list of the records' own.
    let list: SQL<ZoneWrites>?
    /// A column, or a value, that it nearly always equals. Null is read instead: each value takes time on both sides.
    var usual: String?
    var isRead = true

    /// A new column needs its line here, a line in ``RecordRow`` if it is read with records, and one in
    /// ``RecordColumns`` if it is not computed by PostgreSQL.
    static let all: [RecordColumn] = [
        run("database_id", \.database, isRead: false),
        run("zone_id", \.zone, isRead: false),
        record("name", \.names),
        record("type", \.types),
        record("fields", \.fields),
        record("change_number", \.changeNumbers),
        run("is_deleted", \.isDeleted, usual: "false"),
        record("parent", \.parents),
        record("created_at", \.createdAt, orElse: \RecordColumns.Run.modifiedAt),
        run("created_by", \.createdBy, usual: "modified_by"),
        run("created_by_device", \.createdByDevice),
        run("modified_at", \.modifiedAt, usual: "created_at"),
        run("modified_by", \.modifiedBy),
        run("batch_end", \.batchEnd, usual: "change_number"),
        RecordColumn(name: "byte_count", inserted: { _ in "octet_length(k.fields)" }, list: nil, isRead: false),
        RecordColumn(
            name: "index_values", inserted: { _ in "k.index_values::jsonb" }, list: "\(\.records.indexValues)",
            isRead: false),
        run("request", \.cause, isRead: false),
        // The change to which `request` belongs. A server that does not know the columns leaves both as they are.
        RecordColumn(name: "request_number", inserted: { _ in "k.change_number" }, list: nil, isRead: false),
    ]

    /// The request of the last change of `r`; null: it is not known (R-918).
    static let cause = "CASE WHEN r.request_number = r.change_number THEN r.request END"

    private static func run<Value: PostgresParameter>(
        _ name: String, _ value: any KeyPath<RecordColumns.Run, Value> & Sendable, usual: String? = nil,
        isRead: Bool = true
    ) -> RecordColumn {
        RecordColumn(name: name, inserted: { ofRun(value, $0) }, list: nil, usual: usual, isRead: isRead)
    }

    /// - Parameter shared: the value of the run, which a record has if it has none of its own.
    private static func record<Value: PostgresParameter>(
        _ name: String, _ list: any KeyPath<RecordColumns, PostgresList<Value>> & Sendable,
        orElse shared: (any KeyPath<RecordColumns.Run, Value> & Sendable)? = nil
    ) -> RecordColumn {
        RecordColumn(
            name: name,
            inserted: { isOneRun in
                shared.map { "coalesce(k.\(name), \(ofRun($0, isOneRun)))" } ?? "k.\(name)"
            }, list: "\(part: \.records, list)")
    }

    private static func ofRun<Value: PostgresParameter>(
        _ value: any KeyPath<RecordColumns.Run, Value> & Sendable, _ isOne: Bool
    ) -> SQL<ZoneWrites> {
        isOne ? "\(first: \.records.runs, value)" : "(\(\.records.runs, value))[k.run]"
    }

    // MARK: SQL

    static let read = all.filter(\.isRead)

    /// The columns that ``RecordRow`` reads, of a table of records.
    ///
    /// - Parameter others: what is selected in place of some columns, by their names.
    static func selected(_ table: String = "r", _ others: [String: String] = [:]) -> String {
        read.map { column in
            let stored = "\(table).\(column.name)"
            if let other = others[column.name] { return "\(other) AS \(column.name)" }
            guard let usual = column.usual else { return stored }
            let other = usual == "false" ? usual : "\(table).\(usual)"
            return "NULLIF(\(stored), \(other)) AS \(column.name)"
        }.joined(separator: ", ")
    }

    /// The same, without reading the fields.
    static let selectedWithoutFields = selected("r", ["fields": "''::bytea"])

    /// The same as they are stored, for a subquery.
    static let stored = read.map { "r.\($0.name)" }.joined(separator: ", ")

    /// Inserts the records of ``ZoneWrites``, or replaces them.
    ///
    /// - Parameters:
    ///   - guards: further items of FROM, each with a comma. No record is written if they have no row.
    ///   - isOneRun: whether all records are in one run, whose values are then single parameters. Lists that are
    ///     unnested side by side in the select list are not materialized, as they would be by one `unnest` of all.
    static func insertion(from guards: String, isOneRun: Bool = false) -> SQL<ZoneWrites> {
        let own = all.filter { $0.list != nil }
        let values = SQL(joining: all.map { $0.inserted(isOneRun) })
        let lists = SQL(joining: own.compactMap(\.list))
        let sideBySide = SQL(
            joining: own.map { column -> SQL<ZoneWrites> in "unnest(\(column.list ?? "")) AS \(column.name)" })
        let records: SQL<ZoneWrites> =
            isOneRun
            ? "(SELECT \(sideBySide)) AS k"
            : "unnest(\(\.records.runNumbers), \(lists)) AS k (run, \(own.map(\.name).joined(separator: ", ")))"
        let replaced = all.map(\.name).filter { !key.contains($0) }.map { "\($0) = excluded.\($0)" }
        return """
            INSERT INTO record (\(all.map(\.name).joined(separator: ", ")))
            SELECT \(values)
              FROM \(guards)\(records)
                ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(replaced.joined(separator: ", "))
            """
    }

    private static let key = ["database_id", "zone_id", "name"]
}

/// Records as lists for PostgreSQL, for the columns in ``RecordColumn/all``.
struct RecordColumns: Sendable {
    /// The values that all records of a run share.
    struct Run: Equatable, Sendable {
        let database: DatabaseID
        let zone: ZoneID
        let batchEnd: ChangeNumber
        let createdBy: UserID
        let createdByDevice: DeviceID
        let modifiedAt: Timestamp
        let modifiedBy: UserID
        let isDeleted: Bool
        let cause: ChangeCause?
    }

    private(set) var runs: [Run] = []
    private var count = 0

    // Of records.
    /// The run of each record, counted from 1.
    private(set) var runNumbers: PostgresList<Int32>
    private(set) var changeNumbers: PostgresList<ChangeNumber>
    private(set) var names: PostgresList<String>
    private(set) var types: PostgresList<String>
    private(set) var fields: PostgresList<[UInt8]>

    // Of few records. Each list ends with the last record that has a value.
    private(set) var createdAt = PostgresList<Timestamp>()
    private(set) var parents = PostgresList<String>()
    private(set) var indexValues = PostgresList<String>()

    init(_ changes: [ZoneChanges]) {
        let count = changes.reduce(0) { $0 + $1.records.count }
        let byteCount = changes.reduce(0) { $0 + $1.records.reduce(0) { $0 + $1.fields.byteCount } }
        runNumbers = PostgresList(byteCount: count * 8)
        changeNumbers = PostgresList(byteCount: count * 12)
        names = PostgresList(byteCount: count * 40)
        types = PostgresList(byteCount: count * 16)
        fields = PostgresList(byteCount: count * 4 + byteCount)
        for zone in changes {
            for record in zone.records { append(record, in: zone) }
        }
    }

    private mutating func append(_ record: RecordState, in changes: ZoneChanges) {
        let run = Run(
            database: changes.database, zone: changes.zone, batchEnd: record.batchEnd, createdBy: record.createdBy,
            createdByDevice: record.createdByDevice, modifiedAt: record.modifiedAt, modifiedBy: record.modifiedBy,
            isDeleted: record.isDeleted, cause: record.cause)
        if runs.last != run { runs.append(run) }
        runNumbers.array.append(Int32(runs.count))
        changeNumbers.array.append(record.changeNumber)
        names.array.append(record.name)
        types.array.append(record.type)
        fields.array.append(record.fields.bytes)
        if record.createdAt != record.modifiedAt { createdAt.append(record.createdAt, at: count) }
        if let parent = record.parent { parents.append(parent, at: count) }
        if let values = changes.indexColumns[record.name] { indexValues.append(values, at: count) }
        count += 1
    }
}

/// Reads a record from the columns of ``RecordColumn/selected(_:_:)``, which stand side by side in a row. The first of
/// them is `name`.
struct RecordRow: Sendable {
    // The place of each column among them.
    private let type = place(of: "type")
    private let fields = place(of: "fields")
    private let changeNumber = place(of: "change_number")
    private let isDeleted = place(of: "is_deleted")
    private let parent = place(of: "parent")
    private let createdAt = place(of: "created_at")
    private let createdBy = place(of: "created_by")
    private let createdByDevice = place(of: "created_by_device")
    private let modifiedAt = place(of: "modified_at")
    private let modifiedBy = place(of: "modified_by")
    private let batchEnd = place(of: "batch_end")

    private static let places = RecordRow()

    private static func place(of name: String) -> Int {
        guard let place = RecordColumn.read.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("records are read without their column \(name)")
        }
        return place
    }

    /// - Parameter isSurveyed: whether to look for references and assets in the fields now, because the rules will need
    ///   them more than once.
    static func decode(_ row: PostgresRow, isSurveyed: Bool = false) throws(PostgresError) -> RecordState {
        try decode(row, at: row.column("name"), isSurveyed: isSurveyed)
    }

    /// - Parameter first: the place of the column `name`.
    static func decode(
        _ row: PostgresRow, at first: Int, isSurveyed: Bool = false
    ) throws(PostgresError) -> RecordState {
        let places = Self.places
        let fields = try row.bytes(first + places.fields)
        let number = try row.int64(first + places.changeNumber)
        let createdAt = try row.milliseconds(first + places.createdAt)
        let modifiedBy = try row.int64(first + places.modifiedBy)
        let device = first + places.createdByDevice
        return RecordState(
            name: try row.string(first),
            type: try row.string(first + places.type),
            fields: isSurveyed ? FieldMap(surveying: fields) : FieldMap(trusting: fields),
            changeNumber: number,
            isDeleted: try row.bool(ifPresent: first + places.isDeleted) ?? false,
            parent: try row.string(ifPresent: first + places.parent),
            createdAt: Timestamp(milliseconds: createdAt),
            createdBy: UserID(try row.int64(ifPresent: first + places.createdBy) ?? modifiedBy),
            createdByDevice: try row.isNull(device) ? .nobody : DeviceID.read(row, device),
            modifiedAt: Timestamp(
                milliseconds: try row.milliseconds(ifPresent: first + places.modifiedAt) ?? createdAt),
            modifiedBy: UserID(modifiedBy),
            batchEnd: try row.int64(ifPresent: first + places.batchEnd) ?? number)
    }
}
