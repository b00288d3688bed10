// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService

extension MemoryStore {
    package func schema(of container: ContainerID) async throws(StorageError) -> ContainerSchema {
        try known(try await call(in: container) { $0.schemas[container] })
    }

    package func schemaVersion(of container: ContainerID) async throws(StorageError) -> Int64 {
        try known(try await call { $0.schemas[container] }).version
    }

    package func schemaRevision(of container: ContainerID) async throws(StorageError) -> SchemaRevision {
        try known(try await call { $0.schemas[container] }).revision
    }

    /// A call that a closed container refuses.
    private func call<Value: Sendable>(
        in container: ContainerID, _ body: @escaping @Sendable (inout MemoryTables) -> Value?
    ) async throws(StorageError) -> Value? {
        let result = try await call { tables -> Result<Value?, StorageError> in
            guard tables.closedContainers[container] == nil else { return .failure(StorageError(.containerClosed)) }
            return .success(body(&tables))
        }
        return try result.get()
    }

    package func learn(
        _ lesson: SchemaLesson, in container: ContainerID
    ) async throws(StorageError) -> ContainerSchema {
        try known(
            try await call(in: container) { tables in
                guard var schema = tables.schemas[container] else { return nil }
                if !schema.isFrozen { schema.schema = schema.schema.learning(lesson) }
                tables.schemas[container] = schema
                schema.schema = schema.schema.part(of: lesson)
                return schema
            })
    }

    package func replaceSchema(
        _ current: ContainerSchema, by schema: Schema
    ) async throws(StorageError) -> Bool {
        try await call { tables in
            guard tables.schemas[current.container] == current else { return false }
            tables.schemas[current.container] = ContainerSchema(
                container: current.container, version: current.version + 1, isFrozen: current.isFrozen, schema: schema)
            tables.dropRoles(in: current.container, but: schema.roles)
            return true
        }
    }

    private func known(_ schema: ContainerSchema?) throws(StorageError) -> ContainerSchema {
        guard let schema else { throw StorageError(.containerUnknown) }
        return schema
    }
}

extension MemoryTables {
    func schemaStamp(of database: DatabaseID) -> SchemaStamp? {
        guard let container = databases[database]?.container, let schema = schemas[container] else { return nil }
        return SchemaStamp(container: container, version: schema.version)
    }
}
