// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// How an operator sees and repairs the indexes for queries.
extension AdminStore {
    /// A row of the operator's list of indexes.
    package struct Index: Sendable {
        /// Whether queries can use an index, and if not, why.
        package enum State: String, Sendable {
            case valid, building
            /// Building it was interrupted: `build` starts again.
            case invalid
            /// It does not exist yet, or exceeds the number of indexes that a store has.
            case missing
            /// No schema asks for it any more.
            case unused
        }

        package let name: String
        /// Nil if no schema asks for it.
        package let recordType: String?
        /// What is indexed: a form and a field.
        package let what: String
        package let state: State
        package let byteCount: Int64
    }

    /// Ordered by record type, for all containers together.
    package func indexes() async throws(StorageError) -> [Index] {
        let wanted = try await wantedIndexes().map(\.index).sorted {
            ($0.recordType, $0.kindName) < ($1.recordType, $1.kindName)
        }
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

    /// Builds what is missing, rebuilds what is broken, and drops what no schema asks for.
    package func buildIndexes() async throws(StorageError) {
        try await storage.indexBuilder.build(try await wantedIndexes(), dropsOthers: true)
    }

    /// Builds what is missing or broken. Returns when all indexes exist and the planner has statistics of them.
    package func buildMissingIndexes() async throws(StorageError) {
        let wanted = try await wantedIndexes()
        let existing = try await existingIndexes()
        guard !wanted.allSatisfy({ wish in existing.contains { $0.isGood(as: wish.index) } }) else { return }
        try await storage.indexBuilder.build(wanted)
    }

    /// Lets the planner collect statistics of the records now, after many were written, rather than when PostgreSQL
    /// next does.
    package func refreshStatistics() async throws(StorageError) {
        try await storage.indexBuilder.refreshStatistics()
    }

    /// After a change of the container's schema: computes the index values that it asks for in existing records, and
    /// builds the indexes.
    package func prepareQueries(in container: ContainerID) async throws(StorageError) {
        let types = try await storage.read(sql.queries.unreadyTypes(container))
        for type in types { try await storage.fillIndexValues(of: type, in: container) }
        let schema = try await schema(of: container).schema
        try await storage.indexBuilder.build(Self.indexes(for: schema).map { WantedIndex(index: $0, places: nil) })
    }

    private func existingIndexes() async throws(StorageError) -> [ExistingIndex] {
        try await storage.read(sql.queries.indexes(PhysicalIndex.namePrefix))
    }

    /// Those of production come first.
    private func wantedIndexes() async throws(StorageError) -> [WantedIndex] {
        let containers = try await storage.read(sql.adminSchema.listContainers())
        var production: Set<PhysicalIndex> = []
        var development: [PhysicalIndex: IndexPlaces] = [:]
        for container in containers {
            let schema: ContainerSchema
            do throws(StorageError) {
                schema = try await self.schema(of: container)
            } catch {
                // It was closed meanwhile.
                guard error.code == .containerClosed else { throw error }
                continue
            }
            let wanted = Self.indexes(for: schema.schema)
            if let places = IndexPlaces(of: schema) {
                for index in wanted { development[index] = places }
            } else {
                production.formUnion(wanted)
            }
        }
        func ordered(_ indexes: some Sequence<PhysicalIndex>) -> [PhysicalIndex] {
            indexes.sorted { ($0.recordType, $0.kindName) < ($1.recordType, $1.kindName) }
        }
        return ordered(production).map { WantedIndex(index: $0, places: nil) }
            + ordered(development.keys.filter { !production.contains($0) }).map {
                WantedIndex(index: $0, places: development[$0])
            }
    }

    private static func indexes(for schema: Schema) -> [PhysicalIndex] {
        schema.types.sorted { $0.key < $1.key }.flatMap { PhysicalIndex.all(for: $0.value, named: $0.key) }
    }
}
