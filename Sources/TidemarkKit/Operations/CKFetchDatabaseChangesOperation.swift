// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Fetches the zones of a database that changed (R-203 … R-207).
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The token at the end of the last fetch; nil to begin with the first change.
    public final var previousServerChangeToken: CKServerChangeToken?
    /// The most zones of a page; 0 leaves it to the server.
    public final var resultsLimit = 0
    /// Whether to continue until nothing more comes; default true.
    public final var fetchAllChanges = true

    /// A zone that is new, or in which something changed.
    public final var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
    /// A zone that was deleted. Each deleted zone is reported by one of the three blocks.
    public final var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
    /// A zone that the user purged: its data was deleted.
    public final var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
    /// A zone whose encrypted data can no longer be read: send local data again.
    public final var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((CKRecordZone.ID) -> Void)?
    /// Called after each page: everything up to this token has been delivered.
    public final var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
    /// The token at the end of the fetch, or why it failed.
    public final var fetchDatabaseChangesResultBlock:
        ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?

    private var completion: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?

    /// The token at the end of the fetch, whether more is coming, and the error.
    @available(*, deprecated, message: "Use fetchDatabaseChangesResultBlock")
    public final var fetchDatabaseChangesCompletionBlock: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// A fetch that begins with the first change.
    public override init() {
        super.init()
    }

    /// A fetch that continues where the last one ended.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    override func perform() async {
        // as they are now, for all pages.
        let (resultsLimit, fetchAllChanges) = (resultsLimit, fetchAllChanges)
        var token = previousServerChangeToken
        while true {
            let answer = await withCloud { [token] cloud throws(CKError) in
                try await cloud.databaseChanges(since: token, limit: resultsLimit)
            }
            switch answer {
            case .failure(let error):
                fetchDatabaseChangesResultBlock?(.failure(error))
                completion?(nil, false, error)
                return
            case .success(let page):
                tell(page)
                token = page.token
                // A cancelled operation must not pass on the token of a page that it has not delivered completely
                //
                if isCancelled || (page.moreComing && fetchAllChanges) { continue }
                fetchDatabaseChangesResultBlock?(.success((page.token, page.moreComing)))
                completion?(page.token, page.moreComing, nil)
                return
            }
        }
    }

    /// deletions first, because a zone may have been created again.
    private func tell(_ page: SyncEngineDatabasePage) {
        for deletion in page.deletions where !isCancelled {
            switch deletion.reason {
            case .deleted: recordZoneWithIDWasDeletedBlock?(deletion.zoneID)
            case .purged: (recordZoneWithIDWasPurgedBlock ?? recordZoneWithIDWasDeletedBlock)?(deletion.zoneID)
            case .encryptedDataReset:
                (recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock ?? recordZoneWithIDWasDeletedBlock)?(
                    deletion.zoneID)
            }
        }
        for modification in page.modifications where !isCancelled {
            recordZoneWithIDChangedBlock?(modification.zoneID)
        }
        guard !isCancelled else { return }
        changeTokenUpdatedBlock?(page.token)
    }
}
