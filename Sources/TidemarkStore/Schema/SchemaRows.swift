// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// What the rows of a schema say.
struct SchemaRows {
    private var head: (environment: Int16, version: Int64)?
    private var schema = Schema()

    /// - Parameter calls: what is sent before, in the same round trip.
    static func reading(of container: ContainerID, after calls: [Call<Void>] = []) -> Reading<SchemaRows> {
        var reading = Reading<SchemaRows>()
        for call in calls { reading.add(call) }
        reading.add(sql.schemas.container(container)) { found, row in found.head = row }
        reading.add(sql.schemas.types(container)) { found, row in
            found.schema.types[row.name] = RecordTypeSchema(grants: row.hasOwnGrants ? Grants([:]) : .standard)
        }
        reading.add(sql.schemas.fields(container)) { found, row throws(PostgresError) in try found.take(row) }
        reading.add(sql.schemas.grants(container)) { found, row in
            found.schema.types[row.type]?.grants.add(row.permissions, to: row.role)
        }
        reading.add(sql.schemas.roles(container)) { found, role in found.schema.roles.insert(role) }
        return reading
    }

    /// Teaches a lesson, and reads what there is of it.
    static func learning(_ lesson: SchemaLesson, in container: ContainerID) -> Reading<SchemaRows> {
        let names = lesson.fields.keys.sorted()
        let fields = SchemaFieldRow.rows(of: lesson)
        var reading = Reading<SchemaRows>()
        reading.add(sql.schemas.lockToLearn(container))
        reading.add(sql.schemas.learnTypes((container, names)))
        reading.add(sql.schemas.learnFields((container, fields)))
        reading.add(sql.schemas.container(container)) { found, row in found.head = row }
        reading.add(sql.schemas.learnedTypes((container, names))) { found, name in
            found.schema.types[name] = RecordTypeSchema()
        }
        reading.add(sql.schemas.learnedFields((container, fields))) { found, row throws(PostgresError) in
            try found.take(row)
        }
        return reading
    }

    private mutating func take(_ row: SchemaStatements.ReadField) throws(PostgresError) {
        if let system = SystemField(rawValue: row.key) {
            schema.types[row.type]?.systemMarks[system] = row.marks
            return
        }
        guard let code = UInt8(exactly: row.valueCode), let type = SchemaFieldType(code: code) else {
            throw PostgresError(.unexpectedResult, detail: "record_field.value_type")
        }
        schema.types[row.type]?.fields[row.key] = FieldSchema(type, isEncrypted: row.isEncrypted, marks: row.marks)
    }

    /// Nil if there is no such container.
    func schema(of container: ContainerID) -> ContainerSchema? {
        guard let head else { return nil }
        return ContainerSchema(
            container: container, version: head.version,
            isFrozen: head.environment == ContainerEnvironment.production.rawValue, schema: schema)
    }
}

/// A row of `record_field`. Rows are written in the order of their keys, so that two servers never deadlock.
struct SchemaFieldRow: Hashable, Sendable {
    let type: String
    let key: String
    let field: FieldSchema

    var id: [String] { [type, key] }
    var valueCode: Int32 { Int32(field.type.code) }
    var isEncrypted: Bool { field.isEncrypted }
    var markBits: Int32 { Int32(field.marks.rawValue) }

    static func rows(of lesson: SchemaLesson) -> [SchemaFieldRow] {
        sorted(
            lesson.fields.flatMap { type, fields in
                fields.map { SchemaFieldRow(type: type, key: $0.key, field: $0.value) }
            })
    }

    static func rows(of schema: Schema) -> [SchemaFieldRow] {
        sorted(
            schema.types.flatMap { name, type in
                type.fields.map { SchemaFieldRow(type: name, key: $0.key, field: $0.value) }
                    + type.systemMarks.filter { !$0.value.isEmpty }.map { field, marks in
                        SchemaFieldRow(type: name, key: field.rawValue, field: FieldSchema(field.type, marks: marks))
                    }
            })
    }

    private static func sorted(_ rows: [SchemaFieldRow]) -> [SchemaFieldRow] {
        rows.sorted { ($0.type, $0.key) < ($1.type, $1.key) }
    }
}
