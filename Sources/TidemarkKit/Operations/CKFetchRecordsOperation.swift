// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Fetches records by ID.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The records to fetch, each once.
    public final var recordIDs: [CKRecord.ID]?
    /// Nil for all keys; an empty list for system fields alone.
    public final var desiredKeys: [CKRecord.FieldKey]?

    /// How much of a record has arrived, 0 to 1.
    public final var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
    /// Each record, or why it could not be fetched.
    public final var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// The result of the operation: success if the server was asked, whatever became of single records.
    public final var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?

    private var recordCompletion: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    private var completion: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    private var fetchesCurrentUser = false

    /// Each record, or why it could not be fetched.
    @available(*, deprecated, message: "Use perRecordResultBlock")
    public final var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    {
        get { recordCompletion }
        set { recordCompletion = newValue }
    }

    /// The fetched records, and the error of the operation; `partialFailure` has the errors of the records that failed.
    @available(*, deprecated, message: "Use fetchRecordsResultBlock")
    public final var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without records.
    public override init() {
        super.init()
    }

    /// An operation for these records.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Fetches the user record of the user who is signed in.
    ///
    /// The operation is of exactly this class, so that subclasses do not have to have its `init()`.
    public class func fetchCurrentUserRecordOperation() -> CKFetchRecordsOperation {
        let operation = CKFetchRecordsOperation()
        operation.fetchesCurrentUser = true
        return operation
    }

    /// Nil if nobody wants progress.
    var progress: CloudDatabase.Progress? {
        guard perRecordProgressBlock != nil else { return nil }
        return { [self] id, fraction in
            guard !isCancelled else { return }
            perRecordProgressBlock?(id, fraction)
        }
    }

    override func perform() async {
        let answer = await withCloud { cloud throws(CKError) in
            var ids = recordIDs ?? []
            if fetchesCurrentUser {
                let name = try await cloud.identify()
                guard !name.isEmpty else { throw CKError.noAccount }
                ids = [CKRecord.ID(recordName: name)]
            }
            return (ids, try await cloud.records(for: ids, desiredKeys: desiredKeys, progress: progress))
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
        fetchRecordsResultBlock?(outcome.ofWhole)
        switch outcome {
        case .success: completion?(records, nil)
        case .failure(let error): completion?(records, error)
        }
    }
}
