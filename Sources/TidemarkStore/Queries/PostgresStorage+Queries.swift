// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkScheduling
package import TidemarkService
internal import TidemarkSockets

extension PostgresStorage {
    /// How often the schema may change during a query, or marks may be missing.
    private static let roundsMax = 10

    /// One page of a query's results, from one snapshot. It takes one round trip if this server knows the type.
    ///
    /// In development, a query may be the first to need a field. Then the field is marked, its values in existing
    /// records are computed, and an index is built (R-186: development indexes everything). That takes a moment;
    /// `zoneBusy` if it takes longer; `notMarked` if the query may not do so.
    package func queryPage(
        _ page: QueryPageQuery, for turn: WorkTurn
    ) async throws(StorageError) -> StoreRead<QueryPageRead> {
        for _ in 0..<Self.roundsMax {
            let type = try await preparedType(for: page, turn)
            guard type.isKnown else { return try await emptyPage(of: page, in: type.container) }
            var compiler = QueryCompiler(page, type: type.schema, indexes: type.indexes)
            let read = try await run(compiler.compile(), for: page, in: type.container, turn)
            if read.value.schema?.version != type.version {
                types.forget(type.name, in: page.database)
                continue
            }
            return read.isZoneFound ? read : try await emptyPage(of: page, in: type.container)
        }
        throw StorageError(.zoneBusy, detail: "the schema keeps changing")
    }

    private func run(
        _ query: CompiledQuery, for page: QueryPageQuery, in container: ContainerID, _ turn: WorkTurn
    ) async throws(StorageError) -> StoreRead<QueryPageRead> {
        let zone = page.query.zoneName.map { ZoneKey(database: page.database, name: $0) }
        guard let zone, let sharing = page.sharing.call(for: [zone]) else {
            let rows = try await queries.run(query, for: turn.owner)
            return try decode { () throws(PostgresError) in try QueryRow.page(rows, in: container) }
        }
        let found = try await queries.run(query, and: sharing.bound, for: turn.owner)
        return try decode { () throws(PostgresError) in
            var read = try QueryRow.page(found.rows, in: container)
            var shares = SharingRows(isWhole: page.sharing.isWhole)
            try sharing.decode(found.sharing) { row in shares.add(row) }
            read.sharing = shares.sharing
            return read
        }
    }

    /// How PostgreSQL would run the query, as lines of EXPLAIN, for operators.
    package func explain(_ page: QueryPageQuery) async throws(StorageError) -> [String] {
        var query = try await compiled(page)
        query.sql = "EXPLAIN " + query.sql
        let rows = try await queries.run(query, for: .nobody, isRepeated: false)
        return try decode { () throws(PostgresError) in
            var lines: [String] = []
            for row in rows { lines.append(try row.string(0)) }
            return lines
        }
    }

    /// The statement for a page, by the current schema and indexes.
    func compiled(_ page: QueryPageQuery) async throws(StorageError) -> CompiledQuery {
        let type = try await preparedType(for: page, WorkTurn(of: .nobody))
        var compiler = QueryCompiler(page, type: type.schema, indexes: type.indexes)
        return compiler.compile()
    }

    /// The record type with everything that the query needs, or marked as unknown.
    private func preparedType(
        for page: QueryPageQuery, _ turn: WorkTurn
    ) async throws(StorageError) -> QueryType {
        let (query, database) = (page.query, page.database)
        let now = pool.loop.now
        if let type = types.type(query.recordType, in: database, now: now), type.covers(query),
            type.isPrepared(for: query)
        {
            return type
        }
        for _ in 0..<Self.roundsMax {
            let (fields, indexes) = try await readAll(
                sql.queries.type((database, query.recordType)), sql.queries.validIndexes(PhysicalIndex.namePrefix))
            guard let type = QueryType(fields.rows, indexes: Set(indexes.rows), name: query.recordType) else {
                throw StorageError(.containerUnknown)
            }
            guard type.isKnown else { return type }
            if type.isPrepared(for: query) {
                types.remember(type, in: database, now: now)
                return type
            }
            // whoever has no credential marks nothing, and has no index built.
            guard page.mayMark || type.isFrozen else { throw StorageError(.notMarked) }
            try await prepare(type, for: query, turn)
        }
        throw StorageError(.zoneBusy, detail: "the record type is being prepared for queries")
    }

    /// The page for a type that nobody saved, or for a missing zone. This rare case needs further reads.
    private func emptyPage(
        of page: QueryPageQuery, in container: ContainerID
    ) async throws(StorageError) -> StoreRead<QueryPageRead> {
        guard let store = try await read(sql.accounts.store()).first else { throw StorageError(.rejected) }
        let schema = SchemaStamp(container: container, version: store.schemaVersion)
        var read = StoreRead(QueryPageRead(isZoneFound: true, schema: schema), in: store.incarnation)
        guard let name = page.query.zoneName else { return read }
        let snapshot = try await records(
            named: [], in: ZoneKey(database: page.database, name: name), bytesMax: 0, sharing: page.sharing)
        read.sharing = snapshot.sharing
        read.isZoneFound = snapshot.zone != nil
        read.lastRemoval = snapshot.lastRemoval
        return read
    }
}

/// Reads the rows of a statement by `QueryCompiler`.
enum QueryRow {
    static func page(
        _ rows: PostgresRows, in container: ContainerID
    ) throws(PostgresError) -> StoreRead<QueryPageRead> {
        guard let head = rows.first else { throw PostgresError(.unexpectedResult, detail: "no store") }
        var read = QueryPageRead(
            isZoneFound: try head["is_zone_found"],
            schema: SchemaStamp(container: container, version: try head["schema_version"]))
        for row in rows {
            guard let isInPage: Bool = try row["is_in_page"] else { break }
            guard isInPage else {
                read.hasMore = true
                break
            }
            var record = try RecordRow.decode(row)
            if let rootShare: String = try row["root_share"] {
                record = record.covered(by: record.share, asRootOf: rootShare)
            }
            read.matches.append(
                QueryMatch(zone: try row["zone_id"], zoneName: try row["zone_name"], record: record))
        }
        return StoreRead(read, in: try head["incarnation"])
    }
}
