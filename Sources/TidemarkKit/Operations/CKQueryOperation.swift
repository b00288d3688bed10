// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Runs a query, or continues one: one page of its results (R-173 … R-189).
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    /// A limit that leaves the number to the server.
    public static let maximumResults = 0

    /// The query; ignored if there is a cursor.
    public final var query: CKQuery?
    /// Where to continue.
    public final var cursor: CKQueryOperation.Cursor?
    /// The zone to search; nil for all zones. A cursor has its own.
    public final var zoneID: CKRecordZone.ID?
    /// The most records; default `maximumResults`.
    public final var resultsLimit = CKQueryOperation.maximumResults
    /// Nil for all keys; an empty list for system fields alone.
    public final var desiredKeys: [CKRecord.FieldKey]?

    /// Each record in the query's order, or why it could not be delivered.
    public final var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Where to continue, nil if there is no more; or why the query failed.
    public final var queryResultBlock: ((Result<CKQueryOperation.Cursor?, any Error>) -> Void)?

    private var recordFetched: ((CKRecord) -> Void)?
    private var completion: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?

    /// Each record in the query's order.
    @available(*, deprecated, message: "Use recordMatchedBlock")
    public final var recordFetchedBlock: ((CKRecord) -> Void)? {
        get { recordFetched }
        set { recordFetched = newValue }
    }

    /// Where to continue, and the error of the operation.
    @available(*, deprecated, message: "Use queryResultBlock")
    public final var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without a query.
    public override init() {
        super.init()
    }

    /// Runs a query from its beginning.
    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    /// Continues where another operation ended.
    public convenience init(cursor: CKQueryOperation.Cursor) {
        self.init()
        self.cursor = cursor
    }

    override func perform() async {
        let answer = await withCloud { cloud throws(CKError) in
            if let cursor {
                return try await cloud.records(continuing: cursor, desiredKeys: desiredKeys, limit: resultsLimit)
            }
            guard let query else {
                throw CKError(.invalidArguments, message: "The operation has no query and no cursor. Set one of them.")
            }
            return try await cloud.records(matching: query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit)
        }
        switch answer {
        case .success(let page):
            for match in page.matches where !isCancelled {
                if case .success(let record) = match.result { recordFetched?(record) }
                recordMatchedBlock?(match.id, match.result.erased)
            }
            end(isCancelled ? .failure(CKError(.operationCancelled)) : .success(page.cursor))
        case .failure(let error): end(.failure(error))
        }
    }

    private func end(_ outcome: Result<CKQueryOperation.Cursor?, CKError>) {
        queryResultBlock?(outcome.erased)
        switch outcome {
        case .success(let cursor): completion?(cursor, nil)
        case .failure(let error): completion?(nil, error)
        }
    }
}
