// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTranslation

/// Reads the results of a query, page by page, with an operator's rights.
struct QueryReader: Sendable {
    private let service: CloudService
    private let place: RecordsPlace
    private let query: TidemarkDomain.Query
    private let limits: Limits
    /// Whether the query may be the first to need marks and indexes.
    private let mayMark: Bool

    /// Runs `work`. Afterwards the indexes exist that the query was the first to need, unless a viewer asks.
    static func with<Value: Sendable>(
        _ database: DatabaseArgument, _ encodedQuery: [UInt8], on console: Console,
        _ work: (QueryReader) async throws -> Value
    ) async throws -> Value {
        let limits = Limits.standard
        let service = CloudService(
            storage: console.storage, scheduler: console.loop, limits: limits, onMoved: { _ in })
        let (key, place) = (try console.container(), try await console.place(database))
        let reader = QueryReader(
            service: service, place: place, query: try await read(encodedQuery, of: key, at: place, service, limits),
            limits: limits, mayMark: console.role > .viewer)
        let value = try await work(reader)
        if key.environment == .development, reader.mayMark { try await console.store.buildMissingIndexes() }
        return value
    }

    private static func read(
        _ bytes: [UInt8], of container: ContainerKey, at place: RecordsPlace, _ service: CloudService, _ limits: Limits
    ) async throws -> TidemarkDomain.Query {
        var viewpoint = Viewpoint(
            access: place.access, userRecordName: place.user?.recordName ?? "", database: place.database,
            device: .nobody, store: StoreIncarnation(0))
        do throws(Refusal) {
            let search = try RecordsSearch(encodedQuery: bytes, by: viewpoint, limits: limits)
            if search.unknownUsers.isEmpty { return search.query }
            viewpoint.userNames = try await service.users(named: search.unknownUsers, in: container).mapError {
                Refusal($0)
            }
            .get()
            return try RecordsSearch(encodedQuery: bytes, by: viewpoint, limits: limits).query
        } catch {
            throw AdminFailure(.refused, error.description)
        }
    }

    /// Passes page after page to `take`.
    ///
    /// - Parameter limit: the most records; 0 for all.
    func read(limit: Int, _ take: ([QueryMatch]) async throws -> Void) async throws {
        var (cursor, left) = ([] as [UInt8], limit == 0 ? Int.max : limit)
        while left > 0 {
            let result = await service.queryRecords(
                query, in: place.database, of: place.container, by: place.access, cursor: cursor,
                recordsMax: min(left, limits.pageRecordsMax), mayMark: mayMark, for: WorkTurn(of: .nobody))
            let page: QueryPage
            switch result {
            case .success(let success): page = success
            case .failure(.notMarkedForNobody) where !mayMark: throw Self.notMarked
            case .failure(let refusal): throw AdminFailure(.refused, refusal.text)
            }
            try await take(page.matches)
            left -= page.matches.count
            guard let next = page.cursor else { return }
            cursor = next.bytes
        }
    }

    private static let notMarked = AdminFailure(
        .notAllowed,
        "A field of this query is not marked queryable, and a viewer's query changes nothing. Let an app or an editor ask "
            + "the same once, or mark the field: tidemark admin schema import")

    /// Lines of EXPLAIN for the first page.
    func explain(on console: Console) async throws -> [String] {
        // Afterwards everything exists that the query is the first to need.
        try await read(limit: 1) { _ in }
        if mayMark { try await console.store.buildMissingIndexes() }
        return try await console.storage.explain(
            QueryPageQuery(
                database: place.database, query: query, recordsMax: limits.pageRecordsDefault,
                bytesMax: limits.answerBytesMax, mayMark: mayMark))
    }
}
