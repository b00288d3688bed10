// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// One page of a query's results (R-173 … R-190).
    ///
    /// - Parameters:
    ///   - access: by whose right: what may not be read is not there (I-5). In the shared database a query needs a
    ///     zone.
    ///   - cursor: from the page before, with the same query; empty for the first page.
    ///   - recordsMax: what the client asks for; 0 leaves it to the server. A page is cut at
    ///     `Limits.answerBytesMax` too.
    package func queryRecords(
        _ query: Query, in database: DatabaseID, by access: RecordAccess, cursor: [UInt8], recordsMax: Int
    ) async -> Result<QueryPage, QueryRefusal> {
        let fields = QueryFields.unknown
        if let refusal = query.refusal(fields: fields, scope: access.scope, limits: limits) {
            return .failure(refusal)
        }
        guard let query = access.narrowing(query) else {
            return .failure(QueryRefusal(.recordTypeUnknown, subject: query.recordType))
        }
        let result = await retry.run { () async throws(StorageError) -> Result<QueryResult, FailureReason> in
            let store = try await storage.incarnation()
            switch QueryCursor.position(in: query, of: database, from: cursor, store: store) {
            case .failure(let reason): return .failure(reason)
            case .success(let after):
                let page = QueryPageQuery(
                    database: database, query: query, fields: fields, after: after,
                    recordsMax: limits.pageCount(requested: recordsMax), bytesMax: limits.answerBytesMax)
                return .success(QueryPage.make(of: try await storage.queryPage(page), for: page, store: store))
            }
        }
        switch result {
        case .success(let page): return page
        case .failure(let reason): return .failure(QueryRefusal(reason))
        }
    }
}

private typealias QueryResult = Result<QueryPage, QueryRefusal>
