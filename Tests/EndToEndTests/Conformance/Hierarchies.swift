// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// Lists with their items, of which some are shared: what the scenarios of hierarchies begin with.
enum Hierarchies {
    static func id(_ name: String, _ zoneID: CKRecordZone.ID = Both.notes) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    /// A note that says its name, or another text.
    static func note(
        _ name: String, _ text: String? = nil, under parent: String? = nil, in zoneID: CKRecordZone.ID = Both.notes
    ) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id(name, zoneID))
        record["text"] = text ?? name
        if let parent { record.setParent(id(parent, zoneID)) }
        return record
    }

    /// The lists a and b, each with an item, and x, which is in none.
    static func make(of owner: any ConformingDevice) async throws {
        try await owner.database.save(CKRecordZone(zoneID: Both.notes))
        let records = [note("a"), note("a1", under: "a"), note("b"), note("b1", under: "b"), note("x")]
        for result in try await owner.database.modifyRecords(saving: records, deleting: []).saveResults.values {
            _ = try result.get()
        }
    }

    /// Shares a list with everybody who has the URL.
    static func share(
        _ name: String, of owner: any ConformingDevice, _ permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> URL {
        let root = try await owner.database.record(for: id(name))
        let share = CKShare(rootRecord: root, shareID: id("share-\(name)"))
        share.publicPermission = permission
        let results = try await owner.database.modifyRecords(
            saving: [root, share], deleting: [], savePolicy: .ifServerRecordUnchanged, atomically: true)
        for result in results.saveResults.values { _ = try result.get() }
        #expect(root.share?.recordID == share.recordID)
        return try #require(share.url)
    }

    /// What becomes of a root and a share that are saved as they are.
    static func told(_ root: CKRecord?, _ share: CKShare, by owner: any ConformingDevice) async throws -> String {
        let results = try await owner.database.modifyRecords(
            saving: (root.map { [$0] } ?? []) + [share], deleting: [], savePolicy: .ifServerRecordUnchanged,
            atomically: false)
        return Both.told(results.saveResults).joined(separator: ", ")
    }

    static func move(_ name: String, under parent: String?, of owner: any ConformingDevice) async throws {
        let record = try await owner.database.record(for: id(name))
        record.setParent(parent.map { id($0) })
        try await owner.database.save(record)
    }

    /// What a device has: `a=a a1=a1`, with shares by their names alone.
    static func told(_ app: Device) -> String {
        let names = app.recordNames.map { String($0.prefix { $0 != " " }) }.sorted()
        return names.map { name in app.texts[name].map { "\(name)=\($0)" } ?? name }.joined(separator: " ")
    }

    /// Fetches until there is nothing more, and tells what the device has then. If the set of a guest's shares has changed, the
    /// zone comes from its beginning, and the end of that tells what is gone.
    static func fetched(_ app: Device) async throws -> String {
        let count = app.events.count
        try await app.engine?.fetchChanges()
        for case .didFetchRecordZoneChanges(let end) in app.events.dropFirst(count) {
            guard let fullFetch = end.fullFetch else { continue }
            #expect(fullFetch.reason == .deletionsForgotten)
            app.forget(fullFetch)
        }
        // An app may keep what it has of a zone that ended. These say what is in the zone.
        let isEnded = app.heard.last { $0.hasPrefix("zones") }?.contains("deleted") ?? false
        return isEnded ? "" : told(app)
    }
}
