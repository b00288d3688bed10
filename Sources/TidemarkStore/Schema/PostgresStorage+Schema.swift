// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func schema(of container: ContainerID) async throws(StorageError) -> ContainerSchema {
        try schema(of: container, from: try await readAll(SchemaRows.reads(of: container)))
    }

    /// There is one version for all containers, because operators rarely change schemas.
    package func schemaVersion(of container: ContainerID) async throws(StorageError) -> Int64 {
        let rows = try await read(AccountStatements.store())
        return try decode { () throws(PostgresError) in try rows[0].int64(1) }
    }

    package func learn(
        _ lesson: SchemaLesson, in container: ContainerID
    ) async throws(StorageError) -> ContainerSchema {
        let id = PostgresValue.int8(container.rawValue)
        let fields = SchemaFieldColumns(lesson)
        let statements = [
            SchemaStatements.lockToLearn(id),
            SchemaStatements.learnTypes(id, .textArray(lesson.fields.keys.sorted())),
            SchemaStatements.learnFields(id, fields.types, fields.keys, fields.valueTypes, fields.areEncrypted),
        ]
        let rows = try await writeRepeatably(statements + SchemaRows.reads(of: container))
        return try schema(of: container, from: Array(rows.dropFirst(statements.count)))
    }

    package func replaceSchema(
        _ current: ContainerSchema, by schema: Schema
    ) async throws(StorageError) -> Bool {
        let lease = try await acquire()
        defer { release(lease) }
        var isCommitting = false
        do {
            let id = PostgresValue.int8(current.container.rawValue)
            let rows = try await lease.connection.execute(
                [.begin, SchemaStatements.lockToReplace(id)] + SchemaRows.reads(of: current.container))
            // Returning the connection rolls back an open transaction.
            let found = try SchemaRows.schema(of: current.container, from: Array(rows.dropFirst(2)))
            guard found?.schema == current.schema else { return false }
            isCommitting = true
            _ = try await lease.connection.execute(SchemaReplacement(current, by: schema).statements)
            return true
        } catch {
            throw StorageError(error, duringCommit: isCommitting)
        }
    }

    private func schema(
        of container: ContainerID, from rows: [PostgresRows]
    ) throws(StorageError) -> ContainerSchema {
        let schema = try decode { () throws(PostgresError) in try SchemaRows.schema(of: container, from: rows) }
        guard let schema else { throw StorageError(.containerUnknown) }
        return schema
    }
}

/// Turns one schema into another: writes the rows that differ, and leaves all others as they are.
private struct SchemaReplacement {
    let id: PostgresValue
    let old: Schema
    let new: Schema

    init(_ current: ContainerSchema, by schema: Schema) {
        id = .int8(current.container.rawValue)
        old = current.schema
        new = schema
    }

    var statements: [BoundStatement] {
        let (oldFields, newFields) = (SchemaFieldColumns(old), SchemaFieldColumns(new))
        let gone = oldFields.missing(in: newFields)
        let put = newFields.differing(from: oldFields)
        let names = new.types.keys.sorted()
        let regranted = names.filter { old.types[$0]?.grants != new.types[$0]?.grants }
        return [
            SchemaStatements.countOn(),
            SchemaStatements.removeTypes(id, .textArray(old.types.keys.filter { new.types[$0] == nil }.sorted())),
            SchemaStatements.putTypes(id, .textArray(names), .boolArray(names.map(hasOwnGrants))),
            SchemaStatements.removeFields(id, gone.types, gone.keys),
            SchemaStatements.putFields(id, put.types, put.keys, put.valueTypes, put.areEncrypted, put.marks),
            SchemaStatements.forgetWords(
                id, .textArray(names.filter(searchesLess)), .int2(FieldMarks.searchable.rawValue)),
            SchemaStatements.removeGrants(id, .textArray(regranted)),
            grants(of: regranted.filter(hasOwnGrants)),
            SchemaStatements.removeRoles(id, .textArray(new.roles.sorted())),
            SchemaStatements.putRoles(id, .textArray(new.roles.sorted())),
            .commit,
        ]
    }

    /// Whether a field of a type is no longer searchable.
    private func searchesLess(_ name: String) -> Bool {
        (old.types[name]?.fields ?? [:]).contains { key, field in
            field.marks.contains(.searchable) && new.types[name]?.fields[key]?.marks.contains(.searchable) != true
        }
    }

    private func hasOwnGrants(_ name: String) -> Bool { new.types[name]?.grants != .standard }

    private func grants(of names: [String]) -> BoundStatement {
        var (types, roles, permissions): ([String], [String], [Int32]) = ([], [], [])
        for name in names {
            for (role, granted) in (new.types[name]?.grants.byRole ?? [:]).sorted(by: { $0.key < $1.key }) {
                types.append(name)
                roles.append(role.name)
                permissions.append(Int32(granted.rawValue))
            }
        }
        return SchemaStatements.putGrants(id, .textArray(types), .textArray(roles), .int4Array(permissions))
    }
}
