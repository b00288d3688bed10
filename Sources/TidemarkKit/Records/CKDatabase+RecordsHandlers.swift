// SPDX-License-Identifier: Apache-2.0

internal import Foundation

// The forms with completion handlers. The async forms of the same names say what they do and which errors they have.
// Here what is saved is copied before the call returns, because its task begins later.
extension CKDatabase {
    /// Fetches one record.
    @preconcurrency
    public func fetch(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.record(for: recordID) }
    }

    /// Fetches records, each of the IDs once.
    @preconcurrency
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler: @escaping @Sendable (Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.records(for: recordIDs, desiredKeys: desiredKeys) }
    }

    /// Saves one record if the server's copy has not changed.
    @preconcurrency
    public func save(
        _ record: CKRecord, completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        let record = record.handedOver
        deliver(to: completionHandler) { try await self.save(handedOver: record) }
    }

    /// Deletes one record.
    @preconcurrency
    public func delete(
        withRecordID recordID: CKRecord.ID, completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.deleteRecord(withID: recordID) }
    }

    /// Saves and deletes records. With `atomically`, the items of each zone succeed or fail together.
    @preconcurrency
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, atomically: Bool = true,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
                        deleteResults: [CKRecord.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        let records = recordsToSave.map(\.handedOver)
        deliver(to: completionHandler) {
            try await self.modifyRecords(
                handedOver: records, deleting: recordIDsToDelete, savePolicy: savePolicy, atomically: atomically)
        }
    }
}
