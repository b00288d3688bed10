// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Saves and deletes records.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// What a save may overwrite.
    public enum RecordSavePolicy: Int, Sendable {
        /// Only the version that was fetched; otherwise `serverRecordChanged`.
        case ifServerRecordUnchanged = 0
        /// Writes the changed keys, whatever the server has. The saved record also has what others have saved.
        case changedKeys = 1
        /// Writes all keys that the record holds, whatever the server has. The saved record also has the keys that only
        /// the server had.
        case allKeys = 2
    }

    /// The records to save.
    public final var recordsToSave: [CKRecord]?
    /// The records to delete.
    public final var recordIDsToDelete: [CKRecord.ID]?
    /// What a save may overwrite; default `ifServerRecordUnchanged`.
    public final var savePolicy = RecordSavePolicy.ifServerRecordUnchanged
    /// Whether a zone's items succeed or fail together; default true.
    public final var isAtomic = true
    /// The app's own bytes, returned by later fetches of the zone.
    public final var clientChangeTokenData: Data?

    /// How much of a record has been sent, 0 to 1.
    public final var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
    /// The result of each record to save.
    public final var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// The result of each record to delete.
    public final var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
    /// The result of the operation: success if the server was asked, whatever became of single records. Their
    /// own blocks have told that.
    public final var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?

    private var recordCompletion: ((CKRecord, (any Error)?) -> Void)?
    private var completion: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

    /// The result of each record to save.
    @available(*, deprecated, message: "Use perRecordSaveBlock")
    public final var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)? {
        get { recordCompletion }
        set { recordCompletion = newValue }
    }

    /// The saved and deleted records, and the error of the operation; `partialFailure` has the errors of the items that
    /// failed.
    @available(*, deprecated, message: "Use modifyRecordsResultBlock")
    public final var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without records.
    public override init() {
        super.init()
    }

    /// An operation that saves and deletes these records.
    public convenience init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    /// Nil if nobody wants progress.
    func progress(of records: [CKRecord]) -> CloudDatabase.Progress? {
        guard perRecordProgressBlock != nil else { return nil }
        let byID = Dictionary(records.map { ($0.recordID, $0) }, uniquingKeysWith: { first, _ in first })
        return { [self] id, fraction in
            guard !isCancelled, let record = byID[id] else { return }
            perRecordProgressBlock?(record, fraction)
        }
    }

    override func perform() async {
        let (records, ids) = (recordsToSave ?? [], recordIDsToDelete ?? [])
        let progress = progress(of: records)
        let answer = await withCloud { cloud throws(CKError) in
            try await cloud.modifyRecords(
                saving: records, deleting: ids, policy: savePolicy, atomically: isAtomic,
                clientToken: clientChangeTokenData ?? Data(), progress: progress)
        }
        switch answer {
        case .failure(let error): end([], [], .failure(error))
        case .success(let results): tell(results, records, ids)
        }
    }

    private func tell(_ results: CloudDatabase.RecordResults, _ records: [CKRecord], _ ids: [CKRecord.ID]) {
        var errors: [AnyHashable: any Error] = [:]
        var saved: [CKRecord] = []
        for record in records where !isCancelled {
            guard let result = results.saves[record.recordID] else { continue }
            switch result {
            case .success(let record):
                saved.append(record)
                perRecordProgressBlock?(record, 1)
                recordCompletion?(record, nil)
            case .failure(let error):
                errors[record.recordID] = error
                recordCompletion?(record, error)
            }
            perRecordSaveBlock?(record.recordID, result.erased)
        }
        var deleted: [CKRecord.ID] = []
        for id in ids where !isCancelled {
            guard let result = results.deletes[id] else { continue }
            if case .failure(let error) = result { errors[id] = error } else { deleted.append(id) }
            perRecordDeleteBlock?(id, result.erased)
        }
        end(saved, deleted, outcome(of: errors))
    }

    private func end(_ saved: [CKRecord], _ deleted: [CKRecord.ID], _ outcome: Result<Void, any Error>) {
        modifyRecordsResultBlock?(outcome.ofWhole)
        switch outcome {
        case .success: completion?(saved, deleted, nil)
        case .failure(let error): completion?(saved, deleted, error)
        }
    }
}
