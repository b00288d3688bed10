// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *Encrypted values*.
struct Diary: Sendable {
    let container: CKContainer
    let zoneID = CKRecordZone.ID(zoneName: "Diary")

    func write(_ text: String, on day: String) async throws {
        let database = container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        let page = CKRecord(recordType: "Page", recordID: CKRecord.ID(recordName: day, zoneID: zoneID))
        page["day"] = day
        page.encryptedValues["text"] = text
        let results = try await database.modifyRecords(saving: [page], deleting: [], savePolicy: .allKeys)
        _ = try results.saveResults[page.recordID]?.get()
    }

    func text(on day: String) async throws -> String? {
        let id = CKRecord.ID(recordName: day, zoneID: zoneID)
        return try await container.privateCloudDatabase.record(for: id).encryptedValues["text"]
    }

    func recoveryKey() async throws -> String {
        try await container.exportRecoveryKey()
    }

    func enter(_ recoveryKey: String) async throws {
        try await container.importRecoveryKey(recoveryKey)
    }
}
