// SPDX-License-Identifier: Apache-2.0

internal import Foundation

// The forms with completion handlers. The async forms of the same names say what they do and which errors they have.
extension CKDatabase {
    /// One page of zones that changed since a token.
    @preconcurrency
    public func fetchDatabaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modifications: [CKDatabase.DatabaseChange.Modification],
                        deletions: [CKDatabase.DatabaseChange.Deletion], changeToken: CKServerChangeToken,
                        moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        deliver(to: completionHandler) {
            try await self.databaseChanges(since: changeToken, resultsLimit: resultsLimit)
        }
    }

    /// One page of records that changed in a zone since a token.
    @preconcurrency
    public func fetchRecordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        modificationResultsByID: [CKRecord.ID: Result<
                            CKDatabase.RecordZoneChange.Modification, any Error
                        >],
                        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
                        moreComing: Bool
                    ), any Error
                >
            ) -> Void
    ) {
        deliver(to: completionHandler) {
            try await self.recordZoneChanges(
                inZoneWith: zoneID, since: changeToken, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
        }
    }
}
