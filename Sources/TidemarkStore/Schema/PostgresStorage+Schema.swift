// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func schema(of container: ContainerID) async throws(StorageError) -> ContainerSchema {
        let reading = SchemaRows.reading(of: container)
        var rows = SchemaRows()
        do {
            try await reading.take(try await pool.execute(reading.statements), into: &rows)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
        guard let found = rows.schema(of: container) else { throw try await missing(container) }
        return found
    }

    /// Why a container has no schema.
    private func missing(_ container: ContainerID) async throws(StorageError) -> StorageError {
        StorageError(try await read(sql.schemas.isClosed(container)).isEmpty ? .containerUnknown : .containerClosed)
    }

    /// There is one version for all containers, because operators rarely change schemas.
    package func schemaVersion(of container: ContainerID) async throws(StorageError) -> Int64 {
        try await read(sql.accounts.store()).first?.schemaVersion ?? 0
    }

    package func schemaRevision(of container: ContainerID) async throws(StorageError) -> SchemaRevision {
        guard let revision = try await read(sql.schemas.revision(container)).first else {
            throw StorageError(.containerUnknown)
        }
        return revision
    }

    package func learn(
        _ lesson: SchemaLesson, in container: ContainerID
    ) async throws(StorageError) -> ContainerSchema {
        // Its statements may safely be sent twice.
        let reading = SchemaRows.learning(lesson, in: container)
        let found: ContainerSchema?
        do {
            let lease = try await pool.acquire()
            defer { release(lease) }
            found = try await lease.connection.run(reading, into: SchemaRows()).schema(of: container)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
        guard let found else { throw try await missing(container) }
        return found
    }

    package func replaceSchema(
        _ current: ContainerSchema, by schema: Schema
    ) async throws(StorageError) -> Bool {
        let lease = try await acquire()
        defer { release(lease) }
        var isCommitting = false
        do {
            let container = current.container
            let reading = SchemaRows.reading(of: container, after: [.begin, sql.schemas.lockToReplace(container)])
            // Returning the connection rolls back an open transaction.
            let found = try await lease.connection.run(reading, into: SchemaRows()).schema(of: container)
            guard found?.schema == current.schema else { return false }
            isCommitting = true
            _ = try await lease.connection.execute(SchemaReplacement(current, by: schema).calls.map(\.bound))
            return true
        } catch {
            throw StorageError(error, duringCommit: isCommitting)
        }
    }
}

/// Turns one schema into another: writes the rows that differ, and leaves all others as they are.
private struct SchemaReplacement {
    let container: ContainerID
    let old: Schema
    let new: Schema

    init(_ current: ContainerSchema, by schema: Schema) {
        container = current.container
        old = current.schema
        new = schema
    }

    var calls: [Call<Void>] {
        let (oldFields, newFields) = (SchemaFieldRow.rows(of: old), SchemaFieldRow.rows(of: new))
        let (known, kept) = (Set(oldFields), Set(newFields.map(\.id)))
        let names = new.types.keys.sorted()
        let regranted = names.filter { old.types[$0]?.grants != new.types[$0]?.grants }
        let gone = old.types.keys.filter { new.types[$0] == nil }.sorted()
        let roles = new.roles.sorted()
        return [
            sql.schemas.countOn(),
            sql.schemas.removeTypes((container, gone)),
            sql.schemas.putTypes((container, names.map { (name: $0, hasOwnGrants: hasOwnGrants($0)) })),
            sql.schemas.removeFields((container, oldFields.filter { !kept.contains($0.id) })),
            sql.schemas.putFields((container, newFields.filter { !known.contains($0) })),
            sql.schemas.forgetWords((container, names.filter(searchesLess), .searchable)),
            sql.schemas.removeGrants((container, regranted)),
            sql.schemas.putGrants((container, regranted.filter(hasOwnGrants).flatMap(grants(of:)))),
            sql.schemas.removeRoles((container, roles)),
            sql.schemas.putRoles((container, roles)),
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

    private func grants(of name: String) -> [(type: String, role: String, permissions: Int32)] {
        (new.types[name]?.grants.byRole ?? [:]).sorted { $0.key < $1.key }.map { role, granted in
            (name, role.name, Int32(granted.rawValue))
        }
    }
}
