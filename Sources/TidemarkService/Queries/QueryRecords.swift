// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// One page of a query's results (R-173 … R-190).
    ///
    /// - Parameters:
    ///   - container: the database's container, whose schema says what queries may use.
    ///   - caller: the caller's access. What it may not read does not exist for it (I-5). The grants are those of the
    ///     schema that the query uses. In the shared database a query needs a zone.
    ///   - cursor: from the page before, with the same query; empty for the first page.
    ///   - recordsMax: the most records that the client wants; 0 leaves it to the server. A page is cut at
    ///     `Limits.answerBytesMax` too.
    ///   - turn: the query's place, which it may give back for a while.
    package func queryRecords(
        _ query: Query, in database: DatabaseID, of container: ContainerID, by caller: RecordAccess, cursor: [UInt8],
        recordsMax: Int, for turn: WorkTurn
    ) async -> Result<QueryPage, QueryRefusal> {
        let access: RecordAccess
        switch await readAccess(to: query, in: database, by: caller) {
        case .success(let known): access = known
        case .failure(let reason): return .failure(QueryRefusal(reason))
        }
        let result = await retry.run { () async throws(StorageError) -> Result<QueryResult, FailureReason> in
            do throws(StorageError) {
                // An attempt that failed may have given it back.
                try await turn.enter()
            } catch {
                return .success(.failure(.crowded(retryAfter: error.retryAfter)))
            }
            for _ in 0..<Self.schemaRoundsMax {
                let known = try await schemas.schema(of: container, for: query)
                let schema = known.schema
                var access = access
                if access.scope == .public { access.grants = known.grants }
                let narrowed = access.narrowing(query)
                // I-5: for a caller who may not read the type, it is one that was never saved, step by step.
                let type = narrowed.flatMap { schema.schema.queryType($0.recordType, in: access.scope) }
                let fields = type.map { QueryFields($0, isFrozen: schema.isFrozen) } ?? .unknown
                if let refusal = query.refusal(fields: fields, scope: access.scope, limits: limits) {
                    return .success(.failure(refusal))
                }
                let opened: QueryCursor?
                switch QueryCursor.opened(cursor, for: narrowed ?? query, in: database, viewer: access.viewer) {
                case .failure(let reason): return .failure(reason)
                case .success(let cursor): opened = cursor
                }
                guard let query = narrowed else {
                    return .success(.failure(QueryRefusal(.recordTypeUnknown, subject: query.recordType)))
                }
                let page = QueryPageQuery(
                    database: database, query: query, fields: fields, after: opened?.position,
                    recordsMax: limits.pageCount(of: query.recordType, requested: recordsMax),
                    bytesMax: limits.answerBytesMax, mayMark: access.user != nil, sharing: SharingRead(for: access))
                let read: StoreRead<QueryPageRead>
                do throws(StorageError) {
                    read = try await storage.queryPage(page, for: turn)
                } catch {
                    switch error.code {
                    case .notMarked: return .success(.failure(.notMarkedForNobody))
                    case .crowded: return .success(.failure(.crowded(retryAfter: error.retryAfter)))
                    default: throw error
                    }
                }
                if let opened, opened.store != read.store { return .failure(.cursorInvalid) }
                // An operator changed the schema: the query may no longer be allowed.
                if let stamp = read.schema, stamp.version != schema.version {
                    try await schemas.load(container)
                    continue
                }
                return .success(
                    QueryPage.make(
                        of: read.value, for: page, by: access, store: read.store, isTypeKnown: type != nil))
            }
            throw StorageError(.unavailable, detail: "the schema does not come to rest")
        }
        switch result {
        case .success(let page): return page
        case .failure(.queryTooSlow):
            return .failure(QueryRefusal(.queryTooSlow, detail: FailureReason.queryTooSlow.text(within: limits)))
        case .failure(let reason): return .failure(QueryRefusal(reason))
        }
    }

    /// In the shared database what the zone's shares allow now, read before a query may cost anything. Access is read again
    /// with the records (I-5).
    private func readAccess(
        to query: Query, in database: DatabaseID, by caller: RecordAccess
    ) async -> Result<RecordAccess, FailureReason> {
        // without a zone it is refused.
        guard caller.scope == .shared, let zoneName = query.zoneName else { return .success(caller) }
        return await access(to: ZoneKey(database: database, name: zoneName), by: caller)
    }

    private static var schemaRoundsMax: Int { 6 }
}

private typealias QueryResult = Result<QueryPage, QueryRefusal>
