// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// Converts a schema to rows and back.
enum SchemaRows {
    /// The statements that read a schema; ``schema(of:from:)`` decodes their answers.
    static func reads(of container: ContainerID) -> [BoundStatement] {
        let id = PostgresValue.int8(container.rawValue)
        return [
            SchemaStatements.container(id), SchemaStatements.types(id), SchemaStatements.fields(id),
            SchemaStatements.grants(id), SchemaStatements.roles(id),
        ]
    }

    /// Nil if there is no such container.
    static func schema(
        of container: ContainerID, from rows: [PostgresRows]
    ) throws(PostgresError) -> ContainerSchema? {
        guard rows.count == 5, let head = rows[0].first else { return nil }
        var schema = Schema()
        for row in rows[1] {
            let grants = try row.bool(1) ? Grants([:]) : .standard
            schema.types[try row.string(0)] = RecordTypeSchema(grants: grants)
        }
        for row in rows[2] { try add(field: row, to: &schema) }
        for row in rows[3] {
            guard let role = Role(name: try row.string(1)) else { throw PostgresError(.unexpectedResult) }
            schema.types[try row.string(0)]?.grants.add(Permissions(rawValue: try row.int16(2)), to: role)
        }
        for row in rows[4] { schema.roles.insert(try row.string(0)) }
        return ContainerSchema(
            container: container, version: try head.int64(1),
            isFrozen: try head.int16(0) == ContainerEnvironment.production.rawValue, schema: schema)
    }

    private static func add(field row: PostgresRow, to schema: inout Schema) throws(PostgresError) {
        let (type, key) = (try row.string(0), try row.string(1))
        let marks = FieldMarks(rawValue: try row.int16(4))
        if let system = SystemField(rawValue: key) {
            schema.types[type]?.systemMarks[system] = marks
            return
        }
        guard let code = UInt8(exactly: try row.int16(2)), let valueType = SchemaFieldType(code: code) else {
            throw PostgresError(.unexpectedResult, detail: "record_field.value_type")
        }
        schema.types[type]?.fields[key] = FieldSchema(valueType, isEncrypted: try row.bool(3), marks: marks)
    }
}

/// Rows of `record_field` as lists for PostgreSQL, in the order of their keys, so that two servers never deadlock.
struct SchemaFieldColumns {
    struct Key: Hashable, Comparable {
        let type: String
        let key: String

        static func < (left: Key, right: Key) -> Bool {
            left.type == right.type ? left.key < right.key : left.type < right.type
        }
    }

    private var rows: [Key: FieldSchema]

    init(_ lesson: SchemaLesson) {
        rows = [:]
        for (type, fields) in lesson.fields {
            for (key, field) in fields { rows[Key(type: type, key: key)] = field }
        }
    }

    init(_ schema: Schema) {
        rows = [:]
        for (name, type) in schema.types {
            for (key, field) in type.fields { rows[Key(type: name, key: key)] = field }
            for (field, marks) in type.systemMarks where !marks.isEmpty {
                rows[Key(type: name, key: field.rawValue)] = FieldSchema(field.type, marks: marks)
            }
        }
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The rows that `other` lacks or has with other values.
    func differing(from other: SchemaFieldColumns) -> SchemaFieldColumns {
        var columns = self
        columns.rows = rows.filter { other.rows[$0.key] != $0.value }
        return columns
    }

    /// The rows whose keys `other` lacks.
    func missing(in other: SchemaFieldColumns) -> SchemaFieldColumns {
        var columns = self
        columns.rows = rows.filter { other.rows[$0.key] == nil }
        return columns
    }

    private var sorted: [(key: Key, value: FieldSchema)] { rows.sorted { $0.key < $1.key } }

    var types: PostgresValue { .textArray(sorted.map(\.key.type)) }
    var keys: PostgresValue { .textArray(sorted.map(\.key.key)) }
    var valueTypes: PostgresValue { .int4Array(sorted.map { Int32($0.value.type.code) }) }
    var areEncrypted: PostgresValue { .boolArray(sorted.map(\.value.isEncrypted)) }
    var marks: PostgresValue { .int4Array(sorted.map { Int32($0.value.marks.rawValue) }) }
}
