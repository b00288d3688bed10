// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// One page of a query's results (R-173 … R-190).
    ///
    /// - Parameters:
    ///   - container: the database's container, whose schema says what queries may use.
    ///   - caller: the caller's access. Records that it may not read do not exist for it (I-5). The grants are those of
    ///     the schema that the query uses. In the shared database a query needs a zone.
    ///   - cursor: from the page before, with the same query; empty for the first page.
    ///   - recordsMax: the most records that the client wants; 0 leaves it to the server. A page is cut at
    ///     `Limits.answerBytesMax` too.
    ///   - mayMark: whether it may be the first query to need a mark. A query without a credential never may
    ///
    ///   - turn: the query's place, which it may give back for a while.
    package func queryRecords(
        _ query: Query, in database: DatabaseID, of container: ContainerID, by caller: RecordAccess, cursor: [UInt8],
        recordsMax: Int, mayMark: Bool = true, for turn: WorkTurn
    ) async -> Result<QueryPage, QueryRefusal> {
        var asked = AskedQuery(
            query: query, database: database, container: container, access: caller, cursor: cursor,
            recordsMax: recordsMax, mayMark: mayMark)
        switch await readAccess(to: query, in: database, by: caller) {
        case .success(let known): asked.access = known
        case .failure(let reason): return .failure(QueryRefusal(reason))
        }
        switch await answer(asked, for: turn) {
        case .success(let answer): return answer
        case .failure(.queryTooSlow):
            return .failure(QueryRefusal(.queryTooSlow, detail: FailureReason.queryTooSlow.text(within: limits)))
        case .failure(let reason): return .failure(QueryRefusal(reason))
        }
    }

    private func answer(_ asked: AskedQuery, for turn: WorkTurn) async -> Result<QueryAnswer, FailureReason> {
        await retry.run { () async throws(StorageError) -> Result<QueryAnswer, FailureReason> in
            do throws(StorageError) {
                // An attempt that failed may have given it back.
                try await turn.enter()
            } catch {
                return .success(.failure(.crowded(retryAfter: error.retryAfter)))
            }
            for _ in 0..<Self.schemaRoundsMax {
                if let answer = try await answerNow(asked, for: turn) { return .success(answer) }
            }
            throw StorageError(.unavailable, detail: "the schema does not come to rest")
        }
    }

    /// Checks the query by the schema that is known now, and reads the page.
    ///
    /// - Returns: nil if an operator has changed the schema: the query may no longer be allowed.
    private func answerNow(_ asked: AskedQuery, for turn: WorkTurn) async throws(StorageError) -> QueryAnswer? {
        let known = try await schemas.schema(of: asked.container, for: asked.query)
        let checked: CheckedQuery
        switch asked.checked(by: known, limits: limits) {
        case .success(let query): checked = query
        case .failure(let refusal): return .failure(refusal)
        }
        let read: StoreRead<QueryPageRead>
        do throws(StorageError) {
            read = try await storage.queryPage(checked.page, for: turn)
        } catch {
            switch error.code {
            case .notMarked: return .failure(.notMarkedForNobody)
            case .crowded: return .failure(.crowded(retryAfter: error.retryAfter))
            default: throw error
            }
        }
        if let opened = checked.cursor, opened.store != read.store { return .failure(QueryRefusal(.cursorInvalid)) }
        if let stamp = read.schema, stamp.version != known.schema.version {
            try await schemas.load(asked.container)
            return nil
        }
        return QueryPage.make(
            of: read.value, for: checked.page, by: checked.access, store: read.store, isTypeKnown: checked.isTypeKnown)
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

private typealias QueryAnswer = Result<QueryPage, QueryRefusal>

/// A query as its caller asks it.
private struct AskedQuery {
    let query: Query
    let database: DatabaseID
    let container: ContainerID
    /// Without the grants of a schema.
    var access: RecordAccess
    let cursor: [UInt8]
    let recordsMax: Int
    let mayMark: Bool

    /// The request to the store, or the first reason to refuse the query.
    func checked(by known: KnownSchema, limits: Limits) -> Result<CheckedQuery, QueryRefusal> {
        let schema = known.schema
        var access = access
        if access.scope == .public { access.grants = known.grants }
        let narrowed = access.narrowing(query)
        // I-5: for a caller who may not read the type, it behaves at each step like a type that was never saved.
        let type = narrowed.flatMap { schema.schema.queryType($0.recordType, in: access.scope) }
        let fields = type.map { QueryFields($0, isFrozen: schema.isFrozen) } ?? .unknown
        if let refusal = query.refusal(fields: fields, scope: access.scope, limits: limits) { return .failure(refusal) }
        let opened: QueryCursor?
        switch QueryCursor.opened(cursor, for: narrowed ?? query, in: database, viewer: access.viewer) {
        case .failure(let reason): return .failure(QueryRefusal(reason))
        case .success(let cursor): opened = cursor
        }
        guard let narrowed else { return .failure(QueryRefusal(.recordTypeUnknown, subject: query.recordType)) }
        var page = QueryPageQuery(
            database: database, query: narrowed, fields: fields, after: opened?.position,
            recordsMax: limits.pageCount(of: narrowed.recordType, requested: recordsMax),
            bytesMax: limits.answerBytesMax, mayMark: mayMark && access.user != nil, sharing: SharingRead(for: access))
        if access.seesHierarchies { page.hierarchies = access.share?.hierarchies }
        return .success(CheckedQuery(page: page, access: access, cursor: opened, isTypeKnown: type != nil))
    }
}

/// A query that the schema allows.
private struct CheckedQuery {
    let page: QueryPageQuery
    /// With the grants of the schema.
    let access: RecordAccess
    let cursor: QueryCursor?
    let isTypeKnown: Bool
}
