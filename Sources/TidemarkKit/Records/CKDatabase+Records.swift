// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

extension CKDatabase {
    /// Fetches one record.
    ///
    /// - Throws: the record's own error, `unknownItem` or `zoneNotFound`, or the reason why there is no
    ///   answer.
    @discardableResult
    public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        guard let result = try await cloud.records(for: [recordID], desiredKeys: nil)[recordID] else {
            throw CloudDatabase.wrongAnswer(to: .fetchRecords)
        }
        return try result.get()
    }

    /// Fetches records, each of the IDs once.
    ///
    /// - Parameters:
    ///   - ids: of records in one or more zones.
    ///   - desiredKeys: nil for all keys; an empty list for system fields alone.
    /// - Returns: one result for every ID.
    /// - Throws: errors for which the whole request fails.
    public func records(
        for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        try await cloud.records(for: ids, desiredKeys: desiredKeys).mapValues { $0.mapError { $0 } }
    }

    /// Saves one record if the server's copy has not changed (R-118, section 5 of the rules).
    ///
    /// - Returns: the saved record, with its new tag. `record` is updated too.
    /// - Throws: the record's own error, such as `serverRecordChanged`.
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await save(handedOver: record.handedOver)
    }

    func save(handedOver record: CloudDatabase.HandedOver) async throws -> CKRecord {
        let results = try await cloud.modifyRecords(
            handedOver: [record], deleting: [], policy: .ifServerRecordUnchanged, atomically: false)
        guard let result = results.saves[record.copy.recordID] else {
            throw CloudDatabase.wrongAnswer(to: .modifyRecords)
        }
        return try result.get()
    }

    /// Deletes one record, whatever its tag. Deleting one that does not exist succeeds.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        let results = try await cloud.modifyRecords(
            saving: [], deleting: [recordID], policy: .ifServerRecordUnchanged, atomically: false)
        try results.deletes[recordID]?.get()
        return recordID
    }

    /// Saves and deletes records. With `atomically`, the items of each zone succeed or fail together (R-150 … R-154).
    ///
    /// - Returns: one result for every item.
    /// - Throws: with `atomically`, `partialFailure` with every item's error if any failed. Otherwise only
    ///   errors for which the whole request fails, such as `limitExceeded`.
    public func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged, atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>], deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        try await modifyRecords(
            handedOver: recordsToSave.map(\.handedOver), deleting: recordIDsToDelete, savePolicy: savePolicy,
            atomically: atomically)
    }

    func modifyRecords(
        handedOver records: [CloudDatabase.HandedOver], deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>], deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        let results = try await cloud.modifyRecords(
            handedOver: records, deleting: recordIDsToDelete, policy: savePolicy, atomically: atomically)
        if atomically {
            var errors: [AnyHashable: any Error] = [:]
            for (id, result) in results.saves { if case .failure(let error) = result { errors[id] = error } }
            for (id, result) in results.deletes { if case .failure(let error) = result { errors[id] = error } }
            if !errors.isEmpty { throw CKError(partialErrors: errors) }
        }
        return (results.saves.mapValues { $0.mapError { $0 } }, results.deletes.mapValues { $0.mapError { $0 } })
    }
}
