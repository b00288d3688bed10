// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Creates and deletes zones, each with its own result.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to create.
    public final var recordZonesToSave: [CKRecordZone]?
    /// The zones to delete.
    public final var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// The result of each zone to save.
    public final var perRecordZoneSaveBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// The result of each zone to delete.
    public final var perRecordZoneDeleteBlock: ((CKRecordZone.ID, Result<Void, any Error>) -> Void)?
    /// The result of the operation; `partialFailure` has the errors of the zones that failed.
    public final var modifyRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?

    private var completion: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

    /// The saved and deleted zones, and the error of the operation.
    @available(*, deprecated, message: "Use modifyRecordZonesResultBlock")
    public final var modifyRecordZonesCompletionBlock: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without zones.
    public override init() {
        super.init()
    }

    /// An operation that creates and deletes these zones.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    override func perform() async {
        let (zones, ids) = (recordZonesToSave ?? [], recordZoneIDsToDelete ?? [])
        let answer = await withCloud { cloud throws(CKError) in
            try await cloud.modifyZones(saving: zones, deleting: ids)
        }
        switch answer {
        case .failure(let error): end([], [], .failure(error))
        case .success(let results): tell(results, zones, ids)
        }
    }

    private func tell(_ results: SyncEngineZoneResults, _ zones: [CKRecordZone], _ ids: [CKRecordZone.ID]) {
        var errors: [AnyHashable: any Error] = [:]
        var saved: [CKRecordZone] = []
        for id in zones.map(\.zoneID) where !isCancelled {
            guard let result = results.saves[id] else { continue }
            switch result {
            case .success(let zone): saved.append(zone)
            case .failure(let error): errors[id] = error
            }
            perRecordZoneSaveBlock?(id, result.erased)
        }
        var deleted: [CKRecordZone.ID] = []
        for id in ids where !isCancelled {
            guard let result = results.deletes[id] else { continue }
            if case .failure(let error) = result { errors[id] = error } else { deleted.append(id) }
            perRecordZoneDeleteBlock?(id, result.erased)
        }
        end(saved, deleted, outcome(of: errors))
    }

    private func end(_ saved: [CKRecordZone], _ deleted: [CKRecordZone.ID], _ outcome: Result<Void, any Error>) {
        modifyRecordZonesResultBlock?(outcome)
        switch outcome {
        case .success: completion?(saved, deleted, nil)
        case .failure(let error): completion?(saved, deleted, error)
        }
    }
}
