// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// What an operator sees of the indexes for queries, and mends.
extension AdminStore {
    /// A row of the operator's list of indexes.
    package struct Index: Sendable {
        /// How far an index is.
        package enum State: String, Sendable {
            case valid, building
            /// Broken off while it was made: `build` makes it anew.
            case invalid
            /// Not there yet, or past the most that a store has.
            case missing
            /// No schema asks for it any more.
            case unused
        }

        package let name: String
        /// Nil where no schema asks for it.
        package let recordType: String?
        /// What of the record is indexed: a form and a field.
        package let what: String
        package let state: State
        package let byteCount: Int64
    }

    /// By record type; all containers together.
    package func indexes() async throws(StorageError) -> [Index] {
        let wanted = try await wantedIndexes()
        let existing = try await existingIndexes()
        let found = Dictionary(existing.map { ($0.name, $0) }) { first, _ in first }
        let names = Set(wanted.map(\.name))
        return wanted.map { index in
            let state: Index.State =
                switch found[index.name] {
                case nil: .missing
                case let found? where found.isBeingBuilt: .building
                case let found?: found.isValid ? .valid : .invalid
                }
            return Index(
                name: index.name, recordType: index.recordType, what: index.kindName, state: state,
                byteCount: found[index.name]?.byteCount ?? 0)
        }
            + existing.filter { !names.contains($0.name) }.map {
                Index(name: $0.name, recordType: nil, what: "", state: .unused, byteCount: $0.byteCount)
            }
    }

    /// Makes what is missing, makes anew what is broken, and drops what no schema asks for.
    package func buildIndexes() async throws(StorageError) {
        try await storage.indexBuilder.build(try await wantedIndexes(), dropsOthers: true)
    }

    /// Makes what is missing or broken, and returns when all is there and the planner knows what is in it.
    package func buildMissingIndexes() async throws(StorageError) {
        let wanted = try await wantedIndexes()
        let existing = try await existingIndexes()
        guard !wanted.allSatisfy({ index in existing.contains { $0.isGood(as: index) } }) else { return }
        try await storage.indexBuilder.build(wanted)
    }

    /// Has the planner learn at once what is in the records, instead of when PostgreSQL next looks: after many were written.
    package func refreshStatistics() async throws(StorageError) {
        try await storage.indexBuilder.refreshStatistics()
    }

    /// Computes what the container's schema marks for the records that are there, and makes the indexes for it: after the
    /// schema was changed.
    package func prepareQueries(in container: ContainerID) async throws(StorageError) {
        let rows = try await storage.read(QueryStatements.unreadyTypes(.int8(container.rawValue)))
        let types = try decode { () throws(PostgresError) in
            var types: [String] = []
            for row in rows { types.append(try row.string(0)) }
            return types
        }
        for type in types { try await storage.fillIndexValues(of: type, in: container) }
        let schema = try await schema(of: container).schema
        try await storage.indexBuilder.build(Self.indexes(for: schema))
    }

    private func existingIndexes() async throws(StorageError) -> [ExistingIndex] {
        let rows = try await storage.read(QueryStatements.indexes(.text(PhysicalIndex.namePrefix)))
        return try decode { () throws(PostgresError) in try ExistingIndex.decode(rows) }
    }

    private func wantedIndexes() async throws(StorageError) -> [PhysicalIndex] {
        let rows = try await storage.read(AdminSchemaStatements.listContainers())
        let containers = try decode { () throws(PostgresError) in
            var ids: [ContainerID] = []
            for row in rows { ids.append(ContainerID(try row.int64(0))) }
            return ids
        }
        var wanted: Set<PhysicalIndex> = []
        for container in containers { wanted.formUnion(Self.indexes(for: try await schema(of: container).schema)) }
        return wanted.sorted { ($0.recordType, $0.kindName) < ($1.recordType, $1.kindName) }
    }

    private static func indexes(for schema: Schema) -> [PhysicalIndex] {
        schema.types.sorted { $0.key < $1.key }.flatMap { PhysicalIndex.all(for: $0.value, named: $0.key) }
    }
}
