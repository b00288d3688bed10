// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *Files of records*.
struct Photos: Sendable {
    let database: CKDatabase
    let zoneID = CKRecordZone.ID(zoneName: "Photos")

    func add(_ file: URL, named name: String, caption: String) async throws {
        try await database.save(CKRecordZone(zoneID: zoneID))
        let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record["file"] = CKAsset(fileURL: file)
        record["caption"] = caption
        try await database.save(record)
    }

    func fetch(_ name: String, to file: URL) async throws {
        let record = try await database.record(for: CKRecord.ID(recordName: name, zoneID: zoneID))
        guard let asset = record["file"] as? CKAsset else { return }
        try keep(asset, as: file)
    }

    func recordWithoutFile(_ name: String) async throws -> CKRecord? {
        let id = CKRecord.ID(recordName: name, zoneID: zoneID)
        return try await database.records(for: [id], desiredKeys: ["caption"])[id]?.get()
    }

    func removeFile(of name: String) async throws {
        guard let record = try await recordWithoutFile(name) else { return }
        record["file"] = nil
        try await database.save(record)
    }
}

func keep(_ asset: CKAsset, as file: URL) throws {
    guard let fetched = asset.fileURL else { return }
    let next = file.appendingPathExtension("new")
    try? FileManager.default.removeItem(at: next)
    try FileManager.default.moveItem(at: fetched, to: next)
    guard rename(next.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
}
