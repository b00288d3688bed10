// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Fetches which records of some zones changed, one zone after another (R-208 … R-217).
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to fetch, in this order; nil: those that have a configuration.
    public final var recordZoneIDs: [CKRecordZone.ID]?
    /// Where to begin in each zone, and what of it; nil from the beginning, everything.
    public final var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// Whether to go on in each zone until nothing more comes; default true.
    public final var fetchAllChanges = true

    /// A record that is new or changed, or why it could not be delivered.
    public final var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// A record that was deleted, and its type.
    public final var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// After each page of a zone: what came before is complete up to this token.
    public final var recordZoneChangeTokensUpdatedBlock: ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Where the fetch of a zone ended, or why it failed.
    public final var recordZoneFetchResultBlock:
        (
            (
                CKRecordZone.ID,
                Result<
                    (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool), any Error
                >
            ) -> Void
        )?
    /// What became of the whole; `partialFailure` holds the errors of the zones that failed. What concerns no zone in
    /// particular, such as the network or the account, ends the fetch at once, with that error; further zones are not told of.
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

    /// Where the fetch of a zone ended, whether more is coming, and the error.
    @available(*, deprecated, message: "Use recordZoneFetchResultBlock")
    public final var recordZoneFetchCompletionBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    {
        get { zoneCompletion }
        set { zoneCompletion = newValue }
    }

    /// The error of the whole.
    @available(*, deprecated, message: "Use fetchRecordZoneChangesResultBlock")
    public final var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// With no zones yet.
    public override init() {
        super.init()
    }

    /// With zones to fetch.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    override func perform() async {
        var errors: [AnyHashable: any Error] = [:]
        var whole: CKError?
        for zoneID in zoneIDs where !isCancelled && whole == nil {
            guard let error = await fetch(zoneID) else { continue }
            if error.isAboutNoItem { whole = error } else { errors[zoneID] = error }
        }
        let outcome = whole.map { .failure(isCancelled ? CKError(.operationCancelled) : $0) } ?? outcome(of: errors)
        fetchRecordZoneChangesResultBlock?(outcome)
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
    private func fetch(_ zoneID: CKRecordZone.ID) async -> CKError? {
        let configuration = configurationsByRecordZoneID?[zoneID]
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
                tell(page, of: zoneID)
                token = page.token
                // A cancelled operation never hands out the token of a page that it did not tell all of.
                if isCancelled || (page.moreComing && fetchAllChanges) { continue }
                recordZoneFetchResultBlock?(zoneID, .success((page.token, page.clientToken, page.moreComing)))
                zoneCompletion?(zoneID, page.token, page.clientToken, page.moreComing, nil)
                return nil
            }
        }
    }

    private func tell(_ page: CloudDatabase.ZonePage, of zoneID: CKRecordZone.ID) {
        for (id, result) in page.modifications where !isCancelled {
            recordWasChangedBlock?(id, result.erased)
            if case .success(let record) = result { recordChanged?(record) }
        }
        for deletion in page.deletions where !isCancelled {
            recordWithIDWasDeletedBlock?(deletion.recordID, deletion.recordType)
        }
        guard !isCancelled else { return }
        recordZoneChangeTokensUpdatedBlock?(zoneID, page.token, page.clientToken)
    }
}
