// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
package import TidemarkService

/// How an operator manages schemas, for `tidemark admin schema`.
extension AdminStore {
    /// Nil if there is no such container in this environment.
    package func container(
        _ identifier: String, _ environment: ContainerEnvironment
    ) async throws(StorageError) -> ContainerID? {
        try await storage.read(
            sql.adminSchema.findContainer(ContainerKey(identifier: identifier, environment: environment))
        )
        .first
    }

    /// Creates the container in this environment if it does not exist.
    package func createContainer(
        _ identifier: String, _ environment: ContainerEnvironment
    ) async throws(StorageError) -> ContainerID {
        let key = ContainerKey(identifier: identifier, environment: environment)
        _ = try await storage.write(sql.containers.create(key))
        guard let id = try await container(identifier, environment) else { throw StorageError(.containerUnknown) }
        return id
    }

    /// The stored schema with its revision, and whether it is frozen, as that of production is.
    package func schema(of container: ContainerID) async throws(StorageError) -> ContainerSchema {
        try await storage.schema(of: container)
    }

    /// - Returns: false, with nothing changed, if the schema is not `current` any more.
    package func replaceSchema(
        _ current: ContainerSchema, by schema: Schema
    ) async throws(StorageError) -> Bool {
        try await storage.replaceSchema(current, by: schema)
    }

    /// The differences that records conflict with: a record has the type that would be removed, or holds the field.
    ///
    /// Reads every record of the container. Nothing is locked, so a save meanwhile may be missed.
    package func inUse(
        _ differences: [SchemaDifference], in container: ContainerID
    ) async throws(StorageError) -> [SchemaDifference] {
        var open = differences.filter(\.isDestructive)
        var used: [SchemaDifference] = []
        var scan = RecordScan(storage, container: container)
        while !open.isEmpty, let page = try await scan.nextPage(types: Set(open.map(\.typeName))) {
            let found = open.filter { difference in page.contains(where: difference.isUsed) }
            used += found
            open.removeAll(where: found.contains)
        }
        return differences.filter(used.contains)
    }
}

extension SchemaDifference {
    /// The type of a destructive difference; empty for others.
    fileprivate var typeName: String {
        switch self {
        case .typeRemoved(let type), .fieldRemoved(let type, _, _), .fieldChanged(let type, _, _, _): type
        default: ""
        }
    }

    fileprivate func isUsed(by record: ScannedRecord) -> Bool {
        guard record.type == typeName else { return false }
        switch self {
        case .typeRemoved: return true
        case .fieldRemoved(_, let key, _), .fieldChanged(_, let key, _, _): return record.fields[key] != nil
        default: return false
        }
    }
}

struct AdminSchemaStatements: Sendable {
    let findContainer = DeclaredStatement<ContainerKey, ContainerID>(
        .read, "find_container",
        "SELECT id FROM container WHERE identifier = \(\.identifier) AND environment = \(\.environment)")

    let listContainers = DeclaredStatement<Void, ContainerID>(
        .read, "list_containers",
        "SELECT id FROM container WHERE closed_at IS NULL ORDER BY id")
}
