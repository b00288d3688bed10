// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKDatabase {
    /// Where engines of this database live, unless their configuration says otherwise.
    package var syncEngineHost: SyncEngineHost {
        SyncEngineHost { _ in UnreachableCloud() }
    }
}

/// The cloud of a database that is connected to no server: an engine on it keeps what is pending, and waits.
private final class UnreachableCloud: SyncEngineCloud {
    private let error = CKError(.networkUnavailable)

    func setObserver(_ observer: any SyncEngineCloudObserver) {
        observer.cloudDidChangeConnectivity(isOnline: false)
    }

    func currentUser() async throws(CKError) -> CKRecord.ID? { throw error }

    func ensureSubscription(id: CKSubscription.ID?) async throws(CKError) -> CKSubscription.ID { throw error }

    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID]
    ) async throws(CKError) -> SyncEngineZoneResults { throw error }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool
    ) async throws(CKError) -> SyncEngineRecordResults { throw error }

    func databaseChanges(since token: CKServerChangeToken?) async throws(CKError) -> SyncEngineDatabasePage {
        throw error
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?
    ) async throws(CKError) -> SyncEngineZonePage { throw error }

    func close() {}
}
