// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *Sharing* about a part of a zone.
struct SharedFolders {
    let container: CKContainer

    func add(_ record: CKRecord, to folder: CKRecord.ID) async throws {
        record.setParent(folder)
        try await database(of: folder).save(record)
    }

    private func database(of folder: CKRecord.ID) -> CKDatabase {
        let isMine = folder.zoneID.ownerName == CKCurrentUserDefaultName
        return isMine ? container.privateCloudDatabase : container.sharedCloudDatabase
    }

    func share(_ folder: CKRecord.ID, _ permission: CKShare.ParticipantPermission) async throws -> URL? {
        let database = container.privateCloudDatabase
        let root = try await database.record(for: folder)
        var records = [root]
        if let shareID = root.share?.recordID {
            records = [try await database.record(for: shareID)]
        } else {
            records.append(CKShare(rootRecord: root))
        }
        let share = records.last as? CKShare
        share?.publicPermission = permission
        let results = try await database.modifyRecords(saving: records, deleting: []).saveResults
        if let share { _ = try results[share.recordID]?.get() }
        return share?.url
    }

    func join(_ url: URL) async throws -> CKRecord.ID? {
        let metadata = try await container.shareMetadata(for: url)
        try await container.accept(metadata)
        return metadata.hierarchicalRootRecordID
    }

    func stopSharing(_ folder: CKRecord.ID) async throws {
        let database = container.privateCloudDatabase
        guard let shareID = try await database.record(for: folder).share?.recordID else { return }
        try await database.deleteRecord(withID: shareID)
    }

    func leave(_ folder: CKRecord.ID) async throws {
        let database = container.sharedCloudDatabase
        guard let shareID = try await database.record(for: folder).share?.recordID else { return }
        try await database.deleteRecord(withID: shareID)
    }
}
