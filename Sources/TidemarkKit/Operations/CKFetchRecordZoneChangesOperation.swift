// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Fetches the records that changed in some zones, one zone after another (R-208 … R-217).
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to fetch, in this order; nil for those that have a configuration.
    public final var recordZoneIDs: [CKRecordZone.ID]?
    /// Where to begin in each zone, and what to fetch; nil for everything, from the first change on.
    public final var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// Whether to continue in each zone until nothing more comes; default true.
    public final var fetchAllChanges = true

    /// A record that is new or changed, or why it could not be delivered.
    public final var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// A record that was deleted, and its type.
    public final var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// Called after each page of a zone but its last: everything up to this token has been delivered.
    /// The token of the last page comes with the zone's result.
    public final var recordZoneChangeTokensUpdatedBlock: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// The token at the end of a zone's fetch, or why it failed.
    public final var recordZoneFetchResultBlock:
        (
            (
                CKRecordZone.ID,
                Result<
                    (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool), any Error
                >
            ) -> Void
        )?
    /// The result of the operation: success whatever became of single zones. An error that concerns no
    /// single zone, such as that of the network or the account, ends the fetch at once. The remaining zones are not
    /// reported.
    public final var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?

    private var recordChanged: ((CKRecord) -> Void)?
    private var zoneCompletion: ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?

    /// A record that is new or changed.
    @available(*, deprecated, message: "Use recordWasChangedBlock")
    public final var recordChangedBlock: ((CKRecord) -> Void)? {
        get { recordChanged }
        set { recordChanged = newValue }
    }

    /// The token at the end of a zone's fetch, whether more is coming, and the error.
    @available(*, deprecated, message: "Use recordZoneFetchResultBlock")
    public final var recordZoneFetchCompletionBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    {
        get { zoneCompletion }
        set { zoneCompletion = newValue }
    }

    /// The error of the operation; `partialFailure` has the errors of the zones that failed.
    @available(*, deprecated, message: "Use fetchRecordZoneChangesResultBlock")
    public final var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without zones.
    public override init() {
        super.init()
    }

    /// An operation for these zones.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    override func perform() async {
        // as they are now, for all zones and pages.
        let (zoneIDs, fetchAllChanges) = (zoneIDs, fetchAllChanges)
        let configurations = (configurationsByRecordZoneID ?? [:]).mapValues(\.copied)
        var errors: [AnyHashable: any Error] = [:]
        var whole: CKError?
        for zoneID in zoneIDs where !isCancelled && whole == nil {
            guard let error = await fetch(zoneID, configurations[zoneID], fetchAllChanges) else { continue }
            if error.isAboutNoItem { whole = error } else { errors[zoneID] = error }
        }
        let outcome = whole.map { .failure(isCancelled ? CKError(.operationCancelled) : $0) } ?? outcome(of: errors)
        fetchRecordZoneChangesResultBlock?(outcome.ofWhole)
        switch outcome {
        case .success: completion?(nil)
        case .failure(let error): completion?(error)
        }
    }

    private var zoneIDs: [CKRecordZone.ID] {
        recordZoneIDs
            ?? (configurationsByRecordZoneID ?? [:]).keys.sorted {
                ($0.ownerName, $0.zoneName) < ($1.ownerName, $1.zoneName)
            }
    }

    /// - Returns: why the zone could not be fetched.
    private func fetch(
        _ zoneID: CKRecordZone.ID, _ configuration: ZoneConfiguration?, _ fetchAllChanges: Bool
    ) async -> CKError? {
        var token = configuration?.previousServerChangeToken
        while true {
            let answer = await withCloud { [token] cloud throws(CKError) in
                try await cloud.zoneChanges(
                    in: zoneID, since: token, desiredKeys: configuration?.desiredKeys,
                    limit: configuration?.resultsLimit ?? 0)
            }
            switch answer {
            case .failure(let error):
                recordZoneFetchResultBlock?(zoneID, .failure(error))
                zoneCompletion?(zoneID, nil, nil, false, error)
                return error
            case .success(let page):
                tell(page)
                token = page.token
                // A cancelled operation must not pass on the token of a page that it has not delivered completely
                //
                if isCancelled { continue }
                if page.moreComing && fetchAllChanges {
                    recordZoneChangeTokensUpdatedBlock?(zoneID, page.token, page.clientToken)
                    continue
                }
                recordZoneFetchResultBlock?(zoneID, .success((page.token, page.clientToken, page.moreComing)))
                zoneCompletion?(zoneID, page.token, page.clientToken, page.moreComing, nil)
                return nil
            }
        }
    }

    private func tell(_ page: CloudDatabase.FetchedZonePage) {
        for (id, result) in page.modifications where !isCancelled {
            recordWasChangedBlock?(id, result.erased)
            if case .success(let record) = result { recordChanged?(record) }
        }
        for deletion in page.deletions where !isCancelled {
            recordWithIDWasDeletedBlock?(deletion.recordID, deletion.recordType)
        }
    }
}
