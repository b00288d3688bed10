// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Fetches records by ID.
public class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The records to fetch, each once.
    public final var recordIDs: [CKRecord.ID]?
    /// Nil for all keys, none for system fields alone.
    public final var desiredKeys: [CKRecord.FieldKey]?

    /// How much of a record has come, 0 to 1.
    @preconcurrency public final var perRecordProgressBlock: (@Sendable (CKRecord.ID, Double) -> Void)?
    /// Each record, or why it could not be fetched.
    @preconcurrency public final var perRecordResultBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// What became of the whole; `partialFailure` holds the errors of the records that failed.
    @preconcurrency public final var fetchRecordsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?

    private var recordCompletion: (@Sendable (CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    private var completion: (@Sendable ([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    private var fetchesCurrentUser = false

    /// Each record, or why it could not be fetched.
    @available(*, deprecated, message: "Use perRecordResultBlock")
    @preconcurrency public final var perRecordCompletionBlock:
        (@Sendable (CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    {
        get { recordCompletion }
        set { recordCompletion = newValue }
    }

    /// What was fetched, and the error of the whole.
    @available(*, deprecated, message: "Use fetchRecordsResultBlock")
    @preconcurrency public final var fetchRecordsCompletionBlock:
        (@Sendable ([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// With nothing to fetch yet.
    public override required init() {
        super.init()
    }

    /// With records to fetch.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Fetches the user record of whoever is signed in.
    public class func fetchCurrentUserRecordOperation() -> Self {
        let operation = Self()
        operation.fetchesCurrentUser = true
        return operation
    }

    override func perform() async {
        let answer = await withCloud { cloud throws(CKError) in
            var ids = recordIDs ?? []
            if fetchesCurrentUser { ids = [CKRecord.ID(recordName: try await cloud.identify())] }
            return (ids, try await cloud.records(for: ids, desiredKeys: desiredKeys, progress: perRecordProgressBlock))
        }
        switch answer {
        case .failure(let error): end([:], .failure(error))
        case .success((let ids, let results)): tell(results, ids)
        }
    }

    private func tell(_ results: [CKRecord.ID: Result<CKRecord, CKError>], _ ids: [CKRecord.ID]) {
        var errors: [AnyHashable: any Error] = [:]
        var records: [CKRecord.ID: CKRecord] = [:]
        var remaining = results
        for id in ids where !isCancelled {
            guard let result = remaining.removeValue(forKey: id) else { continue }
            switch result {
            case .success(let record):
                records[id] = record
                perRecordProgressBlock?(id, 1)
                recordCompletion?(record, id, nil)
            case .failure(let error):
                errors[id] = error
                recordCompletion?(nil, id, error)
            }
            perRecordResultBlock?(id, result.erased)
        }
        end(records, outcome(of: errors))
    }

    private func end(_ records: [CKRecord.ID: CKRecord], _ outcome: Result<Void, any Error>) {
        fetchRecordsResultBlock?(outcome)
        switch outcome {
        case .success: completion?(records, nil)
        case .failure(let error): completion?(records, error)
        }
    }
}
