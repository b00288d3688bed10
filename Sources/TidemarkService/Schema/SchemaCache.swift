// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields

/// A server's cached schemas of its containers, so that a save does not have to read them.
///
/// It is never trusted blindly: every write transaction reads the schema's version after its locks, and loads the
/// schema again if the version differs. Lessons of saves only add types and fields, and do not change the version. A
/// server without a lesson learns it when it needs it. So a schema may be dropped at any time, and unused ones are
/// dropped.
///
/// A schema belongs to no account, because all users of its container need it. So accounts have no shares of the room. A user who uses
/// seven containers with full schemas in turn drives out all others. Each of these schemas is then read again by the next save: some
/// milliseconds for a full schema, and well below one for a usual one.
final class SchemaCache: Sendable {
    /// About seven schemas that are full (`Limits.schemaEntriesMax`), or thousands of usual ones.
    static let bytesMax = 33_554_432

    private let storage: any Storage
    private let schemas: Mutex<FairCache<ContainerID, KnownSchema>>
    private let shared: SharedWrites

    /// - Parameter bytesMax: the approximate memory of the cache.
    init(storage: any Storage, shared: SharedWrites, bytesMax: Int = SchemaCache.bytesMax) {
        self.storage = storage
        self.shared = shared
        schemas = Mutex(FairCache(roomMax: bytesMax))
    }

    /// The remembered schemas of the zones that were read.
    func known(for snapshots: [ZoneSnapshot]) -> [ContainerID: KnownSchema] {
        schemas.withLock { schemas in
            var known: [ContainerID: KnownSchema] = [:]
            for case let container? in snapshots.lazy.map({ $0.schema?.container }) where known[container] == nil {
                known[container] = schemas.use(container)
            }
            return known
        }
    }

    private func known(_ container: ContainerID) -> KnownSchema? { schemas.withLock { $0.use(container) } }

    /// The number of types and fields added since this server started, by teacher.
    var taught: [SchemaTeacher: Int] { shared.taught.withLock { $0 } }

    /// Loads or learns what a check of saves found missing.
    ///
    /// - Returns: the loaded schemas. There may be no room to remember all of it.
    func catchUp(with check: SchemaCheck) async throws(StorageError) -> [ContainerID: KnownSchema] {
        var found: [ContainerID: KnownSchema] = [:]
        switch check {
        case .checked: break
        case .unknown(let containers):
            for container in containers { found[container] = try await refresh(container) }
        case .teaches(let lessons, let teachers):
            for (container, lesson) in lessons {
                let learned = try await storage.learn(lesson, in: container)
                if let known = extend(learned) {
                    found[container] = known
                } else {
                    found[container] = try await load(container)
                }
            }
            shared.noteTaught(teachers)
        }
        return found
    }

    /// The current schema, for reads. If a schema is remembered, only its version is read.
    func current(_ container: ContainerID) async throws(StorageError) -> KnownSchema {
        let version = try await storage.schemaVersion(of: container)
        if let known = known(container), known.schema.version == version { return known }
        return try await load(container)
    }

    /// The schema that judges a query: the remembered one, unless another server may have learned what the query names.
    func schema(of container: ContainerID, for query: Query) async throws(StorageError) -> KnownSchema {
        if let known = known(container), known.schema.isFrozen || known.schema.schema.knows(query) { return known }
        return try await refresh(container)
    }

    /// Reads a schema again if it is not the remembered one any more. A client that keeps asking for what no schema has
    /// does not make the server read thousands of fields each time.
    private func refresh(_ container: ContainerID) async throws(StorageError) -> KnownSchema {
        if let known = known(container), try await storage.schemaRevision(of: container) == known.schema.revision {
            return known
        }
        return try await load(container)
    }

    /// Reads a schema again and remembers it.
    ///
    /// NB: answers may overtake each other. An older one does harm only for a moment: the next transaction finds
    /// another version, or learns the known types.
    @discardableResult
    func load(_ container: ContainerID) async throws(StorageError) -> KnownSchema {
        let known = await KnownSchema(try await storage.schema(of: container))
        _ = schemas.withLock { $0.keep(known, as: container, room: known.byteCount, of: .nobody) }
        return known
    }

    /// Adds a lesson to the cached schema. So a lesson costs by its own size, and not by the schema's.
    ///
    /// - Returns: nil if the schema is not remembered, or not in the version that learned.
    private func extend(_ learned: ContainerSchema) -> KnownSchema? {
        schemas.withLock { schemas in
            guard var known = schemas.take(learned.container)?.value, known.schema.version == learned.version else {
                return nil
            }
            known.learn(learned.schema)
            schemas.keep(known, as: learned.container, room: known.byteCount, of: .nobody)
            return known
        }
    }
}

/// A schema, prepared for fast checks.
struct KnownSchema: Sendable {
    private(set) var schema: ContainerSchema
    /// The grants of types that do not have the standard ones.
    private(set) var grants: [String: Grants] = [:]
    /// The fields of each type. A save whose fields they cover fits without a verdict.
    private(set) var shapes: [String: FieldShapes] = [:]
    /// For the types that have index marks.
    private var indexWriters: [String: IndexColumnWriter] = [:]
    /// The number of types and fields together, which ``Limits/schemaEntriesMax`` bounds.
    private(set) var entryCount = 0
    private(set) var byteCount = Self.bytesPerEntry

    /// The approximate memory of a type or field, beside the bytes of its name.
    private static let bytesPerEntry = 200
    /// Types that are prepared before others have their turn on the thread.
    private static let typesPerTurn = 500

    init(_ schema: ContainerSchema) async {
        self.schema = schema
        for (index, (name, type)) in schema.schema.types.enumerated() {
            if index > 0, index.isMultiple(of: Self.typesPerTurn) { await Task.yield() }
            if type.grants != .standard { grants[name] = type.grants }
            shapes[name] = FieldShapes(type.fields.map { ($0.key, $0.value.type.code, $0.value.isEncrypted) })
            let indexWriter = IndexColumnWriter(type)
            if !indexWriter.isEmpty { indexWriters[name] = indexWriter }
            count(type: name)
            for key in type.fields.keys { count(key: key) }
        }
    }

    /// Adds types and fields that saves have taught. They have standard grants and no marks, and known ones stay as they
    /// are.
    mutating func learn(_ learned: Schema) {
        for (name, type) in learned.types {
            if schema.schema.types[name] == nil {
                schema.schema.types[name] = RecordTypeSchema()
                shapes[name] = FieldShapes()
                count(type: name)
            }
            for (key, field) in type.fields where schema.schema.types[name]?.fields[key] == nil {
                schema.schema.types[name]?.fields[key] = field
                shapes[name]?.insert(key, typeCode: field.type.code, isEncrypted: field.isEncrypted)
                count(key: key)
            }
        }
    }

    private mutating func count(type name: String) {
        entryCount += 1
        byteCount += Self.bytesPerEntry + name.utf8.count
    }

    private mutating func count(key: String) {
        entryCount += 1
        byteCount += Self.bytesPerEntry + 2 * key.utf8.count
    }

    /// Whether some type has index marks.
    var hasIndexes: Bool { !indexWriters.isEmpty }

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
