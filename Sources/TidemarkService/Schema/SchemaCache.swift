// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFields

/// What this server remembers of its containers' schemas, so that a save need not read them.
///
/// It is never trusted blindly: every write transaction reads the schema's version after its locks, and loads the
/// schema again if the version differs. What saves teach only adds, and does not change the version. A server that has
/// not heard of it learns it when it needs it.
final class SchemaCache: Sendable {
    private let storage: any Storage
    private let schemas = Mutex<[ContainerID: KnownSchema]>([:])
    private let shared: SharedWrites

    init(storage: any Storage, shared: SharedWrites) {
        self.storage = storage
        self.shared = shared
    }

    /// The schemas that are remembered now.
    var known: [ContainerID: KnownSchema] { schemas.withLock { $0 } }

    /// How many types and fields were taught since this server began, and by whom.
    var taught: [SchemaTeacher: Int] { shared.taught.withLock { $0 } }

    /// Loads or learns what a check of saves found missing.
    func catchUp(with check: SchemaCheck) async throws(StorageError) {
        switch check {
        case .checked: return
        case .unknown(let containers):
            for container in containers { try await refresh(container) }
        case .teaches(let lessons, let teachers):
            for (container, lesson) in lessons { remember(try await storage.learn(lesson, in: container)) }
            shared.noteTaught(teachers)
        }
    }

    /// The current schema, for reads. If a schema is remembered, only its version is read.
    func current(_ container: ContainerID) async throws(StorageError) -> KnownSchema {
        let version = try await storage.schemaVersion(of: container)
        if let known = known[container], known.schema.version == version { return known }
        return try await load(container)
    }

    /// The schema that judges a query: the remembered one, unless another server may have learned what the query names.
    func schema(of container: ContainerID, for query: Query) async throws(StorageError) -> KnownSchema {
        if let known = known[container], known.schema.isFrozen || known.schema.schema.knows(query) { return known }
        return try await refresh(container)
    }

    /// Reads a schema again if it is not the remembered one any more. A client that keeps asking for what no schema has
    /// does not make the server read thousands of fields each time.
    @discardableResult
    private func refresh(_ container: ContainerID) async throws(StorageError) -> KnownSchema {
        if let known = known[container], try await storage.schemaRevision(of: container) == known.schema.revision {
            return known
        }
        return try await load(container)
    }

    /// Reads a schema again and remembers it.
    @discardableResult
    func load(_ container: ContainerID) async throws(StorageError) -> KnownSchema {
        remember(try await storage.schema(of: container))
    }

    /// NB: answers may overtake each other. An older one does harm for a moment only: the next transaction finds
    /// another version, or learns what is known.
    @discardableResult
    private func remember(_ schema: ContainerSchema) -> KnownSchema {
        let known = KnownSchema(schema)
        schemas.withLock { $0[schema.container] = known }
        return known
    }
}

/// A schema, prepared for fast checks.
struct KnownSchema: Sendable {
    let schema: ContainerSchema
    /// The grants of types that do not have the standard ones.
    let grants: [String: Grants]
    /// The fields of each type. A save whose fields they cover fits without a verdict.
    let shapes: [String: FieldShapes]
    /// For the types that have index marks.
    private let indexWriters: [String: IndexColumnWriter]

    init(_ schema: ContainerSchema) {
        self.schema = schema
        grants = schema.schema.types.mapValues(\.grants).filter { $0.value != .standard }
        shapes = schema.schema.types.mapValues { type in
            FieldShapes(type.fields.map { ($0.key, $0.value.type.code, $0.value.isEncrypted) })
        }
        indexWriters = schema.schema.types.mapValues(IndexColumnWriter.init).filter { !$0.value.isEmpty }
    }

    /// The index columns beside the changed records, by record name. Empty if no type is marked.
    func indexColumns(of changes: ZoneChanges) -> [String: String] {
        guard !indexWriters.isEmpty else { return [:] }
        var columns: [String: String] = [:]
        let scope = IndexColumn.scope(changes.database, changes.zone)
        for record in changes.records where !record.isDeleted {
            columns[record.name] = indexWriters[record.type]?.column(of: record.fields, scope: scope)
        }
        return columns
    }
}
