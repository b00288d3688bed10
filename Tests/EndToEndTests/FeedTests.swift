// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// Pages of changes, and what a save tells of each record, as apps see them.
@Suite struct FeedTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Feed")

    private func makeDatabase() async throws -> CKDatabase {
        try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
    }

    private func record(_ name: String, parent: CKRecord? = nil) -> CKRecord {
        let record = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record["a"] = "of \(name)"
        record["b"] = 2
        record.setParent(parent)
        return record
    }

    @Test func `R-212, R-214, R-215, R-227: pages as large as asked for, with the keys that were asked for`()
        async throws
    {
        let database = try await makeDatabase()
        _ = try await database.modifyRecords(
            saving: (0..<5).map { record("r\($0)") }, deleting: [], atomically: false)
        for (keys, expected) in [(nil, ["a", "b"]), ([], []), (["b"], ["b"]), (["b", "none"], ["b"])]
            as [([String]?, [String])]
        {
            var token: CKServerChangeToken?
            var names: [String] = []
            for page in 0..<3 {
                let asked = token
                func fetch() async throws -> ([CKRecord], CKServerChangeToken, Bool) {
                    let changes = try await database.recordZoneChanges(
                        inZoneWith: zoneID, since: asked, desiredKeys: keys, resultsLimit: 2)
                    let records = try changes.modificationResultsByID.values.map { try $0.get().record }
                    return (records, changes.changeToken, changes.moreComing)
                }
                let (records, next, moreComing) = try await fetch()
                // Who lost a page asks again with the token that they have, and misses nothing.
                #expect(Set(try await fetch().0.map(\.recordID)) == Set(records.map(\.recordID)))
                #expect(records.count == (page < 2 ? 2 : 1) && moreComing == (page < 2))
                #expect(records.allSatisfy { $0.allKeys().sorted() == expected })
                names += records.map(\.recordID.recordName)
                token = next
            }
            #expect(Set(names) == ["r0", "r1", "r2", "r3", "r4"])
            let last = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            #expect(last.modificationResultsByID.isEmpty && last.deletions.isEmpty && !last.moreComing)
        }
        let zones = try await database.databaseChanges(since: nil, resultsLimit: 1)
        #expect(zones.modifications.map(\.zoneID) == [zoneID])
    }

    @Test func `R-223: both feeds have what the asking device itself changed`() async throws {
        let database = try await makeDatabase()
        let zones = try await database.databaseChanges(since: nil)
        let records = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        try await database.save(record("mine"))
        let later = try await database.databaseChanges(since: zones.changeToken)
        #expect(later.modifications.map(\.zoneID) == [zoneID])
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: records.changeToken)
        #expect(changes.modificationResultsByID.keys.map(\.recordName) == ["mine"])
        try await database.deleteRecord(withID: record("mine").recordID)
        #expect(try await database.databaseChanges(since: later.changeToken).modifications.map(\.zoneID) == [zoneID])
    }

    @Test func `R-048: saving a child leaves its parent as it is`() async throws {
        let database = try await makeDatabase()
        let parent = try await database.save(record("parent"))
        let before = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        try await database.save(record("child", parent: parent))
        #expect(try await database.record(for: parent.recordID).recordChangeTag == parent.recordChangeTag)
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: before.changeToken)
        #expect(changes.modificationResultsByID.keys.map(\.recordName) == ["child"])
    }

    @Test func `R-154, R-171: a result for every record that was named, and a single one's own error`() async throws {
        let database = try await makeDatabase()
        try await database.save(record("taken"))
        let saves = ["taken", "new", "other"].map { record($0) }
        let deletes = ["gone", "never"].map { record($0).recordID }
        let results = try await database.modifyRecords(saving: saves, deleting: deletes, atomically: false)
        #expect(Set(results.saveResults.keys) == Set(saves.map(\.recordID)))
        #expect(Set(results.deleteResults.keys) == Set(deletes))
        let missing = record("never").recordID
        let fetched = try await database.records(for: saves.map(\.recordID) + [missing])
        #expect(Set(fetched.keys) == Set(saves.map(\.recordID) + [missing]))
        #expect(try await failure { try await database.record(for: missing) }.code == .unknownItem)
    }
}
